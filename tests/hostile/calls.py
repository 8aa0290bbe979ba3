"""Tool calls that are many, odd, alike or without a name."""

from typing import Any

from tests.hostile.shape import (
    CALLED,
    Shape,
    closing,
    nested,
    opening,
    stream,
    tool_block,
    tool_call,
)

ARGUMENTS = {
    "nothing": "",
    "no JSON": "{",
    "a list": "[]",
    "a number": "5",
    "null": "null",
    "half a character": '{"items":"\\ud83d"}',
    "a zero byte": '{"items":"\\u0000"}',
    "nested": nested(100_000).decode(),
    "nested a little": '{"items":' + nested(950).decode() + "}",
    "a huge number": '{"items":' + "9" * 400 + "}",
    "a number without end": '{"items":' + "9" * 5000 + "}",
    "two of one name": '{"items":1,"items":2}',
    "spaces": " " * 5000,
}
NAMES = (
    "",
    "\0",
    "no such tool",
    "x" * 400,
    "../../etc",
    "\ud83d",
    "todo\n",
    "ünï😀",
    "$.a",
    "shell",
)


def odd_calls() -> list[Shape]:
    return [*_arguments(), *_names(), *_openai(), *_anthropic()]


def _arguments() -> list[Shape]:
    shapes = []
    for what, text in ARGUMENTS.items():
        function = {"name": "todo", "arguments": text}
        start = stream(tool_call(function=function), CALLED, b"[DONE]")
        shapes.append(Shape(f"openai: arguments are {what}", "openai", start))
        partial = {"type": "input_json_delta", "partial_json": text}
        delta = {"type": "content_block_delta", "index": 1, "delta": partial}
        start = stream(*opening(), tool_block(), delta, *closing("tool_use"))
        shapes.append(Shape(f"anthropic: arguments are {what}", "anthropic", start))
    return shapes


def _names() -> list[Shape]:
    shapes = []
    for name in NAMES:
        function = {"name": name, "arguments": "{}"}
        start = stream(tool_call(function=function, id=name), CALLED, b"[DONE]")
        shapes.append(Shape(f"openai: a call of {name[:20]!r}", "openai", start))
        start = stream(*opening(), tool_block(name=name, id=name), *closing("tool_use"))
        shapes.append(Shape(f"anthropic: a call of {name[:20]!r}", "anthropic", start))
    return shapes


def _many(count: int, **fields: Any) -> Any:
    function = {"name": "todo", "arguments": "{}"}
    calls = [{"index": n, "id": f"c{n}", "function": function, **fields} for n in range(count)]
    return {"choices": [{"delta": {"tool_calls": calls}}]}


def _openai() -> list[Shape]:
    bare = [{"index": n} for n in range(5000)]
    given = {
        "15 calls": _many(15),
        "17 calls": _many(17),
        "10,000 calls": _many(10_000),
        "10,000 calls by id": _many(10_000, index=None),
        "10,000 calls without an id": _many(10_000, index=None, id=None),
        "10,000 pieces of a call": _many(10_000, index=0),
        "calls of one id": _many(5, id="same"),
        "calls of one index": _many(5, index=0),
        "calls with negative indices": _many(5, index=-1),
        "a call without a name": tool_call(function={"arguments": "{}"}),
        "a call without a function": tool_call(function=None),
        "calls that are nothing": {"choices": [{"delta": {"tool_calls": bare}}]},
        "a call of the old kind": {"choices": [{"delta": {"function_call": {"name": "todo"}}}]},
        "many choices": {"choices": [{"delta": {"content": "a"}}] * 20_000},
        "many blocks": {
            "choices": [{"delta": {"content": [{"type": "text", "text": "a"}] * 5000}}]
        },
    }
    return [
        Shape(f"openai: {name}", "openai", stream(data, CALLED, b"[DONE]"))
        for name, data in given.items()
    ]


def _anthropic() -> list[Shape]:
    given = {
        "15 calls": [{**tool_block(id=f"t{n}"), "index": n} for n in range(15)],
        "17 calls": [{**tool_block(id=f"t{n}"), "index": n} for n in range(17)],
        "5,000 calls": [{**tool_block(id=f"t{n}"), "index": n} for n in range(5000)],
        "5,000 calls of one index": [tool_block()] * 5000,
        "calls of one index": [tool_block()] * 5,
        "calls of one id": [{**tool_block(), "index": n} for n in range(5)],
    }
    return [
        Shape(f"anthropic: {name}", "anthropic", stream(*opening(), *data, *closing("tool_use")))
        for name, data in given.items()
    ]
