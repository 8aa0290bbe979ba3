"""Several engines on one store, as several nodes are."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from tenuto.core.value import NodeId, RunId
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession
from tests.engine.harness import EngineHarness
from tests.support.held_clock import HeldClock

LEFT, RIGHT = NodeId("node_left"), NodeId("node_right")
LIMIT_SECONDS = 10.0


class Together:
    """Two nodes, each with a way of its own to what they share. Leases end when a test says so."""

    def __init__(self, *, left_runs: int = 0, right_runs: int = 0) -> None:
        self.clock = HeldClock()
        left, right = Switchboard(), Switchboard()
        store = MemoryStore(left, clock=self.clock)
        beside = MemoryStore(right, beside=store)
        self.left = EngineHarness(store, left, node_id=LEFT, active_runs=left_runs)
        self.right = EngineHarness(beside, right, node_id=RIGHT, active_runs=right_runs)

    async def beat(self) -> None:
        """Both are alive, and know of each other."""
        for harness in (self.left, self.right, self.left):
            await harness.heart.beat()

    async def session(self) -> DrivenSession:
        """Asked through the node on the right."""
        driven = await self.right.session()
        driven.node = RIGHT
        return driven

    async def runs_on_the_left(self, driven: DrivenSession) -> RunId:
        """A run that works on the left, by now."""
        asked = DrivenSession(self.left.store, driven.id, node=LEFT)
        run = await asked.accept("one")
        with anyio.fail_after(LIMIT_SECONDS):
            await self.left.worker.began.wait()
        return run.id


@asynccontextmanager
async def together(*, left_runs: int = 0, right_runs: int = 0) -> AsyncIterator[Together]:
    nodes = Together(left_runs=left_runs, right_runs=right_runs)
    await nodes.beat()
    yield nodes
    for harness in (nodes.left, nodes.right):
        await harness.coordinator.drain(0)
        await harness.engine.stop()


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again, but not for ever."""
    with anyio.fail_after(LIMIT_SECONDS):
        while not await done():  # noqa: ASYNC110  what is waited for has no event
            await anyio.sleep(0.005)
