"""Text from outside, made whole: what the rest of the house holds can always be stored and sent."""

import re

# Python strings may hold half of a surrogate pair; UTF-8, JSON and every database refuse one.
_HALVES = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with every half of a character shown as U+FFFD, and two halves that fit as one."""
    if text.isascii():
        return text
    return _HALVES.sub(_joined, text)


def cut(text: str, limit: int) -> str:
    """The text made whole, at most this long; an ellipsis says that something is missing."""
    text = whole(text[: limit + 1])
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def capped(text: str, limit: int) -> str:
    """The text, or its beginning and how much of it is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n{left_out(len(text) - limit, limit)}"


def left_out(count: int, limit: int) -> str:
    return f"[{count:,} characters left out here: output is capped at {limit:,}]"


def _joined(halves: re.Match[str]) -> str:
    if halves[1] is None:
        return "\ufffd"
    return halves[0].encode("utf-16", "surrogatepass").decode("utf-16")
