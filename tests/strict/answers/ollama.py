"""An answer of Ollama's own wire."""

import json
from collections.abc import Iterator
from typing import Any

from tests.strict.answers.speech import Speech, pieces
from tests.strict.facts import Facts
from tests.strict.intent import Act, Intent, Make, Say, Think, Veiled
from tests.strict.refusal import Body, tokens_of


def ollama(intent: Intent, body: Body, facts: Facts, _: int = 0) -> Speech:
    events = [_line(facts, said) for act in intent.acts for said in _said(act)]
    reason = "length" if intent.stop == "length" else "stop"
    counts = {"prompt_eval_count": tokens_of(body["messages"]), "eval_count": 9}
    end = {"done": True, "done_reason": reason, **counts}
    return Speech((*events, {**_line(facts, {"content": ""}), **end}), "lines")


def failure() -> dict[str, Any]:
    """An error in the middle of an answer."""
    return {"error": "model runner has unexpectedly stopped"}


def _said(act: Act) -> Iterator[dict[str, Any]]:
    match act:
        case Think() | Veiled():
            yield from ({"content": "", "thinking": piece} for piece in pieces(act.text))
        case Say():
            yield from ({"content": piece} for piece in pieces(act.text))
        case Make():
            function = {"name": act.name, "arguments": _read(act.arguments)}
            yield {"content": "", "tool_calls": [{"id": act.id, "function": function}]}


def _read(arguments: str) -> dict[str, Any]:
    """It reads what the model wrote before it tells it: what is no object never comes out."""
    try:
        read = json.loads(arguments)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _line(facts: Facts, message: dict[str, Any]) -> dict[str, Any]:
    head = {"model": facts.name, "created_at": "2026-01-01T00:00:00Z", "done": False}
    return {**head, "message": {"role": "assistant", **message}}
