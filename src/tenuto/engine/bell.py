"""The bell says that a stream has something new. It carries nothing: the log is the truth."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenuto.core.value import StreamId


class Ear:
    """Hears every ring since it was last waited for, as one."""

    def __init__(self) -> None:
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None
        self.answer: Callable[[], bool] | None = None
        """Tried while someone waits; True: that was all there was to do, let it wait on."""

    def ring(self) -> None:
        waiting = self._waiter is not None and not self._waiter.done()
        if waiting and self.answer is not None and self.answer():
            return
        self._rung = True
        if self._waiter is not None and waiting:
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """True once rung; False after this long without a ring."""
        if not self._rung:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, self._give_up)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        rung, self._rung = self._rung, False
        return rung

    def _give_up(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Bell:
    def __init__(self) -> None:
        # In the order in which they came: a run that went wrong can be replayed exactly.
        self._ears: dict[StreamId, dict[Ear, None]] = {}

    @contextmanager
    def listen(self, stream: StreamId) -> Iterator[Ear]:
        ear = Ear()
        self._ears.setdefault(stream, {})[ear] = None
        try:
            yield ear
        finally:
            ears = self._ears[stream]
            del ears[ear]
            if not ears:
                del self._ears[stream]

    def ring(self, stream: StreamId) -> None:
        for ear in self._ears.get(stream, ()):
            ear.ring()

    def ring_all(self) -> None:
        for stream in self._ears:
            self.ring(stream)
