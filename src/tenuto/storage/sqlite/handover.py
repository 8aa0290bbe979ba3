"""How jobs get from the event loop to the writer's thread."""

import asyncio
import queue
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    """Wakes the thread once per turn of the loop, not once per job.

    Waking a thread costs more than storing a token, and a thread that was woken for the first
    token of a turn would leave the others for the next commit.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[T | None] = deque()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._sleeping = False
        self._waking = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, job: T) -> None:
        """On the loop."""
        self._waiting.append(job)
        if self._sleeping and not self._waking:
            self._waking = True
            self._loop.call_soon(self._wake)

    def end(self) -> None:
        """Nothing comes after what waits. On any thread."""
        self._waiting.append(None)
        self._wakes.put(None)

    def take(self, limit: int) -> list[T | None]:
        """Jobs in their order, at least one; None is the last of all. On the thread."""
        while not self._waiting:
            self._sleeping = True
            # Again: a job put before we said that we sleep wakes nobody.
            if not self._waiting:
                self._wakes.get()
            self._sleeping = False
        return [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]

    def _wake(self) -> None:
        self._waking = False
        if self._sleeping:
            self._sleeping = False
            self._wakes.put(None)
