"""Ollama's own wire: what it is asked, and what becomes of its lines."""

import base64
from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.agent.providers.catalogue.probe import probe
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig
from tenuto.agent.providers.connection.ndjson import JsonLines
from tenuto.agent.providers.connection.sse import LONGEST_EVENT, EventTooLong
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.core.options import Effort, Options
from tenuto.core.provider import ProviderKind
from tenuto.core.run import Reason, Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    CallPiece,
    CallStarted,
    FileBlock,
    Finished,
    Model,
    ModelRequest,
    ProviderError,
    ReasoningPiece,
    TextBlock,
    TextPiece,
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Trouble,
    UsagePiece,
    UserTurn,
)
from tests.providers.asking import REQUEST, begin, texts, thoughts, user
from tests.providers.made import PNG, ollama
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio

MODEL = Model(id="home/test-model", name="test-model", provider="home", context_window=9)
SEAL = Sealer("ollama", MODEL).seal({"field": "thinking"})
DONE = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
SET = ModelSetting(
    name="test-model", context_window=16_384, capabilities=("tools", "vision", "reasoning")
)
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


def said(**message: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False}


@pytest.mark.parametrize("tail", ["", "/v1", "/api", "/v1/"])
async def test_a_whole_conversation_is_sent_and_the_window_with_it(
    server: ModelServer, tail: str
) -> None:
    provider = ollama("home", server.url.removesuffix("/v1") + tail, "a-key", models=[SET])
    call = ToolCall(id=CallId("c1"), name="read_file", arguments='{"path":"a"}')
    image = FileBlock(name="a.png", media_type="image/png", content=PNG)
    request = ModelRequest(
        model="test-model",
        system="Be brief.",
        turns=(
            UserTurn(blocks=(TextBlock(text="Read a"), image)),
            AssistantTurn(blocks=(Thought(text="Hm.", seal=SEAL), call)),
            ToolTurn(call_id=CallId("c1"), name="read_file", output="content"),
        ),
        tools=(ToolSpec(name="read_file", description="Reads.", parameters=SCHEMA),),
        effort=Effort.LOW,
        options=Options(temperature=0.5, top_p=0.9, seed=3, stop=("END",), max_output_tokens=70),
    )
    hearing, exchange = await begin(provider, server, request)
    assert exchange.path == "/api/chat"
    assert exchange.headers["Authorization"] == "Bearer a-key"
    function = {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}
    called = {"name": "read_file", "arguments": {"path": "a"}}
    assert exchange.body == {
        "model": "test-model",
        "stream": True,
        "think": True,
        "options": {
            "num_ctx": 16_384,
            "num_predict": 70,
            "temperature": 0.5,
            "top_p": 0.9,
            "seed": 3,
            "stop": ["END"],
        },
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read a", "images": [base64.b64encode(PNG).decode()]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "Hm.",
                "tool_calls": [{"id": "c1", "function": called}],
            },
            {
                "role": "tool",
                "tool_name": "read_file",
                "tool_call_id": "c1",
                "content": "content",
            },
        ],
        "tools": [{"type": "function", "function": function}],
    }
    await exchange.line(DONE)
    await exchange.end()
    await hearing.all()
    await provider.close()


async def body(server: ModelServer, request: ModelRequest, *settings: ModelSetting) -> Any:
    provider = ollama("home", server.url, models=settings)
    hearing, exchange = await begin(provider, server, request)
    await exchange.line(DONE)
    await exchange.end()
    await hearing.all()
    await provider.close()
    return exchange.body


@pytest.mark.parametrize(
    ("name", "effort", "think"),
    [
        ("qwen3", Effort.NONE, False),
        ("qwen3", Effort.MAX, True),
        ("gpt-oss:20b", Effort.MEDIUM, "medium"),
        ("gpt-oss:20b", Effort.MAX, "high"),
        ("gpt-oss:20b", Effort.NONE, "low"),
    ],
)
async def test_thinking_is_switched_or_set(
    server: ModelServer, name: str, effort: Effort, think: bool | str
) -> None:
    able = ModelSetting(name=name, capabilities=("reasoning",))
    request = replace(REQUEST, model=name, effort=effort)
    assert (await body(server, request, able))["think"] == think


@pytest.mark.parametrize(
    ("wished", "told"),
    [
        ({"type": "json_object"}, "json"),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, SCHEMA),
    ],
)
async def test_the_form_of_the_answer_is_asked_for(
    server: ModelServer, wished: dict[str, Any], told: Any
) -> None:
    request = replace(REQUEST, options=Options(response_format=wished))
    assert (await body(server, request))["format"] == told


