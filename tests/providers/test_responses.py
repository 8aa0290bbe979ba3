"""Answers on the OpenAI Responses wire, held and released event by event."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.provider import HttpProvider
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
from tests.providers.asking import REQUEST, begin, texts, user
from tests.providers.made import PNG, responses
from tests.support.model_server import Exchange, ModelServer

pytestmark = pytest.mark.anyio

THINKER = ModelSetting(name="test-model", capabilities=("tools", "vision", "reasoning"))
USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 20},
}
USED = UsagePiece(
    usage=Usage(input_tokens=12, output_tokens=30, reasoning_tokens=20, cache_read_tokens=8)
)


@pytest.fixture
async def openai(server: ModelServer) -> AsyncIterator[HttpProvider]:
    provider = responses("openai", server.url, "a secret word", models=[THINKER])
    yield provider
    await provider.close()


async def event(exchange: Exchange, kind: str, **fields: Any) -> None:
    await exchange.event(kind, {"type": kind, "sequence_number": 0, **fields})


async def over(exchange: Exchange, **fields: Any) -> None:
    response = {"id": "resp_1", "status": "completed", "error": None, "usage": USAGE, **fields}
    kind = "response.completed" if response["status"] == "completed" else "response.incomplete"
    await event(exchange, kind, response=response)
    await exchange.end()


def call(call_id: str, name: str, arguments: str = "") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


async def test_thoughts_text_and_calls_stream(server: ModelServer, openai: HttpProvider) -> None:
    hearing, exchange = await begin(openai, server)
    assert exchange.path == "/v1/responses"
    assert exchange.headers["Authorization"] == "Bearer a secret word"
    await event(exchange, "response.created", response={"id": "resp_1", "status": "in_progress"})
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    await event(exchange, "response.output_item.added", output_index=0, item=thought)
    for part, words in enumerate(("Hmm", "So")):
        await event(
            exchange,
            "response.reasoning_summary_text.delta",
            output_index=0,
            summary_index=part,
            delta=words,
        )
    sealed = {**thought, "encrypted_content": "gAAA"}
    await event(exchange, "response.output_item.done", output_index=0, item=sealed)
    await hearing.until(ReasoningPiece(text="So"))
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    await event(exchange, "response.output_item.added", output_index=1, item=message)
    await event(exchange, "response.output_text.delta", output_index=1, delta="Let me see")
    await hearing.until(TextPiece(text="Let me see"))
    said = {**message, "content": [{"type": "output_text", "text": "Let me see"}]}
    await event(exchange, "response.output_item.done", output_index=1, item=said)
    arguments = "response.function_call_arguments"
    await event(exchange, "response.output_item.added", output_index=2, item=call("c1", "shell"))
    await event(exchange, "response.output_item.added", output_index=3, item=call("c2", "todo"))
    await event(exchange, f"{arguments}.delta", output_index=2, delta='{"command"')
    await event(exchange, f"{arguments}.delta", output_index=3, delta="{}")
    await event(exchange, f"{arguments}.delta", output_index=2, delta=':"ls"}')
    whole = call("c1", "shell", '{"command":"ls"}')
    await event(exchange, "response.output_item.done", output_index=2, item=whole)
    await over(exchange)
    seal = Seal(
        wire="responses",
        model="openai/test-model",
        data='{"id":"rs_1","encrypted_content":"gAAA"}',
    )
    assert await hearing.all() == [
        ReasoningPiece(text="Hmm"),
        ReasoningPiece(text="\n\n"),
        ReasoningPiece(text="So"),
        SealPiece(seal=seal),
        TextPiece(text="Let me see"),
        CallStarted(index=0, id=CallId("c1"), name="shell"),
        CallStarted(index=1, id=CallId("c2"), name="todo"),
        CallPiece(index=0, text='{"command"'),
        CallPiece(index=1, text="{}"),
        CallPiece(index=0, text=':"ls"}'),
        USED,
        Finished(reason="tool_calls"),
    ]


async def test_items_that_come_whole_are_told_once(
    server: ModelServer, openai: HttpProvider
) -> None:
    """A server may leave the deltas out, or the items' beginnings."""
    hearing, exchange = await begin(openai, server)
    said = {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}
    await event(exchange, "response.output_item.done", output_index=0, item=said)
    whole = call("c1", "shell", "{}")
    await event(exchange, "response.output_item.done", output_index=1, item=whole)
    await over(exchange)
    assert await hearing.all() == [
        TextPiece(text="Yes."),
        CallStarted(index=0, id=CallId("c1"), name="shell"),
        CallPiece(index=0, text="{}"),
        USED,
        Finished(reason="tool_calls"),
    ]


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("max_output_tokens", "max_tokens"),
        ("content_filter", "content_filter"),
        ("a new one", "max_tokens"),
    ],
)
async def test_each_way_of_being_cut_is_told(
    server: ModelServer, openai: HttpProvider, why: str, reason: str
) -> None:
    hearing, exchange = await begin(openai, server)
    await event(exchange, "response.output_text.delta", output_index=0, delta="Half")
    await over(exchange, status="incomplete", incomplete_details={"reason": why})
    assert (await hearing.all())[-1] == Finished(reason=reason)  # type: ignore[arg-type]


