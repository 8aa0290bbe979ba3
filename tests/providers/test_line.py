"""The connection to a provider: every byte that came is heard, however the connection behaves."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable

import pytest

from tenuto.agent.providers.connection import exchange as wire
from tenuto.agent.providers.connection.dial import Route
from tenuto.agent.providers.connection.line import READ_BYTES, BrokenOff, Line, NotHttp, Silent
from tests.providers.asking import REQUEST, Hearing, texts
from tests.providers.house import (
    ELSEWHERE,
    WHOLE_ANSWER,
    ProviderServer,
    ServerSide,
    anyio_backend,  # noqa: F401 (a fixture)
    house,
)
from tests.providers.made import chat
from tests.support.watch import until

pytestmark = pytest.mark.anyio

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


async def dial(made: ProviderServer, *, stall_seconds: float = 10) -> Line:
    route = Route(made.url())
    line = await route.dial(seconds=5)
    line.ask(route.request("GET", "/models", {}), stall_seconds=stall_seconds)
    return line


async def rest(line: Line) -> bytes:
    got = []
    async with asyncio.timeout(10):
        while chunk := await line.read():
            got.append(chunk)
    return b"".join(got)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (
            (
                b"HTTP/1.1 100 Continue\r\nx-one: 1\r\n\r\nHTTP/1.1 200 OK\r\n"
                b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nx-late: 1\r\n\r\n"
            ),
            b"hello",
        ),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + gzip.compress(b"hello"), b"hello"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
    ids=["length", "until the end", "old", "chunked", "compressed", "empty"],
)
@pytest.mark.parametrize("step", [1, 1000])
async def test_an_answer_is_heard_however_it_is_framed_and_cut(
    answer: bytes, body: bytes, step: int
) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        for start in range(0, len(answer), step):
            await caller.send(answer[start : start + step])

    async with house(play) as made:
        line = await dial(made)
        head = await line.head()
        assert await rest(line) == body
        assert head.status in (200, 204) and "x-one" not in head.headers
        line.close()


@pytest.mark.parametrize("how", ["closed", "dropped"])
@pytest.mark.parametrize(
    "head", [b"content-length: 50\r\n", b"transfer-encoding: chunked\r\n"], ids=["length", "chunks"]
)
async def test_what_came_before_a_break_is_heard_before_the_break(head: bytes, how: str) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        chunk = b"5\r\nhello\r\n" if b"chunked" in head else b"hello"
        await caller.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + chunk)
        if how == "dropped":
            # Not before it has gone out: a reset throws away what was not read.
            await asyncio.wait_for(heard.wait(), 10)
            caller.drop()

    heard = asyncio.Event()
    async with house(play) as made:
        line = await dial(made)
        assert await line.read() == b"hello"
        heard.set()
        with pytest.raises(BrokenOff):
            await rest(line)


async def test_an_end_before_the_answer_is_a_break() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()

    async with house(play) as made:
        with pytest.raises(BrokenOff):
            await (await dial(made)).head()


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\n...",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nnot so",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000,
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
    ids=["another protocol", "unknown compression", "bad compression", "endless head", "upgrade"],
)
async def test_what_is_no_answer_is_told_and_the_line_closed(answer: bytes) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        try:
            await caller.send(answer)
            await caller.left()
        finally:
            closed.set()

    closed = asyncio.Event()
    async with house(play) as made:
        line = await dial(made)
        with pytest.raises(NotHttp):
            await line.head()
            await rest(line)
        await asyncio.wait_for(closed.wait(), 10)


async def test_a_slow_reader_makes_the_provider_wait_and_that_is_no_silence() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(pieces):
            await caller.send(b"x" * 65536)
        sent.set()

    pieces, sent = 400, asyncio.Event()
    async with house(play) as made:
        line = await dial(made, stall_seconds=0.2)
        await line.head()
        # Longer than the limit for silence.
        await asyncio.sleep(0.6)
        assert not sent.is_set()
        first = await line.read()
        assert 0 < len(first) <= READ_BYTES
        assert len(first + await rest(line)) == pieces * 65536


async def test_silence_is_measured_from_the_last_byte() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(5):
            await asyncio.sleep(0.2)
            await caller.send(b"x")
        await caller.left()

    async with house(play) as made:
        line = await dial(made, stall_seconds=0.5)
        got = b""
        with pytest.raises(Silent):
            while chunk := await line.read():
                got += chunk
        assert got == b"x" * 5


def is_taken(line: Line) -> Callable[[], Awaitable[bool]]:
    async def taken() -> bool:
        return not line.free

    return taken


@pytest.mark.parametrize("host", ["127.0.0.1", ELSEWHERE])
async def test_a_line_is_used_again_if_a_new_one_would_cost_a_handshake(host: str) -> None:
    async def play(caller: ServerSide) -> None:
        while True:
            await caller.request()
            await caller.send(WHOLE_ANSWER)

    async with house(play) as made:
        provider = chat("house", made.url(host))
        for _ in range(3):
            assert texts(await Hearing(provider.stream(REQUEST)).all()) == "Hi"
        await provider.close()
        assert made.callers == (1 if host == ELSEWHERE else 3)


async def test_a_line_that_nobody_uses_is_closed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(WHOLE_ANSWER)
        await caller.left()
        left.set()

    left = asyncio.Event()
    monkeypatch.setattr(wire, "KEEP_SECONDS", 0.05)
    async with house(play) as made:
        provider = chat("house", made.url(ELSEWHERE))
        assert texts(await Hearing(provider.stream(REQUEST)).all()) == "Hi"
        await asyncio.wait_for(left.wait(), 10)
        await provider.close()


async def test_a_kept_line_that_was_closed_meanwhile_is_not_used_again() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(WHOLE_ANSWER)

    async with house(play) as made:
        route = Route(made.url(ELSEWHERE))
        line = await route.dial(seconds=5)
        line.ask(route.request("GET", "/models", {}), stall_seconds=10)
        await rest(line)
        await until(is_taken(line))


@pytest.mark.guarantee("E1")
@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\nx: y\r\n\r\n" * 500),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 2000),
        (CHUNKED + b"5\r\nhello\r\n0\r\n", b"x: y\r\n" * 2000),
        (CHUNKED + b"5\r\nhello\r\n0\r\nx: ", b"y" * 16384),
        (CHUNKED + b"5\r\nhello\r\n5;", b"x=y;" * 4000),
    ],
    ids=["early answers", "a head", "trailers", "a trailer", "a chunk's extension"],
)
async def test_what_is_around_an_answer_has_an_end(start: bytes, again: bytes) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(start)
        while True:
            await caller.send(again)

    async with house(play) as made:
        line = await dial(made)
        with pytest.raises(NotHttp):
            await line.head()
            await rest(line)


@pytest.mark.guarantee("E1")
async def test_a_little_that_unpacks_to_much_is_unpacked_a_little_at_a_time() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + packed)

    packed, length = gzip.compress(b"x" * 30_000_000, 6), 0
    async with house(play) as made:
        line = await dial(made)
        await line.head()
        while chunk := await line.read():
            assert len(chunk) <= READ_BYTES
            length += len(chunk)
        assert length == 30_000_000


async def test_what_follows_the_end_of_the_packed_is_nothing() -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n")
        await caller.send(gzip.compress(b"hello") + b"z" * 1_000_000)

    async with house(play) as made:
        assert await rest(await dial(made)) == b"hello"
