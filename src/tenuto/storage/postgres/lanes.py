"""One write of this node at a time for each session, so that its commits are told in order."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tenuto.core.error import StorageTrouble
from tenuto.core.value import StreamId

TURN_SECONDS = 5.0
"""A decision that waits longer than this behind another write is refused, surely not stored."""


class Lanes:
    def __init__(self) -> None:
        self._waiting: dict[StreamId, deque[asyncio.Future[None]]] = {}
        """By session that is being written: who waits for it."""
        self.on_free: Callable[[], None] = lambda: None

    def try_take(self, stream: StreamId) -> bool:
        if stream in self._waiting:
            return False
        self._waiting[stream] = deque()
        return True

    def free(self, stream: StreamId) -> None:
        waiting = self._waiting[stream]
        while waiting:
            next_one = waiting.popleft()
            if not next_one.done():
                next_one.set_result(None)
                return
        del self._waiting[stream]
        self.on_free()

    @asynccontextmanager
    async def turn(self, *streams: StreamId) -> AsyncIterator[None]:
        """Have these sessions alone. Raises StorageTrouble after a while."""
        taken: list[StreamId] = []
        try:
            # In one order, so that two who want the same ones never wait for each other.
            for stream in sorted(set(streams)):
                await self._take(stream)
                taken.append(stream)
            yield
        finally:
            for stream in taken:
                self.free(stream)

    async def _take(self, stream: StreamId) -> None:
        if self.try_take(stream):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[stream].append(turn)
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.free(stream)
            if isinstance(error, TimeoutError):
                raise StorageTrouble("PostgreSQL is not keeping up") from None
            raise
