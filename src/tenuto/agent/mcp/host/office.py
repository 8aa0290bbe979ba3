"""The office: every order goes to the connection that it is for, and every request has its task."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tenuto.agent.mcp import message
from tenuto.agent.mcp.host.dealing import Dealing, Request
from tenuto.agent.mcp.host.telling import in_words

CALL: ContextVar[int | None] = ContextVar("call", default=None)
"""The request that is being worked on, where its server says so."""
GONE = "The connection to the server is closed."


class Office:
    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._connections: dict[int, Dealing] = {}
        self._lives: dict[int, asyncio.Task[None]] = {}
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._asks: dict[int, asyncio.Future[dict[str, Any] | None]] = {}
        self._asked = 0

    def take(self, line: bytes) -> None:
        match message.orders.decode(line):
            case message.Open() as order:
                self._open(order)
            case message.Close(key=key):
                if key in self._lives:
                    self._lives[key].cancel()
            case message.CallTool() | message.ReadResource() | message.GetPrompt() as order:
                self._begin(order)
            case message.Cancel(id=number):
                if number in self._requests:
                    self._requests[number].cancel()
            case message.Answered(ask=ask, answers=answers):
                if ask in self._asks and not self._asks[ask].done():
                    self._asks[ask].set_result(answers)
            case message.SignedIn() as order:
                if order.key in self._connections:
                    self._connections[order.key].signed_in(order)
            case message.Beat():
                pass

    async def close(self) -> None:
        for task in (*self._requests.values(), *self._lives.values()):
            task.cancel()
        await asyncio.gather(*self._lives.values(), return_exceptions=True)

    def say(self, word: message.HostWord) -> None:
        self._write(message.line(word))

    async def ask(self, connection: int, asks: message.Asks) -> dict[str, Any] | None:
        """What a person answers; None: nobody did."""
        self._asked += 1
        number = self._asked
        call = CALL.get()
        future: asyncio.Future[dict[str, Any] | None]
        future = self._asks[number] = asyncio.get_running_loop().create_future()
        self.say(
            message.Asks(
                ask=number,
                id=call,
                key=connection,
                text=asks.text,
                wanted=asks.wanted,
                url=asks.url,
            )
        )
        try:
            return await future
        finally:
            del self._asks[number]

    def _open(self, order: message.Open) -> None:
        connection = Dealing(order.key, order.server, self.say, self.ask)
        self._connections[order.key] = connection
        life = asyncio.create_task(self._live(order.key, connection))
        self._lives[order.key] = life

    async def _live(self, key: int, connection: Dealing) -> None:
        error: str | None = None
        try:
            error = await connection.live()
        except Exception as trouble:  # noqa: BLE001
            error = in_words(trouble)
        finally:
            del self._connections[key], self._lives[key]
            self.say(message.Closed(key=key, error=error))

    def _begin(self, order: Request) -> None:
        connection = self._connections.get(order.key)
        if connection is None:
            return self.say(message.Failed(id=order.id, error=GONE))
        self._requests[order.id] = asyncio.create_task(self._answer(connection, order))

    async def _answer(self, connection: Dealing, order: Request) -> None:
        CALL.set(order.id)
        said: message.HostWord = message.Failed(id=order.id, error="It was cancelled.")
        try:
            said = await connection.do(order)
        except Exception as trouble:  # noqa: BLE001
            said = message.Failed(id=order.id, error=in_words(trouble))
        finally:
            del self._requests[order.id]
            self.say(said)
