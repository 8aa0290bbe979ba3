"""A stop gets through, also while nothing can be stored."""

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest

from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.principal import OWNER
from tenuto.core.run import Ending, Run
from tenuto.core.session import Session
from tenuto.core.value import RunId, SessionId
from tenuto.engine import stops
from tenuto.engine.engine import Switchboard
from tenuto.engine.work import Work
from tests.engine.picky import PickyStore
from tests.mutation.stage import HeldWorker, Stage
from tests.support.narrow import NarrowStore

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]
LIMIT_SECONDS = 8.0
FULL = StorageTrouble("the disk is full: the database cannot grow")


class Listed(HeldWorker):
    """Tells which runs it was given, and when one was stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.began_runs: list[RunId] = []
        self.stopped = asyncio.Event()

    async def work(self, work: Work) -> Ending:
        self.began_runs.append(work.run.id)
        try:
            return await super().work(work)
        except asyncio.CancelledError:
            self.stopped.set()
            raise


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setattr(stops, "SETTLE_SECONDS", 0.2)
    switchboard = Switchboard()
    stage = Stage(PickyStore(switchboard), switchboard)
    stage.worker = Listed()
    stage.driver._worker = stage.worker
    yield stage
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)
    await stage.stops.close()


def store_of(stage: Stage) -> PickyStore:
    assert isinstance(stage.store, PickyStore)
    return stage.store


def worker_of(stage: Stage) -> Listed:
    assert isinstance(stage.worker, Listed)
    return stage.worker


def fill(stage: Stage) -> None:
    store = store_of(stage)
    store.refusal, store.refuses, store.refuse_appends = FULL, lambda change: True, True


def make_room(stage: Stage) -> None:
    store = store_of(stage)
    store.refuses, store.refuse_appends = None, False


async def ended(stage: Stage, run: Run) -> Run:
    async with asyncio.timeout(LIMIT_SECONDS):
        return await stage.endings.of(run.id, seconds=LIMIT_SECONDS)


async def test_on_a_full_disk_a_cancel_stops_the_work_at_once_and_is_stored_later(
    stage: Stage,
) -> None:
    life = await stage.session()
    active = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(stage).began.wait()
    queued = await life.accept("two")
    fill(stage)
    receipt = await stage.stops.cancel_session(life.id, by=OWNER)
    assert worker_of(stage).stopped.is_set()
    assert (receipt.cancelled, receipt.settled) == ((active.id, queued.id), False)
    make_room(stage)
    for run in (active, queued):
        done = await ended(stage, run)
        assert (done.status, done.reason) == ("cancelled", "user")
    assert worker_of(stage).began_runs == [active.id]


async def test_what_a_cancel_covers_does_not_start_before_the_cancel_is_stored(
    stage: Stage,
) -> None:
    life = await stage.session()
    active = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(stage).began.wait()
    queued = await life.accept("two")
    store = store_of(stage)
    # There is room for everything but the mark.
    store.refusal, store.refuses = FULL, lambda change: change.control.cancels.mark > 0
    await stage.stops.cancel_session(life.id, by=OWNER)
    assert (await ended(stage, active)).status == "cancelled"
    await anyio.wait_all_tasks_blocked()
    assert worker_of(stage).began_runs == [active.id]
    make_room(stage)
    assert (await ended(stage, queued)).status == "cancelled"
    assert worker_of(stage).began_runs == [active.id]


async def test_what_is_accepted_after_such_a_cancel_runs(stage: Stage) -> None:
    life = await stage.session()
    await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(stage).began.wait()
    fill(stage)
    await stage.stops.cancel_session(life.id, by=OWNER)
    worker_of(stage).may_end.set()
    make_room(stage)
    # Before the mark is tried again.
    later = await life.accept("two")
    assert (await ended(stage, later)).status == "completed"


async def test_on_a_full_disk_one_run_can_be_stopped_by_its_id(stage: Stage) -> None:
    life = await stage.session()
    active = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(stage).began.wait()
    queued = await life.accept("two")
    fill(stage)
    seen = await stage.stops.cancel_run(active.id, by=OWNER)
    assert worker_of(stage).stopped.is_set()
    assert not seen.ended
    worker_of(stage).may_end.set()
    make_room(stage)
    assert (await ended(stage, active)).status == "cancelled"
    assert (await ended(stage, queued)).status == "completed"


async def test_a_cancel_of_what_one_may_not_see_stops_nothing() -> None:
    switchboard = Switchboard()
    store = NarrowStore(switchboard)
    stage = Stage(store, switchboard)
    life = await stage.session()
    run = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()
    store.hidden = life.id
    with pytest.raises(NotFound):
        await stage.stops.cancel_session(life.id, by=OWNER)
    with pytest.raises(NotFound):
        await stage.stops.cancel_run(run.id, by=OWNER)
    stage.worker.may_end.set()
    assert (await ended(stage, run)).status == "completed"


class Unreadable:
    """A view of a disk that has gone."""

    async def session(self, session_id: SessionId) -> Session:
        raise FULL


async def test_where_nothing_can_be_read_a_cancel_still_stops_the_work(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = await stage.session()
    active = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await worker_of(stage).began.wait()
    fill(stage)
    monkeypatch.setattr(store_of(stage), "seen_by", lambda who: Unreadable())
    assert not (await stage.stops.cancel_session(life.id, by=OWNER)).settled
    assert worker_of(stage).stopped.is_set()
    make_room(stage)
    assert (await ended(stage, active)).status == "cancelled"
