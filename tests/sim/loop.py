"""An event loop without a world: time is a number, chance is a seed, and nothing is real.

Which of the ready callbacks runs next is drawn by lot, so that each seed is one interleaving. A
callback runs only after it was made ready, and time moves on when nothing else can: both hold on
every real loop, so what goes wrong here can go wrong there.
"""

import asyncio
import heapq
import sys
from asyncio import events
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any

from anyio._backends._asyncio import CancelScope

NODE: ContextVar[str | None] = ContextVar("node", default=None)
"""The node that a callback belongs to; None: the world outside."""

MOST_STEPS = 300_000


class Stuck(Exception):
    """Nothing is ready and no timer is set, or it never ends."""


class Call:
    """A callback that waits for its turn."""

    __slots__ = ("args", "callback", "context", "dropped")

    def __init__(self, callback: Callable[..., Any], args: Any, context: Context | None) -> None:
        self.callback = callback
        self.args = args
        self.context = context if context is not None else copy_context()
        self.dropped = False

    def cancel(self) -> None:
        self.dropped = True

    def cancelled(self) -> bool:
        return self.dropped


class Timer(Call):
    __slots__ = ("due", "number")

    def __init__(
        self,
        due: float,
        number: int,
        callback: Callable[..., Any],
        args: Any,
        context: Context | None,
    ) -> None:
        super().__init__(callback, args, context)
        self.due = due
        self.number = number

    def when(self) -> float:
        return self.due

    def __lt__(self, other: "Timer") -> bool:
        return (self.due, self.number) < (other.due, other.number)


class NumberedTask(asyncio.Task[Any]):
    """Hashed by its number: a set of tasks has the same order in every replay."""

    def __init__(self, number: int, node: str | None, *args: Any, **options: Any) -> None:
        self.number = number
        self.node = node
        super().__init__(*args, **options)

    def __hash__(self) -> int:
        return self.number


@contextmanager
def steady_scopes() -> Iterator[None]:
    """anyio keeps scopes in sets: hash them by their task, so that these have a steady order too."""
    scopes: Any = CancelScope
    before = scopes.__hash__
    scopes.__hash__ = lambda scope: hash(scope._host_task)
    try:
        yield
    finally:
        scopes.__hash__ = before


class SimLoop(asyncio.AbstractEventLoop):
    def __init__(self, dice: Random, *, width: int, tick: float) -> None:
        self._dice = dice
        self._width = width
        """From how many of the oldest ready callbacks the next is drawn; one: strictly in order."""
        self._tick = tick
        """How long a step takes."""
        self._now = 0.0
        self._ready: list[Call] = []
        self._timers: list[Timer] = []
        self._parked: list[Call] = []
        self._frozen: dict[str, None] = {}
        self._count = 0
        self.steps = 0
        self.broken = False
        """Something was found: stop at once."""
        self.closed = False
        self.tasks: list[NumberedTask] = []
        self.on_mistake: Callable[[str], None] = lambda said: None

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run until `main` is done or something is found."""
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=self._left_to_the_collector)
        events._set_running_loop(self)
        try:
            task = self.create_task(main)
            with steady_scopes():
                self._spin(task)
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
            with steady_scopes():
                self._spin(None, most=self.steps + steps)
        except Stuck:
            pass
        finally:
            events._set_running_loop(None)
            self.closed = True

    def _spin(self, until: asyncio.Task[Any] | None, *, most: int = MOST_STEPS) -> None:
        ready, timers, random = self._ready, self._timers, self._dice.random
        while not self.broken and not (until is not None and until.done()):
            while timers and (timers[0].dropped or timers[0].due <= self._now):
                ready.append(heapq.heappop(timers))
            if not ready:
                if not timers:
                    raise Stuck("nobody will ever wake anyone")
                self._now = timers[0].due
                continue
            among = min(len(ready), self._width)
            call = ready.pop(int(random() * among) if among > 1 else 0)
            if call.dropped:
                continue
            if self._frozen and (call.context.get(NODE) or "") in self._frozen:
                self._parked.append(call)
                continue
            self.steps += 1
            self._now += self._tick
            if self.steps > most:
                raise Stuck("it does not come to rest")
            call.context.run(call.callback, *call.args)

    def freeze(self, node: str) -> None:
        """Stop the node in its tracks, as SIGSTOP would."""
        self._frozen[node] = None

    def thaw(self, node: str) -> None:
        self._frozen.pop(node, None)
        self._ready += self._parked
        self._parked.clear()

    def time(self) -> float:
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Call:
        call = Call(callback, args, context)
        if not self.closed:
            self._ready.append(call)
        return call

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., Any],
        *args: Any,
        context: Context | None = None,
    ) -> Timer:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> Timer:
        self._count += 1
        timer = Timer(when, self._count, callback, args, context)
        if not self.closed:
            heapq.heappush(self._timers, timer)
        return timer

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
        task = NumberedTask(len(self.tasks), node, coro, loop=self, name=name, context=context)
        self.tasks.append(task)
        return task

    def get_task_factory(self) -> None:
        """Tasks are made in one way only."""

    def get_debug(self) -> bool:
        return False

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
