"""The requests that are under way at one server: their time, and what it asks for them."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from tenuto.agent.mcp import message
from tenuto.agent.mcp.link import Link, RequestRefused
from tenuto.core.mcp import McpServer

log = logging.getLogger(__name__)


class Caller(Protocol):
    """Whose call it is: hears how it goes, and can ask a person."""

    def progress(self, text: str) -> None: ...

    async def ask(self, asks: message.Asks) -> dict[str, Any] | None: ...


class _Call:
    def __init__(self, caller: Caller, limit: asyncio.Timeout) -> None:
        self.caller = caller
        self.asking: dict[int, asyncio.Task[None]] = {}
        self._limit = limit
        self._left: float | None = None

    def stand(self) -> None:
        """Its clock stands while a person is asked."""
        until = self._limit.when()
        if self._left is None and until is not None:
            self._left = until - asyncio.get_running_loop().time()
            self._limit.reschedule(None)

    def go_on(self) -> None:
        if self._left is not None and not self.asking:
            self._limit.reschedule(asyncio.get_running_loop().time() + self._left)
            self._left = None


class Calls:
    def __init__(self, server: McpServer, link: Link) -> None:
        self._server = server
        self._link = link
        self._calls: dict[int, _Call] = {}

    @property
    def are_under_way(self) -> bool:
        return bool(self._calls)

    async def make(
        self, key: int, order: Callable[[int, int], message.Order], caller: Caller
    ) -> message.Done:
        """Raises LinkLost, and RequestRefused with what the server said."""
        number: int | None = None

        def begun(given: int) -> None:
            nonlocal number
            number = given
            self._calls[given] = _Call(caller, limit)

        try:
            async with asyncio.timeout(self._server.timeout) as limit:
                return await self._link.ask(key, lambda given: order(given, key), begun)
        except TimeoutError:
            words = f"it did not answer within {self._server.timeout:g} seconds"
            raise RequestRefused(words) from None
        finally:
            if number is not None:
                call = self._calls.pop(number)
                for task in call.asking.values():
                    task.cancel()

    def hear(self, word: message.Progressed | message.Asks | message.Unasked) -> None:
        match word:
            case message.Progressed(id=number, text=text):
                if number in self._calls:
                    self._calls[number].caller.progress(text)
            case message.Asks():
                self._begin_asking(word)
            case message.Unasked(ask=ask):
                for call in self._calls.values():
                    if ask in call.asking:
                        call.asking[ask].cancel()

    def _begin_asking(self, asks: message.Asks) -> None:
        call = self._asked_by(asks)
        if call is None:
            return self._link.tell(message.Answered(ask=asks.ask, answers=None))
        call.stand()
        call.asking[asks.ask] = asyncio.create_task(self._ask(call, asks))

    def _asked_by(self, asks: message.Asks) -> _Call | None:
        """Older servers do not say which call they ask for: the only one, then, or nobody is asked
        what is another's to know."""
        if asks.id is not None:
            return self._calls.get(asks.id)
        return next(iter(self._calls.values())) if len(self._calls) == 1 else None

    async def _ask(self, call: _Call, asks: message.Asks) -> None:
        answers: dict[str, Any] | None = None
        try:
            answers = await call.caller.ask(asks)
        except Exception:
            log.exception("a person could not be asked", extra={"server": self._server.name})
        finally:
            del call.asking[asks.ask]
            call.go_on()
            self._link.tell(message.Answered(ask=asks.ask, answers=answers))
