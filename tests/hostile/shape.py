"""A shape: what a hostile provider sends instead of an answer, byte for byte."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

EVENTS = b"Content-Type: text/event-stream\r\n"
JSON = b"Content-Type: application/json\r\n"

SAID = {"choices": [{"delta": {"content": "Hi"}}]}
STOPPED = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
CALLED = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}


class Shape(NamedTuple):
    name: str
    wire: str
    """`openai`, `anthropic`, `responses` or `ollama`."""
    start: bytes
    """Sent as it is: head and body."""
    again: bytes = b""
    """Then this, over and over, until the other side has left."""
    pause: float = 0.0
    """Seconds between two of them."""
    held: bool = False
    """Whether the connection is then kept open until the other side leaves."""


def head(*, status: str = "200 OK", headers: bytes = EVENTS) -> bytes:
    return b"HTTP/1.1 " + status.encode("latin-1") + b"\r\n" + headers + b"\r\n"


def event(data: Any) -> bytes:
    """One event of either wire. Half characters stay halves, and no number is made sound."""
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return b"data: " + text + b"\n\n"


def stream(*data: Any) -> bytes:
    return head() + b"".join(map(event, data))


def answered(wire: str, *data: Any) -> bytes:
    """A stream with this in the middle of an answer that is sound before and after it."""
    if wire == "openai":
        return stream(SAID, *data, STOPPED, b"[DONE]")
    return stream(*opening(), text_block("Hi"), *data, *closing())


def opening() -> list[Any]:
    usage = {"input_tokens": 3, "output_tokens": 1}
    return [{"type": "message_start", "message": {"usage": usage}}]


def closing(reason: Any = "end_turn") -> list[Any]:
    usage = {"output_tokens": 5}
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def text_block(text: Any, *, index: Any = 0) -> Any:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def tool_call(**fields: Any) -> Any:
    """A call on the OpenAI wire; `function` is given whole."""
    function = {"name": "todo", "arguments": "{}"}
    call = {"index": 0, "id": "c1", "function": function, **fields}
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


def tool_block(**fields: Any) -> Any:
    """A call on the Anthropic wire."""
    block = {"type": "tool_use", "id": "t1", "name": "todo", "input": {}, **fields}
    return {"type": "content_block_start", "index": 1, "content_block": block}


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def put(data: Any, path: str, value: Any) -> Any:
    """A copy of the event with this value at a place such as `choices.0.delta`."""
    copy = json.loads(json.dumps(data))
    *way, last = path.split(".")
    place = copy
    for step in way:
        place = place[int(step) if step.isdigit() else step]
    place[int(last) if last.isdigit() else last] = value
    return copy


def on_both(
    name: str, of: Callable[[str], bytes], *, again: bytes = b"", held: bool = False
) -> list[Shape]:
    return [
        Shape(name=f"{wire}: {name}", wire=wire, start=of(wire), again=again, held=held)
        for wire in ("openai", "anthropic")
    ]
