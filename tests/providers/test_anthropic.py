"""Answers on the Anthropic wire, held and released event by event."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tenuto.agent.providers.provider import HttpProvider
from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.core.message import Seal
from tenuto.core.run import Reason, Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    CallPiece,
    CallStarted,
    FileBlock,
    Finished,
    ModelRequest,
    ProviderError,
    ReasoningPiece,
    SealPiece,
    TextBlock,
    TextPiece,
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    UsagePiece,
    UserTurn,
)
from tests.providers.asking import begin, texts, user
from tests.providers.made import PNG, anthropic
from tests.support.model_server import Exchange, ModelServer

pytestmark = pytest.mark.anyio

SIGNED = Seal(wire="anthropic", model="anthropic/test-model", data='{"signature":"xyz"}')


@pytest.fixture(params=["with /v1", "without /v1"])
async def claude(
    request: pytest.FixtureRequest, server: ModelServer
) -> AsyncIterator[HttpProvider]:
    url = server.url if request.param == "with /v1" else server.url.removesuffix("/v1") + "/"
    provider = anthropic("anthropic", url, "a secret word")
    yield provider
    await provider.close()


async def start(exchange: Exchange, index: int, block: dict[str, Any]) -> None:
    event = {"type": "content_block_start", "index": index, "content_block": block}
    await exchange.event("content_block_start", event)


async def delta(exchange: Exchange, index: int, given: dict[str, Any]) -> None:
    event = {"type": "content_block_delta", "index": index, "delta": given}
    await exchange.event("content_block_delta", event)


async def stop(exchange: Exchange, reason: str, output: int) -> None:
    given = {"stop_reason": reason, "stop_sequence": None}
    usage = {"output_tokens": output}
    event = {"type": "message_delta", "delta": given, "usage": usage}
    await exchange.event("message_delta", event)
    await exchange.event("message_stop", {"type": "message_stop"})
    await exchange.end()


async def test_thinking_text_and_calls_stream(server: ModelServer, claude: HttpProvider) -> None:
    hearing, exchange = await begin(claude, server)
    assert exchange.path == "/v1/messages"
    assert exchange.headers["x-api-key"] == "a secret word"
    assert exchange.headers["anthropic-version"] == "2023-06-01"
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 1}
    await exchange.event("message_start", {"type": "message_start", "message": {"usage": usage}})
    await exchange.event("ping", {"type": "ping"})
    await start(exchange, 0, {"type": "thinking", "thinking": ""})
    await delta(exchange, 0, {"type": "thinking_delta", "thinking": "Hmm"})
    await hearing.until(ReasoningPiece(text="Hmm"))
    await delta(exchange, 0, {"type": "signature_delta", "signature": "xyz"})
    await start(exchange, 1, {"type": "text", "text": ""})
    await delta(exchange, 1, {"type": "text_delta", "text": "Let me see"})
    await hearing.until(TextPiece(text="Let me see"))
    await start(exchange, 2, {"type": "tool_use", "id": "t1", "name": "shell", "input": {}})
    await delta(exchange, 2, {"type": "input_json_delta", "partial_json": '{"command"'})
    await start(exchange, 3, {"type": "tool_use", "id": "t2", "name": "todo", "input": {}})
    await delta(exchange, 2, {"type": "input_json_delta", "partial_json": ':"ls"}'})
    await stop(exchange, "tool_use", 30)
    assert await hearing.all() == [
        UsagePiece(usage=Usage(input_tokens=15, output_tokens=1, cache_read_tokens=5)),
        ReasoningPiece(text="Hmm"),
        SealPiece(seal=SIGNED),
        TextPiece(text="Let me see"),
        CallStarted(index=0, id=CallId("t1"), name="shell"),
        CallPiece(index=0, text='{"command"'),
        CallStarted(index=1, id=CallId("t2"), name="todo"),
        CallPiece(index=0, text=':"ls"}'),
        UsagePiece(usage=Usage(input_tokens=15, output_tokens=30, cache_read_tokens=5)),
        Finished(reason="tool_calls"),
    ]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("refusal", "content_filter"),
    ],
)
async def test_the_reason_for_the_end_is_told(
    server: ModelServer, claude: HttpProvider, said: str, reason: str
) -> None:
    hearing, exchange = await begin(claude, server)
    await delta(exchange, 0, {"type": "text_delta", "text": "Hi"})
    await stop(exchange, said, 1)
    last = (await hearing.all())[-1]
    assert isinstance(last, Finished) and last.reason == reason


@pytest.mark.failure(61)
async def test_a_character_split_over_two_events_is_joined(
    server: ModelServer, claude: HttpProvider
) -> None:
    hearing, exchange = await begin(claude, server)
    head = rb'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":'
    await exchange.data(head + rb'"a\ud83d"}}')
    await exchange.data(head + rb'"\ude00b"}}')
    await stop(exchange, "end_turn", 1)
    assert texts(await hearing.all()) == "a😀b"


async def test_an_error_event_ends_the_answer_after_what_came(
    server: ModelServer, claude: HttpProvider
) -> None:
    hearing, exchange = await begin(claude, server)
    await delta(exchange, 0, {"type": "text_delta", "text": "Half"})
    error = {"type": "overloaded_error", "message": "Overloaded a secret word"}
    await exchange.event("error", {"type": "error", "error": error})
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    assert caught.value.retry_after == 0.5
    words = "anthropic is overloaded; try again later, or use another model: Overloaded ***"
    assert str(caught.value) == words
    assert texts(hearing.pieces) == "Half"


async def test_an_unknown_model_is_told_as_such(server: ModelServer, claude: HttpProvider) -> None:
    hearing, exchange = await begin(claude, server)
    error = {"type": "not_found_error", "message": "model: nope"}
    await exchange.answer({"type": "error", "error": error}, status=404)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    assert caught.value.reason is Reason.MODEL_NOT_FOUND


async def test_an_answer_that_breaks_off_is_an_error(
    server: ModelServer, claude: HttpProvider
) -> None:
    hearing, exchange = await begin(claude, server)
    await delta(exchange, 0, {"type": "text_delta", "text": "Half"})
    await exchange.end()
    with pytest.raises(ProviderError, match="before the answer was finished"):
        await hearing.all()
    assert texts(hearing.pieces) == "Half"


@pytest.mark.failure(33)
async def test_cancelling_closes_the_connection(server: ModelServer, claude: HttpProvider) -> None:
    hearing, exchange = await begin(claude, server)
    await delta(exchange, 0, {"type": "text_delta", "text": "Half"})
    await hearing.until(TextPiece(text="Half"))
    hearing.task.cancel()
    await exchange.closed(timeout=2)


async def test_user_and_assistant_take_turns_whatever_the_conversation(
    server: ModelServer, claude: HttpProvider
) -> None:
    calls = tuple(
        ToolCall(id=CallId(name), name="shell", arguments='{"a":1}') for name in ("c1", "c2")
    )
    image = FileBlock(name="a.png", media_type="image/png", content=PNG)
    request = ModelRequest(
        model="test-model",
        system="Be brief.",
        turns=(
            user("One"),
            user("Two"),
            AssistantTurn(blocks=(TextBlock(text="On it. \n"), *calls)),
            ToolTurn(call_id=CallId("c1"), name="shell", output="fine"),
            ToolTurn(call_id=CallId("c2"), name="shell", output="no", failed=True),
            UserTurn(blocks=(TextBlock(text="And this?"), image)),
        ),
        tools=(ToolSpec(name="shell", description="Runs.", parameters={"type": "object"}),),
    )
    hearing, exchange = await begin(claude, server, request)
    result = {"type": "tool_result"}
    png = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert exchange.body == {
        "model": "test-model",
        "max_tokens": 8192,
        "stream": True,
        "system": "Be brief.",
        "tools": [{"name": "shell", "description": "Runs.", "input_schema": {"type": "object"}}],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "On it."},
                    {"type": "tool_use", "id": "c1", "name": "shell", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "shell", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"tool_use_id": "c1", "content": "fine", "is_error": False, **result},
                    {"tool_use_id": "c2", "content": "no", "is_error": True, **result},
                    {"type": "text", "text": "And this?"},
                    {"type": "image", "source": png},
                ],
            },
        ],
    }
    await stop(exchange, "end_turn", 1)
    await hearing.all()


async def test_thoughts_are_given_back_as_they_came(
    server: ModelServer, claude: HttpProvider
) -> None:
    hidden = Seal(wire="anthropic", model="anthropic/test-model", data='{"redacted":"Eo"}')
    other = Seal(wire="anthropic", model="anthropic/another", data='{"signature":"abc"}')
    turn = AssistantTurn(
        blocks=(
            Thought(text="Hmm", seal=SIGNED),
            Thought(text="", seal=hidden),
            Thought(text="No seal"),
            Thought(text="Another's", seal=other),
            TextBlock(text="Yes."),
        )
    )
    request = ModelRequest(model="test-model", system="", turns=(user("Hi"), turn, user("So?")))
    hearing, exchange = await begin(claude, server, request)
    assert exchange.body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "Hmm", "signature": "xyz"},
        {"type": "redacted_thinking", "data": "Eo"},
        {"type": "text", "text": "Yes."},
    ]
    await start(exchange, 0, {"type": "redacted_thinking", "data": "Eo"})
    await start(exchange, 1, {"type": "text", "text": "Good."})
    await stop(exchange, "end_turn", 1)
    assert SealPiece(seal=hidden) in await hearing.all()


def test_a_thought_that_led_to_nothing_is_left_out() -> None:
    said = AssistantTurn(blocks=(TextBlock(text="Yes."), Thought(text="Hmm", seal=SIGNED)))
    request = ModelRequest(model="test-model", system="", turns=(user("Hi"), said, user("So?")))
    model = anthropic("anthropic", "http://house/v1").describer.model("test-model")
    body = AnthropicWire("").body(request, model)
    assert body["messages"][1]["content"] == [{"type": "text", "text": "Yes."}]


async def test_its_models_are_listed(server: ModelServer, claude: HttpProvider) -> None:
    server.models = [{"type": "model", "id": "claude-x", "display_name": "Claude X"}]
    models = await claude.models()
    assert [(m.id, m.context_window, m.capabilities) for m in models] == [
        ("anthropic/claude-x", 200000, ("tools", "vision", "documents", "reasoning"))
    ]
