"""What was used, as providers count it in one of their many ways."""

from typing import Any

from tenuto.agent.providers.connection.foreign import at, tokens
from tenuto.core.run import Usage
from tenuto.ports.model import UsagePiece

Places = tuple[tuple[str, ...], ...]

INPUT: Places = (("prompt_tokens",), ("input_tokens",), ("prompt_eval_count",))
OUTPUT: Places = (("completion_tokens",), ("output_tokens",), ("eval_count",))
THOUGHT: Places = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
)
READ: Places = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),
    ("cached_tokens",),
)
WRITTEN: Places = (
    ("prompt_tokens_details", "cache_write_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
)


def used(given: Any) -> UsagePiece | None:
    """None if it does not say what anybody could count. All input is input, cached or not."""
    asked, said = _first(given, INPUT), _first(given, OUTPUT)
    if asked is None and said is None:
        return None
    asked = asked or 0
    read = min(_first(given, READ) or 0, asked)
    usage = Usage(
        input_tokens=asked,
        output_tokens=said or 0,
        reasoning_tokens=_first(given, THOUGHT) or 0,
        cache_read_tokens=read,
        cache_write_tokens=min(_first(given, WRITTEN) or 0, asked - read),
    )
    return UsagePiece(usage=usage)


def _first(given: Any, places: Places) -> int | None:
    found = (tokens(at(given, *place)) for place in places)
    return next((count for count in found if count is not None), None)