async def test_thoughts_of_an_answer_that_is_over_are_not_told_again(server: ModelServer) -> None:
    old = AssistantTurn(blocks=(Thought(text="Hm.", seal=SEAL), TextBlock(text="Yes")))
    asked = await body(server, replace(REQUEST, turns=(user("Hi"), old, user("And?"))), SET)
    assert "thinking" not in asked["messages"][1]


async def test_lines_become_thoughts_text_calls_and_counts(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.line(said(thinking="Let me "))
    await exchange.line(said(thinking="see."))
    await exchange.line(said(content="Hel"))
    await exchange.line(said(content="lo"))
    call = {"function": {"name": "look", "arguments": {"path": "a", "n": 1}}}
    await exchange.line(said(tool_calls=[call, {"id": "x2", "function": {"name": "todo"}}]))
    await exchange.line({**DONE, "prompt_eval_count": 26, "eval_count": 298})
    await exchange.end()
    pieces = await hearing.all()
    await provider.close()
    assert pieces == [
        ReasoningPiece(text="Let me ", seal=SEAL),
        ReasoningPiece(text="see."),
        TextPiece(text="Hel"),
        TextPiece(text="lo"),
        CallStarted(index=0, id=CallId(""), name="look"),
        CallPiece(index=0, text='{"path":"a","n":1}'),
        CallStarted(index=1, id=CallId("x2"), name="todo"),
        CallPiece(index=1, text="{}"),
        UsagePiece(usage=Usage(input_tokens=26, output_tokens=298)),
        Finished(reason="tool_calls"),
    ]


@pytest.mark.parametrize(
    ("done", "reason"), [("stop", "end_turn"), ("length", "max_tokens"), (None, "end_turn")]
)
async def test_it_says_why_it_stopped(server: ModelServer, done: str | None, reason: Any) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.line({**said(content="Hi"), "done": True, "done_reason": done})
    await exchange.end()
    assert (await hearing.all())[-1] == Finished(reason=reason)
    await provider.close()


async def test_lines_may_be_cut_anywhere(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    sent = b'{"message":{"content":"Gr\xc3\xbc\xc3\x9fe"}}\n\n{"message":{},"done":true}'
    for byte in sent:
        await exchange.raw(bytes([byte]))
    await exchange.end()
    assert texts(await hearing.all()) == "Grüße"
    await provider.close()


async def test_a_character_that_is_split_over_two_lines_is_joined(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.raw(b'{"message":{"thinking":"\xf0\x9f"}}\n')
    await exchange.raw(b'{"message":{"thinking":"\x98\x80"}}\n')
    await exchange.line(DONE)
    await exchange.end()
    assert thoughts(await hearing.all()) == "😀"
    await provider.close()


async def test_an_answer_in_one_piece_is_taken_too(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.answer({**said(content="Whole"), "done": True, "eval_count": 2})
    pieces = await hearing.all()
    await provider.close()
    assert texts(pieces) == "Whole"
    assert pieces[-1] == Finished(reason="end_turn")


async def test_an_error_in_the_middle_ends_the_answer_after_what_came(
    server: ModelServer,
) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.line(said(content="Half"))
    await exchange.line({"error": "an error was encountered while running the model"})
    await exchange.end()
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    await provider.close()
    assert "while running the model" in str(caught.value)
    assert texts(hearing.pieces) == "Half"


async def test_an_answer_that_breaks_off_is_an_error(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.line(said(content="Half"))
    await exchange.end()
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    await provider.close()
    assert caught.value.trouble is Trouble.BROKEN


async def test_a_model_that_was_not_pulled_is_told_as_such(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    hearing, exchange = await begin(provider, server)
    await exchange.answer({"error": 'model "nope" not found, try pulling it first'}, status=404)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    await provider.close()
    assert caught.value.reason is Reason.MODEL_NOT_FOUND


async def test_its_models_are_listed(server: ModelServer) -> None:
    provider = ollama("home", server.url)
    server.models = ["llama3.2:latest"]
    (model,) = await provider.models()
    await provider.close()
    assert (model.id, model.context_window) == ("home/llama3.2:latest", 32_768)


async def test_it_can_be_tried(server: ModelServer) -> None:
    config = ProviderConfig(name="home", kind=ProviderKind.OLLAMA, base_url=server.url)
    said = await probe(config)
    assert (said.ok, said.models) == (True, ("test-model",))


def test_a_line_without_end_is_refused() -> None:
    lines = JsonLines()
    with pytest.raises(EventTooLong):
        for _ in range(LONGEST_EVENT // 1000 + 1):
            lines.feed(b"x" * 1000)
