"""Every field of the wires that only one kind of server speaks, filled with what it should not be."""

import json
from typing import Any

from tests.hostile.shape import Shape, head, put, stream

LINES = b"Content-Type: application/x-ndjson\r\n"
RESPONSES_EVENTS: dict[str, Any] = {
    "text": {"type": "response.output_text.delta", "output_index": 0, "delta": "a"},
    "thought": {
        "type": "response.reasoning_summary_text.delta",
        "output_index": 1,
        "summary_index": 0,
        "delta": "b",
    },
    "sealed": {
        "type": "response.output_item.done",
        "output_index": 1,
        "item": {"type": "reasoning", "id": "r1", "encrypted_content": "x", "summary": []},
    },
    "call": {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {"type": "function_call", "call_id": "c1", "name": "todo", "arguments": ""},
    },
    "argument": {
        "type": "response.function_call_arguments.delta",
        "output_index": 2,
        "delta": "{}",
    },
    "finish": {
        "type": "response.completed",
        "response": {
            "status": "completed",
            "incomplete_details": {"reason": "x"},
            "usage": {
                "input_tokens": 1,
                "output_tokens": 1,
                "input_tokens_details": {"cached_tokens": 1},
                "output_tokens_details": {"reasoning_tokens": 1},
            },
        },
    },
}
RESPONSES_PLACES = (
    *("text type", "text output_index", "text delta"),
    *("thought summary_index", "thought delta"),
    *("sealed item", "sealed item.id", "sealed item.encrypted_content", "sealed item.summary"),
    *("call output_index", "call item", "call item.type", "call item.call_id", "call item.name"),
    *("argument output_index", "argument delta"),
    *("finish response", "finish response.status", "finish response.incomplete_details"),
    *("finish response.usage", "finish response.usage.input_tokens"),
    *("finish response.usage.output_tokens", "finish response.usage.input_tokens_details"),
    "finish response.usage.input_tokens_details.cached_tokens",
    "finish response.usage.output_tokens_details.reasoning_tokens",
)
OLLAMA_EVENTS: dict[str, Any] = {
    "thought": {"message": {"role": "assistant", "content": "", "thinking": "b"}, "done": False},
    "text": {"message": {"role": "assistant", "content": "a"}, "done": False},
    "call": {
        "message": {
            "content": "",
            "tool_calls": [{"id": "c1", "function": {"name": "todo", "arguments": {}}}],
        },
        "done": False,
    },
    "finish": {
        "message": {"content": ""},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 1,
        "eval_count": 1,
    },
}
OLLAMA_PLACES = (
    *("thought message", "thought message.thinking", "text message.content", "text done"),
    *("call message.tool_calls", "call message.tool_calls.0", "call message.tool_calls.0.id"),
    *("call message.tool_calls.0.function", "call message.tool_calls.0.function.name"),
    "call message.tool_calls.0.function.arguments",
    *("finish done", "finish done_reason", "finish prompt_eval_count", "finish eval_count"),
)


def lines(*data: Any) -> bytes:
    return head(headers=LINES) + b"".join(json.dumps(one).encode() + b"\n" for one in data)


def odd(events: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    """The events with this value in one place of one of them."""
    kind, place = where.split()
    return {**events, kind: put(events[kind], place, value)}


def own_fields(values: dict[str, Any]) -> list[Shape]:
    return [
        *(
            Shape(
                name=f"responses: {where} is {what}",
                wire="responses",
                start=stream(*odd(RESPONSES_EVENTS, where, value).values()),
            )
            for where in RESPONSES_PLACES
            for what, value in values.items()
        ),
        *(
            Shape(
                name=f"ollama: {where} is {what}",
                wire="ollama",
                start=lines(*odd(OLLAMA_EVENTS, where, value).values()),
            )
            for where in OLLAMA_PLACES
            for what, value in values.items()
        ),
    ]
