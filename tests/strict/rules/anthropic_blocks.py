"""What the Anthropic messages wire refuses in the blocks of a message."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.strict.facts import Facts
from tests.strict.notary import decrypt, signed
from tests.strict.pictures import MEGABYTE, Picture, opened, seen
from tests.strict.refusal import Body
from tests.strict.rules.shape import KINDS

BLOCKS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "title", "context", "cache_control", "citations"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    # Thoughts are cached with what follows them; a mark of their own is refused.
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
SIDES = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
}
MOST_PIXELS, MANY_PIXELS = 8000, 2000
MANY, MOST_IMAGES = 20, 100
IMAGE_BYTES = 5 * MEGABYTE

Block = Mapping[str, Any]


def blocks_are_known(body: Body, _: Facts) -> str | None:
    for n, message in enumerate(body["messages"]):
        for m, block in enumerate(blocks_of(message)):
            kind, at = block.get("type"), f"messages.{n}.content.{m}"
            if kind not in SIDES[message["role"]]:
                return f"{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            odd = sorted(set(block) - BLOCKS[kind])
            if odd:
                return f"{at}.{kind}.{odd[0]}: Extra inputs are not permitted"
            inner = block.get("content") if kind == "tool_result" else None
            for one in inner if isinstance(inner, list) else ():
                if one.get("type") not in ("text", "image", "document"):
                    return f"{at}.{kind}.content: Input tag '{one.get('type')}' does not match any of the expected tags"
    return None


def nothing_is_empty(body: Body, _: Facts) -> str | None:
    for n, message in enumerate(body["messages"]):
        last = n == len(body["messages"]) - 1
        if not message["content"] and not (last and message["role"] == "assistant"):
            return f"messages.{n}: all messages must have non-empty content except for the optional final assistant message"
        texts = [b.get("text") for b in _with_inner(message) if b.get("type") == "text"]
        if "" in texts:
            return "messages: text content blocks must be non-empty"
        if any(not str(text).strip() for text in texts):
            return "messages: text content blocks must contain non-whitespace text"
    return None


def thoughts_are_its_own(body: Body, facts: Facts) -> str | None:
    # A block that was altered, or that another model made, has a signature that is not valid.
    for n, message in enumerate(body["messages"]):
        for m, block in enumerate(blocks_of(message)):
            if block["type"] == "thinking":
                if "signature" not in block:
                    return f"messages.{n}.content.{m}.thinking.signature: Field required"
                if not signed(facts.name, block["thinking"], block["signature"]):
                    return f"messages.{n}.content.{m}: Invalid `signature` in `thinking` block"
            if block["type"] == "redacted_thinking" and not decrypt(facts.name, block["data"]):
                return f"messages.{n}.content.{m}: Invalid `data` in `redacted_thinking` block"
    return None


def thoughts_lead_to_something(body: Body, _: Facts) -> str | None:
    for n, message in enumerate(body["messages"]):
        blocks = blocks_of(message)
        if blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            return f"messages.{n}: The final block in an assistant message cannot be `thinking`."
    return None


def thoughts_come_first_while_tools_are_used(body: Body, _: Facts) -> str | None:
    # With a budget, the turn whose results are given now must begin with what was thought.
    if (body.get("thinking") or {}).get("type") != "enabled":
        return None
    messages = body["messages"]
    results = blocks_of(messages[-1])
    if not results or any(block["type"] != "tool_result" for block in results):
        return None
    begin = max(
        (n + 1 for n, m in enumerate(messages[:-1]) if m["role"] == "user" and not _is_results(m)),
        default=0,
    )
    first = blocks_of(messages[begin])[0]["type"]
    if first in ("thinking", "redacted_thinking"):
        return None
    expected = f"Expected `thinking` or `redacted_thinking`, but found `{first}`."
    must = (
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    )
    return f"messages.{begin}.content.0.type: {expected} {must}"


def images_can_be_seen(body: Body, _: Facts) -> str | None:
    images = list(_images(body))
    if len(images) > MOST_IMAGES:
        return f"messages: too many images and documents: {len(images)} + 0 > {MOST_IMAGES}"
    limit = MANY_PIXELS if len(images) > MANY else MOST_PIXELS
    for at, source in images:
        if source.get("type") != "base64" or source.get("media_type") not in KINDS:
            given = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
            return f"{at}.source.base64.media_type: Input should be {given}"
        content = opened(source.get("data"))
        if content is None:
            return f"{at}.source.base64: invalid base64 data"
        size = len(source["data"])
        if size > IMAGE_BYTES:
            return f"{at}.source.base64: image exceeds 5 MB maximum: {size} bytes > {IMAGE_BYTES} bytes"
        if words := _picture_fault(seen(content), source["media_type"], limit):
            return f"{at}.source.base64.data: {words}"
    return None


def documents_can_be_read(body: Body, _: Facts) -> str | None:
    for message in body["messages"]:
        for block in blocks_of(message):
            if block["type"] != "document":
                continue
            source = block["source"]
            content = opened(source.get("data"))
            if source.get("media_type") != "application/pdf" or content is None:
                return "messages: Input should be 'application/pdf'"
            if not content.startswith(b"%PDF-"):
                return "messages: The PDF specified was not valid."
    return None


def blocks_of(message: Block) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _with_inner(message: Block) -> Iterator[Block]:
    for block in blocks_of(message):
        yield block
        if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
            yield from block["content"]


def _is_results(message: Block) -> bool:
    return any(block["type"] == "tool_result" for block in blocks_of(message))


def _images(body: Body) -> Iterator[tuple[str, Block]]:
    for n, message in enumerate(body["messages"]):
        for m, block in enumerate(_with_inner(message)):
            if block["type"] == "image":
                yield f"messages.{n}.content.{m}.image", block["source"]


def _picture_fault(picture: Picture, said: str, limit: int) -> str | None:
    if not picture.media_type:
        return "Could not process image"
    if picture.media_type != said:
        return f"Image does not match the provided media type {said}"
    if max(picture.width, picture.height) > limit:
        many = " for many-image requests" if limit == MANY_PIXELS else ""
        return f"At least one of the image dimensions exceed max allowed size{many}: {limit} pixels"
    return None


RULES = (
    blocks_are_known,
    nothing_is_empty,
    thoughts_are_its_own,
    thoughts_lead_to_something,
    thoughts_come_first_while_tools_are_used,
    images_can_be_seen,
    documents_can_be_read,
)
