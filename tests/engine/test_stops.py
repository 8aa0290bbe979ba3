"""A stop gets through, also while nothing can be stored."""

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest

from tenuto.core import editing
from tenuto.core.error import NotFound, ShuttingDown, StorageTrouble
from tenuto.core.principal import OWNER
from tenuto.core.run import Ending, Run
from tenuto.core.session import Session
from tenuto.core.value import RunId, SessionId
from tenuto.engine import stops
from tenuto.engine.engine import Switchboard
from tenuto.engine.work import Work
from tests.engine.harness import EngineHarness, HeldWorker
from tests.engine.picky import PickyStore
from tests.support.narrow import NarrowStore

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]
LIMIT_SECONDS = 8.0
FULL = StorageTrouble("the disk is full: the database cannot grow")


class Listed(HeldWorker):
    """Tells which runs it was given, and when one was stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.began_runs: list[RunId] = []

    async def work(self, work: Work) -> Ending:
        self.began_runs.append(work.run.id)
        return await super().work(work)


@pytest.fixture
async def harness(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EngineHarness]:
    monkeypatch.setattr(stops, "SETTLE_SECONDS", 0.2)
    switchboard = Switchboard()
    harness = EngineHarness(PickyStore(switchboard), switchboard)
    harness.worker = Listed()
    harness.driver._worker = harness.worker
    yield harness
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)
    await harness.stops.close()


def store_of(harness: EngineHarness) -> PickyStore:
    assert isinstance(harness.store, PickyStore)
    return harness.store


def worker_of(harness: EngineHarness) -> Listed:
    assert isinstance(harness.worker, Listed)
    return harness.worker


def fill(harness: EngineHarness) -> None:
    store = store_of(harness)
    store.refusal, store.refuses, store.refuse_appends = FULL, lambda change: True, True


def make_room(harness: EngineHarness) -> None:
    store = store_of(harness)
    store.refuses, store.refuse_appends = None, False


async def ended(harness: EngineHarness, run: Run) -> Run:
    async with asyncio.timeout(LIMIT_SECONDS):
        return await harness.endings.of(run.id, seconds=LIMIT_SECONDS)


async def test_on_a_full_disk_a_cancel_stops_the_work_at_once_and_is_stored_later(
    harness: EngineHarness,
) -> None:
    driven = await harness.session()
    active = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(harness).began.wait()
    queued = await driven.accept("two")
    fill(harness)
    receipt = await harness.stops.cancel_session(driven.id, by=OWNER)
    assert worker_of(harness).stopped.is_set()
    assert (receipt.cancelled, receipt.settled) == ((active.id, queued.id), False)
    make_room(harness)
    for run in (active, queued):
        done = await ended(harness, run)
        assert (done.status, done.reason) == ("cancelled", "user")
    assert worker_of(harness).began_runs == [active.id]


async def test_what_a_cancel_covers_does_not_start_before_the_cancel_is_stored(
    harness: EngineHarness,
) -> None:
    driven = await harness.session()
    active = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(harness).began.wait()
    queued = await driven.accept("two")
    store = store_of(harness)
    # There is room for everything but the mark.
    store.refusal, store.refuses = FULL, lambda change: change.control.cancels.mark > 0
    await harness.stops.cancel_session(driven.id, by=OWNER)
    assert (await ended(harness, active)).status == "cancelled"
    await anyio.wait_all_tasks_blocked()
    assert worker_of(harness).began_runs == [active.id]
    make_room(harness)
    assert (await ended(harness, queued)).status == "cancelled"
    assert worker_of(harness).began_runs == [active.id]


async def test_what_is_accepted_after_such_a_cancel_runs(harness: EngineHarness) -> None:
    driven = await harness.session()
    await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(harness).began.wait()
    fill(harness)
    await harness.stops.cancel_session(driven.id, by=OWNER)
    worker_of(harness).may_end.set()
    make_room(harness)
    # Before the mark is tried again.
    later = await driven.accept("two")
    assert (await ended(harness, later)).status == "completed"


async def test_on_a_full_disk_one_run_can_be_stopped_by_its_id(harness: EngineHarness) -> None:
    driven = await harness.session()
    active = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(harness).began.wait()
    queued = await driven.accept("two")
    fill(harness)
    seen = await harness.stops.cancel_run(active.id, by=OWNER)
    assert worker_of(harness).stopped.is_set()
    assert not seen.ended
    worker_of(harness).may_end.set()
    make_room(harness)
    assert (await ended(harness, active)).status == "cancelled"
    assert (await ended(harness, queued)).status == "completed"


async def test_a_cancel_of_what_one_may_not_see_stops_nothing() -> None:
    switchboard = Switchboard()
    store = NarrowStore(switchboard)
    harness = EngineHarness(store, switchboard)
    driven = await harness.session()
    run = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()
    store.hidden = driven.id
    with pytest.raises(NotFound):
        await harness.stops.cancel_session(driven.id, by=OWNER)
    with pytest.raises(NotFound):
        await harness.stops.cancel_run(run.id, by=OWNER)
    harness.worker.may_end.set()
    assert (await ended(harness, run)).status == "completed"


class GoneDisk:
    """A view of a disk that has gone."""

    async def session(self, session_id: SessionId) -> Session:
        raise FULL


async def test_where_nothing_can_be_read_a_cancel_still_stops_the_work(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = await harness.session()
    active = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(harness).began.wait()
    fill(harness)
    monkeypatch.setattr(store_of(harness), "seen_by", lambda who: GoneDisk())
    assert not (await harness.stops.cancel_session(driven.id, by=OWNER)).settled
    assert worker_of(harness).stopped.is_set()
    make_room(harness)
    assert (await ended(harness, active)).status == "cancelled"


async def test_a_stop_that_comes_while_the_server_stops_leaves_nothing_behind(
    harness: EngineHarness,
) -> None:
    driven = await harness.session()
    fill(harness)
    await harness.stops.close()
    before = asyncio.all_tasks()
    with pytest.raises(ShuttingDown):
        await harness.stops.cancel_session(driven.id, by=OWNER)
    assert asyncio.all_tasks() == before


class Lingering(Listed):
    """Does not stop when it is told to, before the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.may_stop = asyncio.Event()

    async def work(self, work: Work) -> Ending:
        try:
            return await super().work(work)
        finally:
            with anyio.CancelScope(shield=True):
                await self.may_stop.wait()


async def test_a_stop_beside_a_delete_is_not_settled_while_the_work_goes_on(
    harness: EngineHarness,
) -> None:
    worker = harness.driver._worker = Lingering()
    driven = await harness.session()
    await driven.accept("Hi")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker.began.wait()
    stopping = asyncio.create_task(harness.stops.cancel_session(driven.id, by=OWNER))
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker.stopped.wait()
        # The first half of a delete; then the rescuer finds a run without an owner, and ends it.
        moment = harness.node.moment(by=OWNER)
        await harness.store.commit(driven.id, lambda desk: editing.shut(desk, moment))
        await harness.rescuer.round()
        receipt = await stopping
    worker.may_stop.set()
    assert not receipt.settled
