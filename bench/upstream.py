"""A model server made for speed, so that it is not what is measured.

Speaks just enough of the chat-completions wire. The last user message is a JSON order:
`{"tokens": 500, "rate": 50, "silent": false, "name": "x"}`; a rate of 0 means as fast as the reader takes them.
Each token is `n:t ` with its number and the monotonic clock in microseconds when it was sent.
Run as its own process: it prints its port, and answers `GET /stats` with counts.
"""

import asyncio
import sys
import time
from typing import cast

import msgspec
import uvloop

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"connection: close\r\ncache-control: no-cache\r\n\r\n"
)
CHUNK = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"content":"%d:%d "},"finish_reason":null}]}\n\n'
END = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
BURST = 200
GOLDEN = 0.618034
"""Steps of this size, modulo one, spread evenly, however many there are."""


class Order(msgspec.Struct):
    tokens: int = 100
    rate: float = 0
    silent: bool = False
    name: str = ""
    """What `/stats` calls this answer."""


class Turn(msgspec.Struct):
    role: str
    content: str | None


class Body(msgspec.Struct):
    messages: list[Turn]


class Stats(msgspec.Struct):
    open: int = 0
    finished: int = 0
    closed: int = 0
    paced: int = 0
    closed_at: dict[str, float] = msgspec.field(default_factory=dict)
    """By name, when the client closed the connection before the end, on the monotonic clock."""
    asked_at: dict[str, float] = msgspec.field(default_factory=dict)
    """By name, when the whole request was there."""


class Upstream(asyncio.Protocol):
    def __init__(self, stats: Stats) -> None:
        self._stats = stats
        self._buffer = b""
        self._writing = asyncio.Event()
        self._writing.set()
        self._task: asyncio.Task[None] | None = None
        self._answering = False
        self._name = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        if head.startswith(b"GET"):
            self._buffer = b""
            self._list(head)
            return
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        if len(body) >= length:
            self._buffer = b""
            turns = msgspec.json.decode(body[:length], type=Body).messages
            asked = [turn.content or "" for turn in turns if turn.role == "user"][-1]
            order = msgspec.json.decode(asked[asked.rindex("{") :], type=Order)
            self._task = asyncio.get_running_loop().create_task(self._answer(order))

    def pause_writing(self) -> None:
        self._writing.clear()

    def resume_writing(self) -> None:
        self._writing.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._answering:
            self._stats.open -= 1
            self._stats.closed += 1
            self._stats.closed_at[self._name] = time.monotonic()

    def _list(self, head: bytes) -> None:
        if head.startswith(b"GET /stats"):
            body = msgspec.json.encode(self._stats)
        else:
            body = b'{"object":"list","data":[{"id":"bench","object":"model"}]}'
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
            % (len(body), body)
        )

    async def _answer(self, order: Order) -> None:
        self._stats.open += 1
        self._answering = True
        self._name = order.name
        if order.name:
            self._stats.asked_at[order.name] = time.monotonic()
        self._transport.write(HEAD)
        if order.silent:
            await asyncio.Event().wait()
        if order.rate:
            await self._paced(order)
        else:
            await self._flood(order)
        self._answering = False
        self._stats.open -= 1
        self._stats.finished += 1
        self._transport.write(END)
        self._transport.close()

    async def _paced(self, order: Order) -> None:
        loop = asyncio.get_running_loop()
        # Answers of different users do not tick together, even if they were asked for at once.
        self._stats.paced += 1
        began = loop.time() + self._stats.paced * GOLDEN % 1 / order.rate
        for n in range(order.tokens):
            due = began + n / order.rate
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self._writing.wait()
            self._transport.write(CHUNK % (n, time.monotonic_ns() // 1000))

    async def _flood(self, order: Order) -> None:
        for start in range(0, order.tokens, BURST):
            await self._writing.wait()
            now = time.monotonic_ns() // 1000
            stop = min(start + BURST, order.tokens)
            self._transport.write(b"".join(CHUNK % (n, now) for n in range(start, stop)))
            await asyncio.sleep(0)


async def serve() -> None:
    stats = Stats()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Upstream(stats), "127.0.0.1", 0, backlog=2048)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
