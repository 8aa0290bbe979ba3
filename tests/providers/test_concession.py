"""What a model does not take is left out once it was refused, remembered, and said."""

import base64
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.omission import place_of, remove
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.message import Seal
from tenuto.core.options import Effort
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    ModelRequest,
    Notice,
    Piece,
    ProviderError,
    TextBlock,
    TextPiece,
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Trouble,
    UserTurn,
)
from tests.providers.asking import REQUEST, Hearing, begin, texts, user
from tests.providers.made import PNG, anthropic, chat
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio

TOOL = ToolSpec(name="look", description="Looks.", parameters={"type": "object"})
SEEING = ModelSetting(name="test-model", capabilities=("vision",))


def notices(pieces: Sequence[Piece]) -> list[str]:
    return [piece.text for piece in pieces if isinstance(piece, Notice)]


def unsupported(name: str) -> dict[str, Any]:
    words = f"Unsupported parameter: '{name}' is not supported with this model."
    return {"error": {"message": words, "param": name, "code": "unsupported_parameter"}}


async def test_a_field_that_is_refused_is_left_out_remembered_and_said(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, first = await begin(provider, server)
    assert "stream_options" in first.body
    await first.answer(unsupported("stream_options"), status=400)
    second = await server.next_request()
    assert "stream_options" not in second.body
    await second.say("Hello")
    pieces = await hearing.all()
    assert texts(pieces) == "Hello"
    assert notices(pieces) == ["The model does not take `stream_options`: it was left out."]

    hearing, third = await begin(provider, server)
    assert "stream_options" not in third.body
    await third.say("Again")
    assert notices(await hearing.all()) == []


async def test_another_model_of_the_provider_is_asked_in_full(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, first = await begin(provider, server)
    await first.answer(unsupported("stream_options"), status=400)
    await (await server.next_request()).say("Hello")
    await hearing.all()
    _, other = await begin(provider, server, replace(REQUEST, model="other"))
    assert "stream_options" in other.body
    await other.drop()


async def test_a_limit_goes_by_its_other_name_and_then_without(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, first = await begin(provider, server, replace(REQUEST, max_tokens=77))
    assert first.body["max_tokens"] == 77
    await first.answer(unsupported("max_tokens"), status=400)
    second = await server.next_request()
    assert second.body["max_completion_tokens"] == 77 and "max_tokens" not in second.body
    await second.answer(unsupported("max_completion_tokens"), status=400)
    third = await server.next_request()
    assert "max_completion_tokens" not in third.body and "max_tokens" not in third.body
    await third.say("Hello")
    assert notices(await hearing.all()) == [
        "The model does not take `max_tokens`: it was called `max_completion_tokens` instead.",
        "The model does not take `max_completion_tokens`: it was left out.",
    ]


async def test_a_limit_that_the_wire_demands_becomes_one_that_all_take(
    server: ModelServer,
) -> None:
    provider = anthropic("anthropic", server.url)
    hearing, first = await begin(provider, server, replace(REQUEST, max_tokens=100_000))
    words = "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"
    await first.fail(400, words)
    second = await server.next_request()
    assert second.body["max_tokens"] == 4096
    await second.fail(400, words)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    await provider.close()
    assert caught.value.trouble is Trouble.PARAMETER


async def test_what_is_refused_again_without_the_field_is_an_error(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, first = await begin(provider, server)
    await first.answer(unsupported("stream_options"), status=400)
    await (await server.next_request()).answer(unsupported("stream_options"), status=400)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    assert caught.value.parameter == "stream_options"


async def test_nothing_is_asked_again_once_something_was_said(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.text("Half")
    await hearing.until(TextPiece(text="Half"))
    await exchange.chunk(unsupported("stream_options"))
    with pytest.raises(ProviderError):
        await hearing.all()
    assert len(server.exchanges) == 1


async def test_an_effort_that_is_refused_does_not_take_the_others_with_it(
    server: ModelServer,
) -> None:
    thinking = ModelSetting(name="test-model", capabilities=("reasoning",))
    provider = chat("house", server.url, models=[thinking])
    hearing, first = await begin(provider, server, replace(REQUEST, effort=Effort.HIGH))
    assert first.body["reasoning_effort"] == "high"
    await first.fail(400, "Unsupported value: 'reasoning_effort' does not support 'high'")
    second = await server.next_request()
    assert "reasoning_effort" not in second.body
    await second.say("Hello")
    await hearing.all()
    _, third = await begin(provider, server, replace(REQUEST, effort=Effort.LOW))
    assert third.body["reasoning_effort"] == "low"
    _, fourth = await begin(provider, server, replace(REQUEST, effort=Effort.HIGH))
    assert "reasoning_effort" not in fourth.body
    await provider.close()


@pytest.mark.parametrize(
    ("name", "left"),
    [
        (
            "thinking.adaptive.display",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
        ),
        ("thinking.type.adaptive", {"output_config": {"effort": "low"}}),
        ("effort", {"thinking": {"type": "adaptive", "display": "summarized"}}),
    ],
)
def test_only_the_field_that_was_named_is_left_out(name: str, left: dict[str, Any]) -> None:
    body: dict[str, Any] = {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
    }
    place = place_of(body, name)
    assert place is not None
    remove(body, place)
    assert body == left


async def test_a_model_without_tools_is_told_in_words_what_was_called(
    server: ModelServer, provider: HttpProvider
) -> None:
    call = ToolCall(id=CallId("c1"), name="look", arguments="{}")
    turns = (
        user("Look"),
        AssistantTurn(blocks=(call,)),
        ToolTurn(call_id=CallId("c1"), name="look", output="a cat"),
    )
    request = ModelRequest(model="test-model", system="", turns=turns, tools=(TOOL,))
    hearing, first = await begin(provider, server, request)
    await first.fail(400, "registry.ollama.ai/library/m does not support tools")
    second = await server.next_request()
    assert "tools" not in second.body
    assert [m["role"] for m in second.messages] == ["user", "assistant", "user"]
    assert "a cat" in second.messages[2]["content"]
    await second.say("A cat")
    assert notices(await hearing.all()) == ["The model cannot use tools: it answers without them."]


def shown(*images: bytes) -> ModelRequest:
    files = (FileBlock(name="cat.png", media_type="image/png", content=c) for c in images)
    turn = UserTurn(blocks=(TextBlock(text="What is it?"), *files))
    return ModelRequest(model="test-model", system="", turns=(turn,))


async def test_a_model_that_does_not_see_after_all_gets_a_note_for_every_image(
    server: ModelServer,
) -> None:
    provider = chat("house", server.url, models=[SEEING])
    hearing, first = await begin(provider, server, shown(PNG))
    await first.fail(404, "No endpoints found that support image input")
    second = await server.next_request()
    note = "[The file cat.png was left out: this model does not take it.]"
    assert second.messages[0]["content"] == f"What is it?\n\n{note}"
    await second.say("I cannot see it")
    assert notices(await hearing.all()) == ["The model takes no such files: they were left out."]
    hearing, third = await begin(provider, server, shown(PNG + b"another"))
    assert isinstance(third.messages[0]["content"], str)
    await third.say("I cannot see it")
    await hearing.all()
    await provider.close()


async def test_an_image_that_is_refused_does_not_blind_the_model_to_others(
    server: ModelServer,
) -> None:
    provider = chat("house", server.url, models=[SEEING])
    hearing, first = await begin(provider, server, shown(PNG))
    await first.fail(400, "Could not process image")
    await (await server.next_request()).say("What image?")
    assert notices(await hearing.all()) == [
        "The provider refused an attached file: it was left out."
    ]
    hearing, third = await begin(provider, server, shown(PNG, PNG + b"another"))
    kinds = [block["type"] for block in third.messages[0]["content"]]
    assert kinds == ["text", "text", "image_url"]
    data = base64.b64encode(PNG + b"another").decode()
    assert third.messages[0]["content"][2]["image_url"]["url"].endswith(data)
    await third.say("A dog")
    await hearing.all()
    await provider.close()


async def test_thoughts_whose_seal_is_refused_are_left_out(server: ModelServer) -> None:
    provider = anthropic("anthropic", server.url)
    seal = Seal(wire="anthropic", model="anthropic/test-model", data='{"signature":"s"}')
    thought = Thought(text="Hm.", seal=seal)
    turns = (user("Hi"), AssistantTurn(blocks=(thought, TextBlock(text="Ho"))), user("And?"))
    request = ModelRequest(model="test-model", system="", turns=turns)
    hearing, first = await begin(provider, server, request)
    assert first.messages[1]["content"][0]["type"] == "thinking"
    await first.fail(400, "messages.1.content.0: Invalid `signature` in `thinking` block")
    second = await server.next_request()
    assert [block["type"] for block in second.messages[1]["content"]] == ["text"]
    await second.answer({"content": [{"type": "text", "text": "Yes"}], "stop_reason": "end_turn"})
    pieces = await hearing.all()
    await provider.close()
    assert texts(pieces) == "Yes"
    assert notices(pieces) == [
        "The provider refused earlier thoughts of the model: they were left out."
    ]


async def test_closing_the_answer_closes_the_connection(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing = Hearing(provider.stream(REQUEST))
    await (await server.next_request()).answer(unsupported("stream_options"), status=400)
    second = await server.next_request()
    hearing.task.cancel()
    await second.closed(timeout=5)
