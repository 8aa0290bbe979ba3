"""What is changed in libraries while schedules are played: once, for however many there are."""

import logging
import warnings
from asyncio import events, tasks
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from anyio._backends._asyncio import CancelScope
from anyio._core import _eventloop as anyio_library

from tenuto.storage.memory import store as memory
from tests.proof.sim.loop import SimLoop, turn


@contextmanager
def patched() -> Iterator[None]:
    """Where worlds can be played: errors in the log are heard, orders are steady, time is saved."""
    with ExitStack() as changes, warnings.catch_warnings():
        # A task that is killed before its first step leaves a coroutine that nobody awaits.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        changes.enter_context(_listening())
        # anyio keeps scopes in sets: hash them by their task, so that these have a steady order.
        changes.enter_context(_set(CancelScope, "__hash__", _number_of_its_task))
        # Nobody has to find out again and again which library this is.
        is_asyncio = "asyncio".__str__
        changes.enter_context(_set(anyio_library, "current_async_library", is_asyncio))
        # The memory store's checkpoints are turns, and nothing else.
        changes.enter_context(_set(memory, "checkpoint", turn))
        # Every task is in its loop's own list; in another one of all tasks it would only cost.
        changes.enter_context(_set(_all_tasks(), "add", id))
        yield


def _number_of_its_task(scope: Any) -> int:
    return int(scope._host_task.number)


def _all_tasks() -> Any:
    """Where asyncio registers tasks; a newer Python has another name for it."""
    return vars(tasks).get("_all_tasks", vars(tasks).get("_scheduled_tasks"))


@contextmanager
def _set(thing: Any, name: str, value: Any) -> Iterator[None]:
    was_its_own = name in vars(thing)
    before = getattr(thing, name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        if was_its_own:
            setattr(thing, name, before)
        else:
            delattr(thing, name)


EXPECTED = ("StorageTrouble", "InDoubt", "Unstorable", "Odd", "Dead")


class Mistakes(logging.Handler):
    """An error in the log is a mistake, unless it tells of a store that refused."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        loop = events._get_running_loop()
        if type(error).__name__ not in EXPECTED and isinstance(loop, SimLoop):
            loop.on_mistake(f"an error was logged: {logging.Formatter().format(record)}")


@contextmanager
def _listening() -> Iterator[None]:
    logger, ear = logging.getLogger("tenuto"), Mistakes(logging.ERROR)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.addHandler(ear)
    try:
        yield
    finally:
        logger.removeHandler(ear)
        logger.setLevel(level)
        logger.propagate = propagate
