"""An answer of the OpenAI Responses wire."""

from collections.abc import Iterator
from itertools import count
from typing import Any
from zlib import crc32

from tests.strict.answers.speech import Speech, pieces
from tests.strict.facts import Facts
from tests.strict.intent import Act, Intent, Make, Say, Think, Veiled
from tests.strict.notary import encrypt
from tests.strict.refusal import Body, tokens_of

STOPS = {"length": "max_output_tokens", "refusal": "content_filter"}


def responses(intent: Intent, body: Body, facts: Facts, cached: int = 0) -> Speech:
    asked = tokens_of(body["input"], body.get("instructions"), body.get("tools"))
    usage: dict[str, Any] = {"input_tokens": asked, "output_tokens": 9, "total_tokens": asked + 9}
    usage |= {"input_tokens_details": {"cached_tokens": cached}}
    head: dict[str, Any] = {"id": "resp_1", "object": "response", "model": facts.name}
    events = [{"type": "response.created", "response": {**head, "status": "in_progress"}}]
    for n, act in enumerate(intent.acts):
        events += _item(n, act, facts)
    last: dict[str, Any] = {"status": "completed"}
    if why := STOPS.get(intent.stop):
        last = {"status": "incomplete", "incomplete_details": {"reason": why}}
    kind = f"response.{last['status']}"
    events.append({"type": kind, "response": {**head, **last, "usage": usage}})
    numbers = count()
    return Speech(tuple({**e, "sequence_number": next(numbers)} for e in events), "named events")


def failure(code: str = "server_error") -> dict[str, Any]:
    """An error in the middle of an answer."""
    error = {"code": code, "message": "The server had an error while processing your request."}
    return {"type": "response.failed", "response": {"id": "resp_1", "error": error}}


def _item(index: int, act: Act, facts: Facts) -> Iterator[dict[str, Any]]:
    empty, whole = _states(index, act, facts)
    place = {"output_index": index}
    yield {"type": "response.output_item.added", **place, "item": empty}
    for kind, text in _deltas(act):
        yield {"type": f"response.{kind}.delta", **place, "item_id": whole["id"], "delta": text}
    yield {"type": "response.output_item.done", **place, "item": whole}


def _deltas(act: Act) -> Iterator[tuple[str, str]]:
    match act:
        case Think():
            yield from (("reasoning_summary_text", piece) for piece in pieces(act.text))
        case Say():
            yield from (("output_text", piece) for piece in pieces(act.text))
        case Make():
            yield from (("function_call_arguments", piece) for piece in pieces(act.arguments))
        case Veiled():
            return


def _states(index: int, act: Act, facts: Facts) -> tuple[dict[str, Any], dict[str, Any]]:
    """The item as it begins, and as it is at the end."""
    number = f"{crc32(repr(act).encode()):08x}{index}"
    match act:
        case Think() | Veiled():
            item_id = f"rs_{number}"
            sealed = encrypt(facts.name, id=item_id)
            empty = {"type": "reasoning", "id": item_id, "summary": []}
            said = [{"type": "summary_text", "text": act.text}] if isinstance(act, Think) else []
            return empty, {**empty, "summary": said, "encrypted_content": sealed}
        case Say():
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": []}
            return item, {**item, "content": [{"type": "output_text", "text": act.text}]}
        case Make():
            call = {"type": "function_call", "id": f"fc_{number}", "call_id": act.id}
            call |= {"name": act.name, "arguments": ""}
            return call, {**call, "arguments": act.arguments}
