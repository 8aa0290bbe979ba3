"""Whatever a write raises, once or always, every run gets its ending."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tenuto.core.desk import Change
from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.event import RunStarted
from tenuto.core.run import Usage
from tenuto.core.value import NodeId, RunId
from tenuto.engine.engine import Switchboard
from tenuto.engine.work import Work
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.life import Life, make_workspace
from tests.engine.picky import PickyStore, ends, ends_with_parts, ends_with_usage
from tests.mutation.stage import Stage

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]
LIMIT_SECONDS = 8.0

ANYTHING = [
    ValueError("no"),
    OverflowError("Python int too large to convert to SQLite INTEGER"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    RecursionError("too deep"),
    KeyError("x"),
    MemoryError(),
    AssertionError("never"),
    NotFound("there is no message"),
    StorageTrouble("the disk is full"),
    apsw.ConstraintError("cannot store REAL value in INTEGER column"),
    apsw.TooBigError("string or blob too big"),
]
FOR_GOOD = [one for one in ANYTHING if not isinstance(one, StorageTrouble)]


def called(error: Exception) -> str:
    return type(error).__name__


class Talker:
    """Says what it is told to, and reports that it cost something."""

    say = "Hello"

    def __init__(self, stage: Stage) -> None:
        self._inner = stage.worker

    async def work(self, work: Work) -> object:
        work.meter.request(4)
        work.meter.report(Usage(input_tokens=3, output_tokens=2))
        work.meter.close()
        self._inner.say = self.say
        return await self._inner.work(work)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    switchboard = Switchboard()
    stage = Stage(PickyStore(switchboard), switchboard)
    stage.driver._worker = Talker(stage)  # type: ignore[assignment]
    stage.worker.may_end.set()
    yield stage
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)


def picky(stage: Stage) -> PickyStore:
    assert isinstance(stage.store, PickyStore)
    return stage.store


async def ending(stage: Stage, run_id: RunId) -> tuple[str, str | None]:
    async with asyncio.timeout(LIMIT_SECONDS):
        run = await stage.endings.of(run_id, seconds=LIMIT_SECONDS)
    return run.status, run.reason


@pytest.mark.parametrize("refusal", ANYTHING, ids=called)
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_an_ending_that_is_refused_a_few_times_is_written(
    stage: Stage, refusal: Exception, times: int
) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal = refusal
    left = times

    def for_a_while(change: Change[Any]) -> bool:
        nonlocal left
        if not ends(change):
            return False
        left -= 1
        return left >= 0

    store.refuses = for_a_while
    run = await life.accept("one")
    status, _ = await ending(stage, run.id)
    assert status in ("completed", "failed")
    assert store.refused == times


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_a_run_whose_usage_cannot_be_stored_ends_as_it_did_without_it(
    stage: Stage, refusal: Exception
) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal, store.refuses = refusal, ends_with_usage
    run = await life.accept("one")
    assert await ending(stage, run.id) == ("completed", "end_turn")
    assert (await store.run(run.id)).usage == Usage(exact=False)
    assert (await store.snapshot(life.id)).messages[-1].text() == "Hello"


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_a_run_whose_answer_cannot_be_stored_ends_all_the_same(
    stage: Stage, refusal: Exception
) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal, store.refuses = refusal, ends_with_parts
    run = await life.accept("one")
    assert await ending(stage, run.id) == ("failed", "internal")
    answer = (await store.snapshot(life.id)).messages[-1]
    assert (answer.run_id, answer.finish_reason) == (run.id, "error")


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_what_cannot_be_recorded_fails_the_run_and_the_next_one_runs(
    stage: Stage, refusal: Exception
) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal, store.refuse_appends = refusal, True
    first = await life.accept("one")
    status, reason = await ending(stage, first.id)
    assert (status, reason) == ("failed", "internal")
    store.refuse_appends = False
    second = await life.accept("two")
    assert await ending(stage, second.id) == ("completed", "end_turn")


async def test_a_cancel_settles_a_run_that_cannot_be_recorded(stage: Stage) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal, store.refuse_appends = ValueError("no"), True
    stage.worker.may_end.clear()
    run = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()
        receipt = await stage.stops.cancel_session(life.id)
    assert receipt.settled
    assert await ending(stage, run.id) == ("cancelled", "user")


# A session that is not found has no run to start; the rescuer's rounds look again.
STARTS = [one for one in ANYTHING if not isinstance(one, NotFound)]


@pytest.mark.parametrize("refusal", STARTS, ids=called)
async def test_a_lane_that_cannot_start_a_run_tries_again(stage: Stage, refusal: Exception) -> None:
    life = await stage.session()
    store = picky(stage)
    store.refusal = refusal
    left = 1

    def the_first_start(change: Change[Any]) -> bool:
        nonlocal left
        starts = any(isinstance(event, RunStarted) for event in change.events)
        left -= starts
        return starts and left >= 0

    store.refuses = the_first_start
    run = await life.accept("one")
    assert (await ending(stage, run.id))[0] == "completed"
    assert store.refused == 1


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
@pytest.mark.parametrize("refuses", [ends_with_usage, ends_with_parts])
async def test_what_a_crash_left_is_ended_whatever_is_refused(
    refusal: Exception, refuses: object
) -> None:
    store = PickyStore(Switchboard())
    stage = Stage(store, Switchboard())
    life = await stage.session()
    run = await life.accept("one")
    gone = Life(store, life.id, node=NodeId("node_gone"))
    await gone.start()
    await gone.say("Hel", "lo")
    store.refusal, store.refuses = refusal, refuses  # type: ignore[assignment]
    await stage.rescuer.round()
    ended = await store.run(run.id)
    assert ended.ended
    assert ended.status in ("interrupted", "failed")


HALVES = ["\ud800", "a\udfffb", "\ud83d"]


@pytest.mark.parametrize("half", HALVES, ids=["high", "low", "emoji"])
async def test_half_a_character_that_reaches_the_store_fails_only_its_run(
    tmp_path: Path, half: str
) -> None:
    switchboard = Switchboard()
    store = SqliteStore(tmp_path / "tenuto.db", switchboard)
    await store.open()
    stage = Stage(store, switchboard)  # type: ignore[arg-type]
    await make_workspace(store)
    life = await Life.begin(store)
    stage.worker.say, before = half, stage.worker.say
    stage.worker.may_end.set()
    first = await life.accept("one")
    assert await ending(stage, first.id) == ("failed", "internal")
    stage.worker.say = before
    second = await life.accept("two")
    assert await ending(stage, second.id) == ("completed", "end_turn")
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)
    await store.close()
