"""Every field that a provider can fill, filled with what it should not be."""

from typing import Any

from tests.hostile.own_fields import own_fields
from tests.hostile.shape import (
    Shape,
    answered,
    closing,
    opening,
    put,
    stream,
    text_block,
    tool_block,
)

VALUES: dict[str, Any] = {
    "nothing": None,
    "a bool": True,
    "a negative": -5,
    "too large": 2**63,
    "a float": 1e308,
    "half a character": "x\ud83d",
    "a zero byte": "a\0b",
    "a list": [[]],
    "an object": {"a": {"b": 1}},
}
LONG = "y" * 5000

OPENAI_EVENT: Any = {
    "choices": [
        {
            "delta": {
                "content": "a",
                "reasoning_content": "b",
                "reasoning_details": [{"text": "c"}],
                "refusal": "d",
                "tool_calls": [
                    {"index": 0, "id": "c1", "function": {"name": "todo", "arguments": "{}"}}
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 1,
        "completion_tokens_details": {"reasoning_tokens": 1},
        "prompt_tokens_details": {"cached_tokens": 1},
    },
}
OPENAI_PLACES = (
    "choices",
    "choices.0",
    "choices.0.delta",
    "choices.0.delta.content",
    "choices.0.delta.reasoning_content",
    "choices.0.delta.reasoning_details",
    "choices.0.delta.refusal",
    "choices.0.delta.tool_calls",
    "choices.0.delta.tool_calls.0",
    "choices.0.delta.tool_calls.0.index",
    "choices.0.delta.tool_calls.0.id",
    "choices.0.delta.tool_calls.0.function",
    "choices.0.delta.tool_calls.0.function.name",
    "choices.0.delta.tool_calls.0.function.arguments",
    "choices.0.finish_reason",
    "usage",
    "usage.prompt_tokens",
    "usage.completion_tokens",
    "usage.completion_tokens_details",
    "usage.completion_tokens_details.reasoning_tokens",
    "usage.prompt_tokens_details.cached_tokens",
)
ANTHROPIC_EVENTS: dict[str, Any] = {
    "start": opening()[0],
    "text": text_block("a", index=0),
    "call": tool_block(text="b", thinking="c"),
    "finish": closing("tool_use")[0],
}
ANTHROPIC_PLACES = (
    "start type",
    "start message",
    "start message.usage",
    "start message.usage.input_tokens",
    "start message.usage.output_tokens",
    "start message.usage.cache_read_input_tokens",
    "start message.usage.cache_creation_input_tokens",
    "text index",
    "text delta",
    "text delta.text",
    "text delta.thinking",
    "call content_block",
    "call content_block.type",
    "call content_block.id",
    "call content_block.name",
    "call content_block.input",
    "call content_block.text",
    "finish delta",
    "finish delta.stop_reason",
    "finish usage",
    "finish usage.output_tokens",
)


def fields() -> list[Shape]:
    return [*_openai(), *_anthropic(), *own_fields(VALUES), *_errors(), *_long()]


def _openai() -> list[Shape]:
    return [
        Shape(
            name=f"openai: {place} is {what}",
            wire="openai",
            start=answered("openai", put(OPENAI_EVENT, place, value)),
        )
        for place in OPENAI_PLACES
        for what, value in VALUES.items()
    ]


def _anthropic() -> list[Shape]:
    shapes = []
    for where in ANTHROPIC_PLACES:
        kind, place = where.split()
        for what, value in VALUES.items():
            events = {**ANTHROPIC_EVENTS, kind: put(ANTHROPIC_EVENTS[kind], place, value)}
            start = stream(*events.values(), {"type": "message_stop"})
            shapes.append(
                Shape(name=f"anthropic: {where} is {what}", wire="anthropic", start=start)
            )
    return shapes


def _errors() -> list[Shape]:
    """An error in the middle of an answer, with each of its fields made odd."""
    shapes = []
    for field in ("error", "error.message", "error.code", "error.type"):
        for what, value in VALUES.items():
            told = {"type": "error", "error": {"message": "no", "code": "x", "type": "y"}}
            odd = put(told, field, value)
            shapes += [
                Shape(f"{wire}: {field} is {what}", wire, answered(wire, odd))
                for wire in ("openai", "anthropic")
            ]
    return shapes


def _long() -> list[Shape]:
    return [
        Shape(
            f"openai: {place} is long", "openai", answered("openai", put(OPENAI_EVENT, place, LONG))
        )
        for place in OPENAI_PLACES
        if place.endswith((".id", ".name", "finish_reason"))
    ]