async def test_a_refusal_is_shown_as_text(server: ModelServer, openai: HttpProvider) -> None:
    hearing, exchange = await begin(openai, server)
    await event(exchange, "response.refusal.delta", output_index=0, delta="I cannot.")
    await over(exchange)
    assert texts(await hearing.all()) == "I cannot."


@pytest.mark.parametrize(
    ("kind", "fields", "seconds"),
    [
        ("response.failed", {"response": {"error": {"code": "server_error"}}}, 0.5),
        ("response.failed", {"response": {"error": {"code": "invalid_request"}}}, None),
        ("error", {"code": "rate_limit_exceeded", "message": "Slow down."}, 0.5),
    ],
)
async def test_an_error_in_the_answer_is_the_providers(
    server: ModelServer,
    openai: HttpProvider,
    kind: str,
    fields: dict[str, Any],
    seconds: float | None,
) -> None:
    hearing, exchange = await begin(openai, server)
    await event(exchange, "response.output_text.delta", output_index=0, delta="Half")
    await hearing.until(TextPiece(text="Half"))
    await event(exchange, kind, **fields)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    assert caught.value.reason is Reason.PROVIDER_ERROR
    assert caught.value.retry_after == seconds


async def test_an_answer_that_breaks_off_is_not_taken_for_finished(
    server: ModelServer, openai: HttpProvider
) -> None:
    hearing, exchange = await begin(openai, server)
    await event(exchange, "response.output_text.delta", output_index=0, delta="Half")
    await exchange.end()
    with pytest.raises(ProviderError, match="before the answer was finished"):
        await hearing.all()


CONVERSATION = [
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Read a"},
            {
                "type": "input_image",
                "image_url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}",
            },
        ],
    },
    {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "I should."}],
        "encrypted_content": "gAAA",
    },
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "On it."}],
    },
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "read_file",
        "arguments": '{"path":"a"}',
    },
    {"type": "function_call_output", "call_id": "c1", "output": "content"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Cut"}],
    },
    {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Thanks"}],
    },
]


async def test_a_whole_conversation_is_sent(server: ModelServer, openai: HttpProvider) -> None:
    ours = Seal(wire="responses", model="openai/test-model", data='{"encrypted_content":"gAAA"}')
    theirs = Seal(wire="anthropic", model="openai/test-model", data='{"signature":"xyz"}')
    image = FileBlock(name="a.png", media_type="image/png", content=PNG)
    request = ModelRequest(
        model="test-model",
        system="Be brief.",
        turns=(
            UserTurn(blocks=(TextBlock(text="Read a"), image)),
            AssistantTurn(
                blocks=(
                    Thought(text="I should.", seal=ours),
                    Thought(text="Should I?", seal=theirs),
                    TextBlock(text="On it."),
                    ToolCall(id=CallId("c1"), name="read_file", arguments='{"path":"a"}'),
                )
            ),
            ToolTurn(call_id=CallId("c1"), name="read_file", output="content"),
            AssistantTurn(blocks=(TextBlock(text="Cut"), Thought(text="And", seal=ours))),
            user("Thanks"),
        ),
        tools=(ToolSpec(name="read_file", description="Reads.", parameters={"type": "object"}),),
        max_tokens=99,
    )
    hearing, exchange = await begin(openai, server, request)
    assert exchange.body == {
        "model": "test-model",
        "instructions": "Be brief.",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 99,
        "input": CONVERSATION,
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": "Reads.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
    }
    await over(exchange)
    await hearing.all()


async def test_a_model_that_does_not_think_is_not_asked_for_its_thoughts(
    server: ModelServer,
) -> None:
    provider = responses("openai", server.url)
    hearing, exchange = await begin(provider, server, REQUEST)
    assert not {"reasoning", "include"} & exchange.body.keys()
    await over(exchange)
    await hearing.all()
    await provider.close()
