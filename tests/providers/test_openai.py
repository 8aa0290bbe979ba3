"""Answers on the OpenAI wire, held and released piece by piece."""

import asyncio
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import msgspec
import psutil  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.sse import EventLines
from tenuto.agent.providers.provider import HttpProvider
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.core.run import Reason, Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    CallPiece,
    CallStarted,
    Finished,
    ProviderError,
    TextPiece,
    UsagePiece,
)
from tests.providers.asking import REQUEST, arguments, begin, texts, thoughts, until
from tests.providers.made import SEALER
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio


async def test_each_piece_comes_out_while_the_next_is_held(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.text("Hel")
    await hearing.until(TextPiece(text="Hel"))
    await exchange.text("lo")
    await hearing.until(TextPiece(text="lo"))
    assert not hearing.task.done()
    await exchange.usage(5, 2, reasoning=1)
    await exchange.finish()
    assert await hearing.all() == [
        TextPiece(text="Hel"),
        TextPiece(text="lo"),
        UsagePiece(usage=Usage(input_tokens=5, output_tokens=2, reasoning_tokens=1)),
        Finished(reason="end_turn"),
    ]
    assert exchange.ended == "finished"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("something new", "end_turn"),
        ("tool_calls", "end_turn"),  # Announced, but none came.
    ],
)
async def test_the_reason_for_the_end_is_told(
    server: ModelServer, provider: HttpProvider, said: str, reason: str
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.say("Hi", finish=said)
    last = (await hearing.all())[-1]
    assert isinstance(last, Finished) and last.reason == reason


async def test_parallel_calls_stream_in_pieces(server: ModelServer, provider: HttpProvider) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.tool_call(0, "call_a", "read_file")
    await hearing.until(CallStarted(index=0, id=CallId("call_a"), name="read_file"))
    await exchange.tool_input(0, '{"path"')
    await hearing.until(CallPiece(index=0, text='{"path"'))
    await exchange.tool_call(1, "call_b", "shell")
    await exchange.tool_input(1, '{"command":"ls"}')
    await exchange.tool_input(0, ':"a.txt"}')
    await exchange.finish("tool_calls")
    pieces = await hearing.all()
    assert CallStarted(index=1, id=CallId("call_b"), name="shell") in pieces
    assert arguments(pieces, 0) == '{"path":"a.txt"}'
    assert arguments(pieces, 1) == '{"command":"ls"}'
    assert pieces[-1] == Finished(reason="tool_calls")


WHOLE = {"name": "shell", "arguments": '{"a":1}'}
ODD_CALLS: dict[str, list[dict[str, Any]]] = {
    "no index": [{"id": "x", "function": WHOLE}, {"id": "y", "function": WHOLE}],
    "neither index nor id": [{"function": WHOLE}, {"function": WHOLE}],
    "one index for all": [
        {"index": 0, "id": "x", "function": WHOLE},
        {"index": 0, "id": "y", "function": WHOLE},
    ],
    "indexes from one": [
        {"index": 1, "id": "x", "function": WHOLE},
        {"index": 2, "id": "y", "function": WHOLE},
    ],
    "arguments as an object": [
        {"index": 0, "id": "x", "function": {"name": "shell", "arguments": {"a": 1}}},
        {"index": 1, "id": "y", "function": {"name": "shell", "arguments": {"a": 1}}},
    ],
    "another id with each piece": [
        {"index": 0, "id": "x", "function": {"name": "shell", "arguments": '{"a"'}},
        {"index": 0, "id": "z", "function": {"arguments": ":1}"}},
        {"index": 1, "id": "y", "function": WHOLE},
    ],
    "pieces without index or id": [
        {"id": "x", "function": {"name": "shell", "arguments": '{"a"'}},
        {"function": {"arguments": ":1}"}},
        {"id": "y", "function": WHOLE},
    ],
    "arguments before the name": [
        {"index": 0, "id": "x", "function": {"arguments": '{"a"'}},
        {"index": 0, "function": {"name": "shell", "arguments": ":1}"}},
        {"index": 1, "id": "y", "function": WHOLE},
    ],
}


@pytest.mark.parametrize("oddity", ODD_CALLS)
async def test_calls_are_told_apart_though_the_server_is_odd(
    server: ModelServer, provider: HttpProvider, oddity: str
) -> None:
    hearing, exchange = await begin(provider, server)
    for call in ODD_CALLS[oddity]:
        await exchange.delta({"tool_calls": [call]})
    await exchange.finish("stop")
    pieces = await hearing.all()
    started = [piece for piece in pieces if isinstance(piece, CallStarted)]
    assert [(call.index, call.name) for call in started] == [(0, "shell"), (1, "shell")]
    assert started[0].id and started[1].id and started[0].id != started[1].id
    assert arguments(pieces, 0) == '{"a":1}'
    assert arguments(pieces, 1) == '{"a":1}'
    assert pieces[-1] == Finished(reason="tool_calls")


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "because"},
        {"reasoning": "because"},
        {"reasoning": {"text": "because"}},
        {"reasoning_details": [{"type": "reasoning.text", "text": "because"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "because"}]}]},
    ],
)
async def test_reasoning_is_understood_in_every_shape(
    server: ModelServer, provider: HttpProvider, delta: dict[str, object]
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.delta(delta)
    await exchange.say("so")
    pieces = await hearing.all()
    assert (thoughts(pieces), texts(pieces)) == ("because", "so")


async def test_a_refusal_is_shown_as_text(server: ModelServer, provider: HttpProvider) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.delta({"refusal": "I will not."})
    await exchange.finish()
    assert texts(await hearing.all()) == "I will not."


async def test_an_answer_in_one_json_body_is_understood(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    call = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hello", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    await exchange.answer({"choices": [choice], "usage": usage})
    assert await hearing.all() == [
        TextPiece(text="Hello"),
        CallStarted(index=0, id=CallId("c1"), name="shell"),
        CallPiece(index=0, text="{}"),
        UsagePiece(usage=Usage(input_tokens=3, output_tokens=4)),
        Finished(reason="tool_calls"),
    ]


@pytest.mark.failure(61)
@pytest.mark.parametrize(
    ("first", "second"),
    [(rb"a\ud83d", rb"\ude00b"), (b"a\xf0\x9f", b"\x98\x80b")],
    ids=["surrogate halves", "bytes"],
)
async def test_a_character_split_over_two_chunks_is_joined(
    server: ModelServer, provider: HttpProvider, first: bytes, second: bytes
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.data(b'{"choices":[{"delta":{"content":"%b"}}]}' % first)
    await hearing.until(TextPiece(text="a"))
    await exchange.data(b'{"choices":[{"delta":{"content":"%b"}}]}' % second)
    await exchange.finish()
    assert texts(await hearing.all()) == "a😀b"


@pytest.mark.failure(61)
async def test_half_a_character_at_the_end_becomes_a_replacement(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.data(rb'{"choices":[{"delta":{"content":"a\ud83d"}}]}')
    await exchange.finish()
    assert texts(await hearing.all()) == "a\ufffd"


@pytest.mark.parametrize("ending", ["no [DONE]", "no finish reason", "silence after the finish"])
async def test_a_sloppy_end_is_an_end(
    server: ModelServer,
    provider: HttpProvider,
    ending: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tenuto.agent.providers.connection.exchange.AFTER_FINISH_SECONDS", 0.05)
    hearing, exchange = await begin(provider, server)
    await exchange.text("Hi")
    if ending == "no finish reason":
        await exchange.raw(b"data: [DONE]")
        await exchange.end()
    else:
        await exchange.delta({}, finish_reason="stop")
        if ending == "no [DONE]":
            await exchange.end()
    assert (await hearing.all())[-1] == Finished(reason="end_turn")


@pytest.mark.guarantee("E1")
async def test_after_its_end_an_answer_cannot_be_kept_open_by_signs_of_life(
    server: ModelServer, provider: HttpProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenuto.agent.providers.connection.exchange.AFTER_FINISH_SECONDS", 0.3)
    hearing, exchange = await begin(provider, server)
    await exchange.text("Hi")
    await exchange.delta({}, finish_reason="stop")

    async def signs_of_life() -> None:
        while True:
            await exchange.raw(b": still here\n\n")
            await asyncio.sleep(0.05)

    signs = asyncio.create_task(signs_of_life())
    try:
        assert (await hearing.all())[-1] == Finished(reason="end_turn")
    finally:
        signs.cancel()
        await asyncio.wait({signs})


async def test_input_that_the_provider_had_kept_is_told(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    details = {"cached_tokens": 7}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}
    await exchange.chunk({"choices": [], "usage": usage})
    await exchange.finish()
    used = UsagePiece(usage=Usage(input_tokens=10, output_tokens=2, cache_read_tokens=7))
    assert used in await hearing.all()


async def test_pieces_before_an_error_are_kept(server: ModelServer, provider: HttpProvider) -> None:
    hearing, exchange = await begin(provider, server)
    chunk = msgspec.json.encode({"choices": [{"delta": {"content": "Half"}}]})
    await exchange.raw(b"data: %b\n\ndata: {broken}\n\n" % chunk)
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    assert caught.value.reason is Reason.PROVIDER_ERROR
    assert texts(hearing.pieces) == "Half"


@pytest.mark.failure(5)
async def test_what_had_arrived_before_the_connection_broke_is_kept(
    server: ModelServer, provider: HttpProvider
) -> None:
    answer = provider.stream(REQUEST)
    asking = asyncio.create_task(anext(answer))
    exchange = await server.next_request()
    await exchange.text("one")
    assert texts(await asking) == "one"
    # Nobody reads while the next piece and the break arrive.
    await exchange.text("two")
    await exchange.break_off()
    await until(lambda: not _is_connected(server))
    assert texts(await anext(answer)) == "two"
    with pytest.raises(ProviderError):
        await anext(answer)


@pytest.mark.failure(33)
@pytest.mark.guarantee("O2")
@pytest.mark.parametrize("moment", ["before the headers", "after the headers", "between pieces"])
async def test_cancelling_closes_the_connection_while_the_provider_is_silent(
    server: ModelServer, provider: HttpProvider, moment: str
) -> None:
    hearing, exchange = await begin(provider, server)
    if moment == "after the headers":
        await exchange.begin()
    if moment == "between pieces":
        await exchange.text("one")
        await hearing.until(TextPiece(text="one"))
    hearing.task.cancel()
    await exchange.closed(timeout=2)
    with pytest.raises(asyncio.CancelledError):
        await hearing.task


@pytest.mark.failure(13, 33)
async def test_closing_the_generator_closes_the_connection(
    server: ModelServer, provider: HttpProvider
) -> None:
    answer = provider.stream(REQUEST)
    asking = asyncio.create_task(anext(answer))
    exchange = await server.next_request()
    await exchange.text("one")
    await asking
    await answer.aclose()
    await exchange.closed(timeout=2)


async def test_any_number_of_answers_stream_at_once(
    server: ModelServer, provider: HttpProvider
) -> None:
    both = [await begin(provider, server) for _ in range(150)]
    for number, (_, exchange) in enumerate(both):
        await exchange.say(f"answer {number}")
    heard = [texts(await hearing.all()) for hearing, _ in both]
    assert heard == [f"answer {number}" for number in range(150)]


CHUNKS = (
    rb'data: {"choices":[{"delta":{"role":"assistant","content":"Gr\u00fc\u00df"}}]}',
    'data: {"choices":[{"delta":{"content":" dich 😀"}}]}'.encode(),
    rb'data: {"choices":[{"delta":{"content":"\ud83d"}}]}',
    rb'data: {"choices":[{"delta":{"content":"\ude00"}}]}',
    b": ping",
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"t","arguments":""}}]}}]}',
    b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}',
    b'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}',
    b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
    b"data: [DONE]",
)
BYTES = b"\r\n\r\n".join(CHUNKS) + b"\r\n\r\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.integers(min_value=1, max_value=len(BYTES) - 1)))
async def test_pieces_are_the_same_wherever_the_bytes_are_cut(cuts: set[int]) -> None:
    lines, answer = EventLines(), ChatAnswer(Border("house", secret=""), SEALER)
    edges = [0, *sorted(cuts), len(BYTES)]
    pieces = []
    for start, end in pairwise(edges):
        pieces += answer.feed(lines.feed(BYTES[start:end]))
    assert pieces + answer.end() == [
        TextPiece(text="Grüß"),
        TextPiece(text=" dich 😀"),
        TextPiece(text="😀"),
        CallStarted(index=0, id=CallId("c"), name="t"),
        CallPiece(index=0, text="{}"),
        UsagePiece(usage=Usage(input_tokens=1, output_tokens=2)),
        Finished(reason="tool_calls"),
    ]


def _is_connected(server: ModelServer) -> bool:
    port = urlsplit(server.url).port
    return any(c.raddr and c.raddr.port == port for c in psutil.Process().net_connections())
