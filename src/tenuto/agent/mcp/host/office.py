"""The office: every order goes to the dealing that it is for, and every request has its task.

What is said at the end of a task is said by who watches it, not by itself: one that is cancelled
before its first step never speaks.
"""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from tenuto.agent.mcp import message
from tenuto.agent.mcp.host.dealing import Dealing, Request
from tenuto.agent.mcp.host.telling import in_words

CALL: ContextVar[int | None] = ContextVar("call", default=None)
"""The request that is being worked on, where its server says so."""
GONE = "the connection to the server is closed"
CANCELLED = "it was cancelled"
TOO_LARGE = "it answered with more than can be taken"
CLOSE_SECONDS = 5.0


class Office:
    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._dealings: dict[int, Dealing] = {}
        self._lives: dict[int, asyncio.Task[str | None]] = {}
        self._closing: set[int] = set()
        self._requests: dict[int, tuple[int, asyncio.Task[message.Done]]] = {}
        self._asks: dict[int, asyncio.Future[dict[str, Any] | None]] = {}
        self._asked = 0

    def take(self, line: bytes) -> None:
        match message.orders.decode(line):
            case message.Open() as order:
                self._open(order)
            case message.Close(key=key):
                self._close(key)
            case message.CallTool() | message.ReadResource() | message.GetPrompt() as order:
                self._begin(order)
            case message.Cancel(id=number):
                if number in self._requests:
                    self._requests[number][1].cancel()
            case message.Answered(ask=ask, answers=answers):
                if ask in self._asks and not self._asks[ask].done():
                    self._asks[ask].set_result(answers)
            case message.SignedIn() as order:
                if order.key in self._dealings:
                    self._dealings[order.key].signed_in(order)
            case message.Beat():
                pass

    async def close(self) -> None:
        """End all; whoever takes too long goes with the process."""
        for key in tuple(self._lives):
            self._close(key)
        if self._lives:
            await asyncio.wait(self._lives.values(), timeout=CLOSE_SECONDS)

    def say(self, word: message.HostWord) -> None:
        line = message.line(word)
        if len(line) > message.LONGEST_LINE and isinstance(word, message.Done):
            line = message.line(message.Failed(id=word.id, error=TOO_LARGE))
        self._write(line)

    async def ask(self, key: int, asks: message.Asks) -> dict[str, Any] | None:
        """What a person answers; None: nobody did."""
        self._asked += 1
        number = self._asked
        future: asyncio.Future[dict[str, Any] | None]
        future = self._asks[number] = asyncio.get_running_loop().create_future()
        self.say(
            message.Asks(
                ask=number,
                id=CALL.get(),
                key=key,
                text=asks.text,
                wanted=asks.wanted,
                url=asks.url,
            )
        )
        try:
            return await future
        finally:
            del self._asks[number]
            if not future.done() or future.cancelled():
                self.say(message.Unasked(ask=number, key=key))

    def _open(self, order: message.Open) -> None:
        life = asyncio.create_task(self._live(order))
        self._lives[order.key] = life
        life.add_done_callback(partial(self._over, order.key))

    async def _live(self, order: message.Open) -> str | None:
        dealing = Dealing(order.key, order.server, self.say, self.ask)
        self._dealings[order.key] = dealing
        return await dealing.live()

    def _close(self, key: int) -> None:
        # Once only: a second cancel would come upon the tidying of the first.
        if key in self._lives and key not in self._closing:
            self._closing.add(key)
            self._lives[key].cancel()

    def _over(self, key: int, life: "asyncio.Task[str | None]") -> None:
        del self._lives[key]
        self._dealings.pop(key, None)
        self._closing.discard(key)
        for owner, request in tuple(self._requests.values()):
            if owner == key:
                request.cancel()
        self.say(message.Closed(key=key, error=_how(life)))

    def _begin(self, order: Request) -> None:
        dealing = self._dealings.get(order.key)
        if dealing is None:
            return self.say(message.Failed(id=order.id, error=GONE))
        request = asyncio.create_task(self._do(dealing, order))
        self._requests[order.id] = order.key, request
        request.add_done_callback(partial(self._answered, order.id))

    async def _do(self, dealing: Dealing, order: Request) -> message.Done:
        CALL.set(order.id)
        return await dealing.do(order)

    def _answered(self, number: int, request: "asyncio.Task[message.Done]") -> None:
        del self._requests[number]
        if request.cancelled():
            self.say(message.Failed(id=number, error=CANCELLED))
        elif trouble := request.exception():
            self.say(message.Failed(id=number, error=in_words(trouble)))
        else:
            self.say(request.result())


def _how(life: "asyncio.Task[str | None]") -> str | None:
    if life.cancelled():
        return None
    trouble = life.exception()
    return life.result() if trouble is None else in_words(trouble)
