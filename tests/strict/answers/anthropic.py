"""An answer of the Anthropic messages wire."""

import json
from collections.abc import Iterator
from typing import Any

from tests.strict.answers.speech import Speech, pieces
from tests.strict.facts import Facts
from tests.strict.intent import Act, Intent, Make, Say, Think, Veiled
from tests.strict.notary import encrypt, sign
from tests.strict.refusal import Body, tokens_of

STOPS = {"length": "max_tokens", "refusal": "refusal"}


def anthropic(intent: Intent, body: Body, facts: Facts, cached: int = 0) -> Speech:
    asked = tokens_of(body["messages"], body.get("system"), body.get("tools"))
    usage = {"input_tokens": asked - cached, "output_tokens": 1}
    usage |= {"cache_read_input_tokens": cached, "cache_creation_input_tokens": 0}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage}
    events: list[Any] = [{"type": "message_start", "message": {**head, "model": facts.name}}]
    events.append({"type": "ping"})
    for n, act in enumerate(intent.acts):
        events += _block(n, act, facts)
    stop = STOPS.get(intent.stop) or ("tool_use" if intent.calls else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None}
    said = {"output_tokens": 5 + 7 * len(intent.acts)}
    events.append({"type": "message_delta", "delta": delta, "usage": said})
    events.append({"type": "message_stop"})
    return Speech(tuple(events), "named events")


def failure(kind: str = "overloaded_error") -> dict[str, Any]:
    """An error in the middle of an answer."""
    return {"type": "error", "error": {"type": kind, "message": "Overloaded"}}


def _block(index: int, act: Act, facts: Facts) -> Iterator[Any]:
    yield {"type": "content_block_start", "index": index, "content_block": _empty(act, facts)}
    for delta in _deltas(act, facts):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _empty(act: Act, facts: Facts) -> dict[str, Any]:
    match act:
        case Think():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Veiled():
            return {"type": "redacted_thinking", "data": encrypt(facts.name, text=act.text)}
        case Say():
            return {"type": "text", "text": ""}
        case Make():
            return {"type": "tool_use", "id": act.id, "name": act.name, "input": {}}


def _deltas(act: Act, facts: Facts) -> Iterator[dict[str, Any]]:
    match act:
        case Think():
            for piece in pieces(act.text):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": sign(facts.name, act.text)}
        case Say():
            for piece in pieces(act.text):
                yield {"type": "text_delta", "text": piece}
        case Make():
            # It is always JSON here, unless it was cut off.
            whole = act.arguments if _is_json(act.arguments) else act.arguments[:-1]
            for piece in pieces(whole):
                yield {"type": "input_json_delta", "partial_json": piece}
        case Veiled():
            return


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
