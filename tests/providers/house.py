"""A server that a test plays by hand, byte by byte."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from tests.providers.asking import REQUEST, Hearing, texts
from tests.providers.made import chat

ELSEWHERE = "127.0.0.2"
"""A host that is not taken for this machine: kept lines and proxies are for others only."""
SAID = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
WHOLE_ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    b"%x\r\n%b\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n" % (len(SAID), SAID)
)

Play = Callable[["ServerSide"], Awaitable[None]]


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """The server runs on the second; both have to behave alike."""
    return "asyncio", {"use_uvloop": request.param}


class ServerSide:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def request(self) -> bytes:
        """The head of the next request; its body is read and dropped."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                await self._reader.readexactly(int(line.split(b":")[1]))
        return head

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def left(self) -> None:
        """The other side closed the connection."""
        assert await self._reader.read() == b""

    async def secure(self, context: ssl.SSLContext) -> None:
        await self._writer.start_tls(context)

    def drop(self) -> None:
        self._writer.transport.abort()


class ProviderServer:
    def __init__(self, port: int) -> None:
        self.port = port
        self.callers = 0

    def url(self, host: str = "127.0.0.1", *, scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}/v1"


@asynccontextmanager
async def house(play: Play) -> AsyncIterator[ProviderServer]:
    """Plays this with everyone who connects."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.callers += 1
        caller = ServerSide(reader, writer)
        try:
            await play(caller)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    made = ProviderServer(server.sockets[0].getsockname()[1])
    try:
        yield made
    finally:
        server.close()


async def answer_once(caller: ServerSide) -> None:
    await caller.request()
    await caller.send(WHOLE_ANSWER)
    await caller.left()


async def heard_from(url: str) -> str:
    provider = chat("house", url)
    try:
        return texts(await Hearing(provider.stream(REQUEST)).all())
    finally:
        await provider.close()
