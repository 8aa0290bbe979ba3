"""An event loop without a world: time is a number, chance is a seed, and nothing is real.

Which of the ready callbacks runs next is drawn by lot, so that each seed is one interleaving. A
callback runs only after it was made ready, and time moves on when nothing else can: both hold on
every real loop, so what goes wrong here can go wrong there.
"""

import asyncio
import sys
from asyncio import events
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from random import Random
from types import coroutine
from typing import Any

import msgspec

NODE: ContextVar[str | None] = ContextVar("node", default=None)
"""The node that a callback belongs to; None: the world outside."""

MOST_STEPS = 300_000
ROUSED_SECONDS = 0.5


class Stuck(Exception):
    """Nothing is ready and no timer is set, or it never ends."""


class Callback(msgspec.Struct, eq=False):
    """A callback that waits for its turn."""

    callback: Callable[..., Any]
    args: tuple[Any, ...]
    context: Context
    due: float = 0.0
    dropped: bool = False

    def cancel(self) -> None:
        self.dropped = True

    def cancelled(self) -> bool:
        return self.dropped

    def when(self) -> float:
        return self.due


@coroutine
def turn() -> Iterator[None]:
    """Let others go first, once."""
    yield


class NumberedTask(asyncio.Task[Any]):
    """Hashed by its number: a set of tasks has the same order in every replay."""

    __slots__ = ("node", "number")
    number: int
    node: str | None

    def __hash__(self) -> int:
        return self.number


class SimLoop(asyncio.AbstractEventLoop):
    def __init__(self, dice: Random, *, width: int, tick: float) -> None:
        self._dice = dice
        self._width = width
        """From how many of the oldest ready callbacks the next is drawn; one: strictly in order."""
        self._tick = tick
        """How long a step takes."""
        self.now = 0.0
        self._ready: list[Callback] = []
        self._timers: list[tuple[float, int, Callback]] = []
        self._parked: list[Callback] = []
        self._frozen: dict[str, None] = {}
        self._thawed: dict[str, float] = {}
        self._count = 0
        self.steps = 0
        self.broken = False
        """Something was found: stop at once."""
        self.closed = False
        self.tasks: list[NumberedTask] = []
        self.on_mistake: Callable[[str], None] = _nothing

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run until `main` is done or something is found."""
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=self._left_to_the_collector)
        events._set_running_loop(self)
        try:
            task = self.create_task(main)
            self._spin(task.done)
            if task.done() and not task.cancelled() and not self.broken:
                task.result()
        finally:
            events._set_running_loop(None)
            sys.set_asyncgen_hooks(*before)

    def wind_up(self, steps: int) -> None:
        """Give what was cancelled some steps to unwind, whatever was found."""
        events._set_running_loop(self)
        try:
            self.broken = False
            self._spin(bool, most=self.steps + steps)
        except Stuck:
            pass
        finally:
            events._set_running_loop(None)
            self.closed = True

    def forget(self) -> None:
        """Let go of all that ran here, so that it does not have to be collected."""
        for held in (self.tasks, self._ready, self._timers, self._parked):
            held.clear()
        self.on_mistake = _nothing

    def _spin(self, is_done: Callable[[], bool], *, most: int = MOST_STEPS) -> None:
        ready, timers, frozen = self._ready, self._timers, self._frozen
        random, width, tick = self._dice.random, self._width, self._tick
        while not self.broken and not is_done():
            while timers and (timers[0][0] <= self.now or timers[0][2].dropped):
                ready.append(heappop(timers)[2])
            if not ready:
                if not timers:
                    raise Stuck("nobody will ever wake anyone")
                self.now = timers[0][0]
                continue
            among = min(len(ready), width)
            call = ready.pop(int(random() * among) if among > 1 else 0)
            if call.dropped:
                continue
            if frozen and (call.context.get(NODE) or "") in frozen:
                self._parked.append(call)
                continue
            self.steps += 1
            self.now += tick
            if self.steps > most:
                raise Stuck("it does not come to rest")
            call.context.run(call.callback, *call.args)

    def freeze(self, node: str) -> None:
        """Stop the node in its tracks, as SIGSTOP would."""
        self._frozen[node] = None

    def stands_still(self, node: str) -> bool:
        """Whether it is stopped, or was until a moment ago and has not come round yet."""
        return node in self._frozen or self.now < self._thawed.get(node, 0.0) + ROUSED_SECONDS

    def thaw(self, node: str) -> None:
        if node in self._frozen:
            self._thawed[node] = self.now
        self._frozen.pop(node, None)
        self._ready += self._parked
        self._parked.clear()

    def time(self) -> float:
        return self.now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Callback:
        call = Callback(callback, args, copy_context() if context is None else context)
        if not self.closed:
            self._ready.append(call)
        return call

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> Callback:
        return self.call_at(self.now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Callback:
        timer = Callback(callback, args, copy_context() if context is None else context, when)
        if not self.closed:
            self._count += 1
            heappush(self._timers, (when, self._count, timer))
        return timer

    async def sleep(self, seconds: float) -> None:
        """As asyncio.sleep, for those who know the loop."""
        if seconds <= 0.0:
            await turn()
            return
        woken: asyncio.Future[None] = asyncio.Future(loop=self)
        timer = Callback(_wake, (woken,), copy_context(), self.now + seconds)
        self._count += 1
        heappush(self._timers, (timer.due, self._count, timer))
        try:
            await woken
        finally:
            timer.dropped = True

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self,
        coro: Coroutine[Any, Any, Any],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        node = NODE.get() if context is None else context.get(NODE)
        # Its number first: asyncio puts it in a set. And a name, or it has to make one up.
        task = NumberedTask.__new__(NumberedTask)
        task.number = len(self.tasks)
        task.node = node
        task.__init__(coro, loop=self, name=name or "task", context=context)  # type: ignore[misc]
        self.tasks.append(task)
        return task

    def get_task_factory(self) -> None:
        """Tasks are made in one way only."""

    get_debug = staticmethod(bool)
    """Never. Every future asks, so it is a call without a frame."""

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self.closed

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.closed:
            self.on_mistake(f"{context.get('message')}: {context.get('exception')!r}")

    def run_in_executor(self, *args: Any) -> Any:  # type: ignore[override]
        raise RuntimeError("there are no threads here")

    def call_soon_threadsafe(  # type: ignore[override]
        self, *args: Any, **options: Any
    ) -> Any:
        raise RuntimeError("there are no threads here")

    def _left_to_the_collector(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self.closed:
            self.on_mistake(f"nobody closed {generator!r}")


def _nothing(said: str) -> None:
    """Nobody listens."""


def _wake(sleeper: "asyncio.Future[None]") -> None:
    if not sleeper.cancelled():
        sleeper.set_result(None)
