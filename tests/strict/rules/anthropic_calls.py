"""What the Anthropic messages wire refuses of calls and their results."""

from itertools import pairwise
from typing import Any

from tests.strict.facts import Facts
from tests.strict.refusal import Body
from tests.strict.rules.anthropic_blocks import Block, blocks_of
from tests.strict.rules.shape import ID, NAME, twice


def calls_are_sound(body: Body, _: Facts) -> str | None:
    for n, message in enumerate(body["messages"]):
        for m, call in enumerate(_of(message, "tool_use")):
            at = f"messages.{n}.content.{m}.tool_use"
            if not ID.match(str(call.get("id", ""))):
                return f"{at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            if not NAME.match(str(call.get("name", ""))):
                return f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            if not isinstance(call.get("input"), dict):
                return f"{at}.input: Input should be a valid dictionary"
    return None


def call_ids_are_unique(body: Body, _: Facts) -> str | None:
    ids = [call["id"] for message in body["messages"] for call in _of(message, "tool_use")]
    return "messages: `tool_use` ids must be unique" if twice(ids) else None


def calls_have_results_at_once(body: Body, _: Facts) -> str | None:
    # Every call needs its result in the next message, before anything else in it.
    messages: list[Any] = _combined(body["messages"])
    for n, (message, following) in enumerate(pairwise([*messages, {"role": "", "content": []}])):
        wanted = [call["id"] for call in _of(message, "tool_use")]
        given = [result["tool_use_id"] for result in _leading(following)]
        missing = [call for call in wanted if call not in given]
        if missing:
            found = f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}."
            must = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            return f"messages.{n}: {found} {must}"
    return None


def results_have_calls(body: Body, _: Facts) -> str | None:
    messages: list[Any] = _combined(body["messages"])
    for n, (before, message) in enumerate(pairwise([{"role": "", "content": []}, *messages])):
        calls = [call["id"] for call in _of(before, "tool_use")]
        results = [result["tool_use_id"] for result in _of(message, "tool_result")]
        odd = [result for result in results if result not in calls]
        if odd:
            found = f"unexpected `tool_use_id` found in `tool_result` blocks: {odd[0]}."
            must = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            return f"messages.{n}.content.0: {found} {must}"
        if double := twice(results):
            return f"messages.{n}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {double}"
    return None


def failures_say_why(body: Body, _: Facts) -> str | None:
    for n, message in enumerate(body["messages"]):
        for m, result in enumerate(_of(message, "tool_result")):
            if result.get("is_error") and not result.get("content"):
                at = f"messages.{n}.content.{m}.tool_result"
                return f"{at}: content cannot be empty if `is_error` is true"
            inner = result["content"] if isinstance(result.get("content"), list) else []
            if result.get("is_error") and any(block["type"] != "text" for block in inner):
                at = f"messages.{n}.content.{m}.tool_result"
                return f"{at}: all content must be type `text` if `is_error` is true"
    return None


def calls_need_tools(body: Body, _: Facts) -> str | None:
    told = [b for m in body["messages"] for b in blocks_of(m)]
    if not body.get("tools") and any(b["type"] in ("tool_use", "tool_result") for b in told):
        return "Requests which include `tool_use` or `tool_result` blocks must define tools."
    return None


def _combined(messages: list[Block]) -> list[Block]:
    """Neighbours of one role are taken for one message."""
    made: list[Any] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"]:
            made[-1]["content"] += blocks_of(message)
        else:
            made.append({"role": message["role"], "content": blocks_of(message)})
    return made


def _of(message: Block, kind: str) -> list[Block]:
    return [block for block in blocks_of(message) if block["type"] == kind]


def _leading(message: Block) -> list[Block]:
    """The results that come before anything else."""
    found: list[Block] = []
    for block in blocks_of(message):
        if block["type"] != "tool_result":
            break
        found.append(block)
    return found


RULES = (
    calls_are_sound,
    call_ids_are_unique,
    calls_have_results_at_once,
    results_have_calls,
    failures_say_why,
    calls_need_tools,
)
