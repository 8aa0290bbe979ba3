"""An answer of the chat-completions wire, as each of its servers gives it."""

from collections.abc import Iterator
from typing import Any

from tests.strict.answers.speech import Speech, pieces
from tests.strict.facts import Facts, Flavour
from tests.strict.intent import Intent, Make, Say, Think, Veiled
from tests.strict.notary import encrypt, sign
from tests.strict.refusal import Body, tokens_of

FIELDS: dict[Flavour, str] = {"deepseek": "reasoning_content", "kimi": "reasoning_content"}
"""Where each says its thoughts; openrouter has details beside them, the others keep them to themselves."""
STOPS = {"length": "length", "refusal": "content_filter"}


def chat(flavour: Flavour, intent: Intent, body: Body, facts: Facts, cached: int = 0) -> Speech:
    events = [_chunk({"role": "assistant", "content": ""}, facts)]
    events += [_chunk(delta, facts) for delta in _deltas(intent, facts, flavour)]
    stop = STOPS.get(intent.stop) or ("tool_calls" if intent.calls else "stop")
    events.append(_chunk({}, facts, stop=stop))
    if (body.get("stream_options") or {}).get("include_usage"):
        asked = tokens_of(body["messages"], body.get("tools"))
        usage: dict[str, Any] = {
            "prompt_tokens": asked,
            "completion_tokens": 9,
            "total_tokens": asked + 9,
        }
        usage |= {"prompt_tokens_details": {"cached_tokens": cached}}
        events.append({**_chunk({}, facts), "choices": [], "usage": usage})
    return Speech(tuple(events), "events", b"[DONE]")


def failure(code: int = 502) -> dict[str, Any]:
    """An error in the middle of an answer, as gateways send it."""
    error = {"code": code, "message": "Provider disconnected"}
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    return {"id": "gen-1", "error": error, "choices": [choice]}


def _deltas(intent: Intent, facts: Facts, flavour: Flavour) -> Iterator[dict[str, Any]]:
    calls = 0
    for n, act in enumerate(intent.acts):
        match act:
            case Think() | Veiled():
                yield from _thought(act, facts, flavour, n)
            case Say():
                yield from ({"content": piece} for piece in pieces(act.text))
            case Make():
                yield from _call(act, facts, flavour, calls)
                calls += 1


def _thought(
    act: Think | Veiled, facts: Facts, flavour: Flavour, n: int
) -> Iterator[dict[str, Any]]:
    if flavour in FIELDS:
        yield from ({FIELDS[flavour]: piece} for piece in pieces(act.text))
    elif flavour == "openrouter" and isinstance(act, Veiled):
        data = encrypt(facts.name, text=act.text)
        yield {"reasoning_details": [_detail("encrypted", n, data=data)]}
    elif flavour == "openrouter":
        for piece in pieces(act.text):
            yield {"reasoning": piece, "reasoning_details": [_detail("text", n, text=piece)]}
        signature = sign(facts.name, act.text)
        yield {"reasoning_details": [_detail("text", n, signature=signature)]}


def _detail(kind: str, n: int, **given: str) -> dict[str, Any]:
    return {"type": f"reasoning.{kind}", "format": "anthropic-claude-v1", "index": n, **given}


def _call(act: Make, facts: Facts, flavour: Flavour, index: int) -> Iterator[dict[str, Any]]:
    head: dict[str, Any] = {"index": index, "id": act.id, "type": "function"}
    if flavour == "gemini":
        # It signs the first call of a step, and says a call in one piece.
        text = f"{act.name} {act.arguments}"
        if index == 0:
            seal = {"google": {"thought_signature": sign(facts.name, text)}}
            head["extra_content"] = seal
        yield {"tool_calls": [head | {"function": {"name": act.name, "arguments": act.arguments}}]}
        return
    yield {"tool_calls": [head | {"function": {"name": act.name, "arguments": ""}}]}
    for piece in pieces(act.arguments):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chunk(delta: dict[str, Any], facts: Facts, *, stop: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": stop}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    return {**head, "model": facts.name, "choices": [choice]}
