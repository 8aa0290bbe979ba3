"""What the simulation found too rarely for a seed of its own: small tests of the same orders."""

import asyncio
from typing import Any

import anyio
import msgspec
import pytest

from tenuto.clock import RandomIds, SystemClock
from tenuto.core import starting
from tenuto.core.message import Message
from tenuto.core.run import Ending, Reason, RunStatus, WhenBusy
from tenuto.core.value import SessionId, StreamId
from tenuto.engine.driver import Active, Driver
from tenuto.engine.node import Node
from tenuto.engine.work import Work
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import NODE, DrivenSession, make_workspace
from tests.conformance.listener import Listener
from tests.oracle.session_log import check_idle_log

pytestmark = pytest.mark.anyio

HERE = Node(id=NODE, clock=SystemClock(), ids=RandomIds())


class StoreWithAQueue(MemoryStore):
    """A write that was asked for is done a little later, also if nobody waits for it any more."""

    def __init__(self) -> None:
        super().__init__(Listener())
        self.holds_next = False
        self.held: asyncio.Task[Any] | None = None
        self.holding = asyncio.Event()
        self._looked = asyncio.Event()

    async def commit(self, *args: Any, **options: Any) -> Any:
        if not self.holds_next:
            return await super().commit(*args, **options)
        self.holds_next = False
        self.held = asyncio.create_task(self._later(super().commit, *args, **options))
        self.holding.set()
        return await asyncio.shield(self.held)

    async def open_message(self, session_id: SessionId) -> Message | None:
        message = await super().open_message(session_id)
        if self.held is not None:
            # The write that waits comes right after this look.
            self._looked.set()
            await self.held
        return message

    async def _later(self, commit: Any, *args: Any, **options: Any) -> Any:
        await self._looked.wait()
        return await commit(*args, **options)


class Steered:
    """Comes to a step boundary, and no further."""

    def __init__(self, store: StoreWithAQueue) -> None:
        self._store = store

    async def work(self, work: Work) -> Ending:
        self._store.holds_next = True
        await work.take_steers()
        await anyio.sleep_forever()
        return Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)


@pytest.mark.guarantee("H10")
async def test_a_stop_while_a_steer_is_on_its_way_ends_the_message_that_is_open_then() -> None:
    store = StoreWithAQueue()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("one")
    started, _ = await store.commit(
        driven.id, lambda desk: starting.start_next(desk, driven.moment())
    )
    await driven.accept("two", when_busy=WhenBusy.STEER)
    active = Active(started)
    driver = Driver(store, Steered(store), HERE, run_seconds=60.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driver.drive, active)
        with anyio.fail_after(10):
            await store.holding.wait()
        active.interrupt()
    page = await store.read(StreamId(driven.id), after=0, limit=1_000)
    log = check_idle_log([msgspec.json.decode(stored.json()) for stored in page.events])
    ends = [message["finish_reason"] for message in log.messages]
    assert ends == ["end_turn", "steered", "end_turn", "interrupted"]
