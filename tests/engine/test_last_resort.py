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
from tenuto.core.principal import OWNER
from tenuto.core.run import Usage
from tenuto.core.value import NodeId, RunId
from tenuto.engine.engine import Switchboard
from tenuto.engine.work import Work
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.engine.harness import EngineHarness
from tests.engine.picky import PickyStore, ends, ends_with_parts, ends_with_usage

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

    def __init__(self, harness: EngineHarness) -> None:
        self._inner = harness.worker

    async def work(self, work: Work) -> object:
        work.meter.request(4)
        work.meter.report(Usage(input_tokens=3, output_tokens=2))
        work.meter.close()
        self._inner.say = self.say
        return await self._inner.work(work)


@pytest.fixture
async def harness() -> AsyncIterator[EngineHarness]:
    switchboard = Switchboard()
    harness = EngineHarness(PickyStore(switchboard), switchboard)
    harness.driver._worker = Talker(harness)  # type: ignore[assignment]
    harness.worker.may_end.set()
    yield harness
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


def picky(harness: EngineHarness) -> PickyStore:
    assert isinstance(harness.store, PickyStore)
    return harness.store


async def ending(harness: EngineHarness, run_id: RunId) -> tuple[str, str | None]:
    async with asyncio.timeout(LIMIT_SECONDS):
        run = await harness.endings.of(run_id, seconds=LIMIT_SECONDS)
    return run.status, run.reason


@pytest.mark.parametrize("refusal", ANYTHING, ids=called)
@pytest.mark.parametrize("times", [1, 2, 5])
async def test_an_ending_that_is_refused_a_few_times_is_written(
    harness: EngineHarness, refusal: Exception, times: int
) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal = refusal
    left = times

    def for_a_while(change: Change[Any]) -> bool:
        nonlocal left
        if not ends(change):
            return False
        left -= 1
        return left >= 0

    store.refuses = for_a_while
    run = await driven.accept("one")
    status, _ = await ending(harness, run.id)
    assert status in ("completed", "failed")
    assert store.refused == times


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_a_run_whose_usage_cannot_be_stored_ends_as_it_did_without_it(
    harness: EngineHarness, refusal: Exception
) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal, store.refuses = refusal, ends_with_usage
    run = await driven.accept("one")
    assert await ending(harness, run.id) == ("completed", "end_turn")
    assert (await store.run(run.id)).usage == Usage(exact=False)
    assert (await store.snapshot(driven.id)).messages[-1].text() == "Hello"


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_a_run_whose_answer_cannot_be_stored_ends_all_the_same(
    harness: EngineHarness, refusal: Exception
) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal, store.refuses = refusal, ends_with_parts
    run = await driven.accept("one")
    assert await ending(harness, run.id) == ("failed", "internal")
    answer = (await store.snapshot(driven.id)).messages[-1]
    assert (answer.run_id, answer.finish_reason) == (run.id, "error")


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
async def test_what_cannot_be_recorded_fails_the_run_and_the_next_one_runs(
    harness: EngineHarness, refusal: Exception
) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal, store.refuse_appends = refusal, True
    first = await driven.accept("one")
    status, reason = await ending(harness, first.id)
    assert (status, reason) == ("failed", "internal")
    store.refuse_appends = False
    second = await driven.accept("two")
    assert await ending(harness, second.id) == ("completed", "end_turn")


async def test_a_cancel_settles_a_run_that_cannot_be_recorded(harness: EngineHarness) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal, store.refuse_appends = ValueError("no"), True
    harness.worker.may_end.clear()
    run = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()
        receipt = await harness.stops.cancel_session(driven.id, by=OWNER)
    assert receipt.settled
    assert await ending(harness, run.id) == ("cancelled", "user")


# A session that is not found has no run to start; the rescuer's rounds look again.
STARTS = [one for one in ANYTHING if not isinstance(one, NotFound)]


@pytest.mark.parametrize("refusal", STARTS, ids=called)
async def test_a_lane_that_cannot_start_a_run_tries_again(
    harness: EngineHarness, refusal: Exception
) -> None:
    driven = await harness.session()
    store = picky(harness)
    store.refusal = refusal
    left = 1

    def the_first_start(change: Change[Any]) -> bool:
        nonlocal left
        starts = any(isinstance(event, RunStarted) for event in change.events)
        left -= starts
        return starts and left >= 0

    store.refuses = the_first_start
    run = await driven.accept("one")
    assert (await ending(harness, run.id))[0] == "completed"
    assert store.refused == 1


@pytest.mark.parametrize("refusal", FOR_GOOD, ids=called)
@pytest.mark.parametrize("refuses", [ends_with_usage, ends_with_parts])
async def test_what_a_crash_left_is_ended_whatever_is_refused(
    refusal: Exception, refuses: object
) -> None:
    store = PickyStore(Switchboard())
    harness = EngineHarness(store, Switchboard())
    driven = await harness.session()
    run = await driven.accept("one")
    gone = DrivenSession(store, driven.id, node=NodeId("node_gone"))
    await gone.start()
    await gone.say("Hel", "lo")
    store.refusal, store.refuses = refusal, refuses  # type: ignore[assignment]
    await harness.rescuer.round()
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
    harness = EngineHarness(store, switchboard)  # type: ignore[arg-type]
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    harness.worker.say, before = half, harness.worker.say
    harness.worker.may_end.set()
    first = await driven.accept("one")
    assert await ending(harness, first.id) == ("failed", "internal")
    harness.worker.say = before
    second = await driven.accept("two")
    assert await ending(harness, second.id) == ("completed", "end_turn")
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)
    await store.close()
