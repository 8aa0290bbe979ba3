"""Errands: blocking work in threads of the tools' own, from which each can be called back."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio

T = TypeVar("T")

CALL_BACK_SECONDS = 1.0
"""How long a cancel waits for a thread. One that hangs in the kernel is left to itself."""


class CalledBack(Exception):
    """Nobody waits for the errand any more."""


class Errand:
    """What the thread holds: it looks up at every step, and asks before it changes anything.

    The last word is given once: either the work may do what cannot be undone, or the cancel has
    it, and then nothing is done after the cancel has answered.
    """

    def __init__(self) -> None:
        self._called = threading.Event()
        self._last_word = threading.Lock()

    def step(self) -> None:
        """Raises CalledBack if the call was cancelled."""
        if self._called.is_set():
            raise CalledBack

    def claim(self) -> None:
        """Before what cannot be undone. Raises CalledBack if the call was cancelled."""
        if not self._last_word.acquire(blocking=False):
            raise CalledBack

    def call_back(self) -> None:
        self._called.set()
        self._last_word.acquire(blocking=False)


class Threads:
    """A bounded number of threads: files that hang never take those of the rest of the server."""

    def __init__(self, most: int) -> None:
        self._room = anyio.CapacityLimiter(most)

    async def run(self, work: Callable[[Errand], T]) -> T:
        """Do the work when there is room. A thread that was given up keeps its place till it ends."""
        errand = Errand()
        await self._room.acquire_on_behalf_of(errand)
        return await _sent(errand, work, lambda: self._room.release_on_behalf_of(errand))


async def in_thread(work: Callable[[Errand], T]) -> T:
    """Do the work in a thread at once, without a bound."""
    return await _sent(Errand(), work, lambda: None)


async def _sent(errand: Errand, work: Callable[[Errand], T], ended: Callable[[], None]) -> T:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    # A cancelled call never asks for it, and that is no mistake.
    answer.add_done_callback(lambda done: done.exception())

    def deliver(result: T | None, error: BaseException | None) -> None:
        ended()
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def body() -> None:
        result, error = None, None
        try:
            result = work(errand)
        except BaseException as raised:  # noqa: BLE001 (it goes to whoever waits)
            error = raised
        # The loop is closed if the server has ended meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, result, error)

    # A daemon: one that hangs does not keep the server from ending.
    threading.Thread(target=body, name="errand", daemon=True).start()
    try:
        await asyncio.wait([answer])
    finally:
        if not answer.done():
            errand.call_back()
            with anyio.move_on_after(CALL_BACK_SECONDS, shield=True):
                await asyncio.wait([answer])
    return answer.result()
