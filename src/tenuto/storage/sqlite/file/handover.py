"""How jobs get from the event loop to the writer's thread."""

import asyncio
import queue
from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    """Wakes the thread once per turn of the loop, not once per job, and lets tokens go first.

    Waking a thread costs more than storing a token, and a thread that was woken for the first
    token of a turn would leave the others for the next commit. A hundred runs that end together
    would keep every token waiting: while there are tokens, they get few places in a group.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._quick: deque[T] = deque()
        self._slow: deque[T] = deque()
        self._wakes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._sleeping = False
        self._waking = False
        self._ended = False

    def __len__(self) -> int:
        return len(self._quick) + len(self._slow)

    def put(self, job: T) -> None:
        """On the loop. Jobs that are put this way keep their order."""
        self._slow.append(job)
        self._wake_soon()

    def put_quick(self, job: T) -> None:
        """On the loop. May pass jobs that are not quick, but no other quick one."""
        self._quick.append(job)
        self._wake_soon()

    def end(self) -> None:
        """Nothing comes after what waits. On any thread."""
        self._ended = True
        self._wakes.put(None)

    def take(self, limit: int, *, slow_beside_quick: int) -> Sequence[T]:
        """The next jobs, quick ones first; none when all is over. On the thread."""
        while not (self._quick or self._slow or self._ended):
            self._sleeping = True
            # Again: a job put before we said that we sleep wakes nobody.
            if not (self._quick or self._slow or self._ended):
                self._wakes.get()
            self._sleeping = False
        group = [self._quick.popleft() for _ in range(min(limit, len(self._quick)))]
        room = min(slow_beside_quick if group else limit, len(self._slow))
        return group + [self._slow.popleft() for _ in range(room)]

    def _wake_soon(self) -> None:
        if self._sleeping and not self._waking:
            self._waking = True
            self._loop.call_soon(self._wake)

    def _wake(self) -> None:
        self._waking = False
        if self._sleeping:
            self._sleeping = False
            self._wakes.put(None)
