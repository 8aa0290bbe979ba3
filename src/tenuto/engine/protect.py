"""Work that must come to its end although whoever asked for it is told to go."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


async def finish(work: Coroutine[Any, Any, T], *, seconds: float) -> T:
    """Do the work; a cancel comes out only when it is done, or this long after the cancel.

    The work is a task of its own: no scope of anyio's holds back `Task.cancel()`, which is how
    lanes and requests are told to go.
    """
    task = asyncio.ensure_future(work)
    with anyio.CancelScope(shield=True):
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await _wait(task, seconds)
            raise
    return task.result()


async def _wait(task: "asyncio.Future[Any]", seconds: float) -> None:
    """However often we are cancelled meanwhile."""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + seconds
    while not task.done() and (left := give_up_at - loop.time()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:
            continue
    if not task.done():
        task.cancel()
    elif not task.cancelled():
        # Nobody is left to hear of it; whoever wants to be heard logs it.
        task.exception()
