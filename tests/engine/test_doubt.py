"""A commit whose answer was lost is neither lost nor done twice."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from tenuto.core.desk import Change
from tenuto.core.error import InDoubt
from tenuto.core.event import PartDelta, PartStarted, RunAccepted, RunFinished, RunStarted
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, OnDisconnect, Run
from tenuto.core.value import Instant
from tenuto.engine.checking import Draft
from tenuto.engine.engine import Switchboard
from tenuto.ports.query import Once
from tests.conformance.driven import DrivenSession, whole_log
from tests.engine.doubtful import DoubtfulStore
from tests.engine.harness import EngineHarness
from tests.engine.together import LIMIT_SECONDS

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E11")]

DRAFT = Draft(input="hello", model="none", mode=Mode.CHAT)
ATTACHED = replace(DRAFT, on_disconnect=OnDisconnect.CANCEL)


def has(kind: type) -> Any:
    return lambda change: any(isinstance(event, kind) for event in change.events)


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> DoubtfulStore:
    for module in ("coordinator.RETRY", "driver.SETTLE_RETRY", "recorder.RETRY"):
        monkeypatch.setattr(f"tenuto.engine.{module}_SECONDS", 0.01)
    return DoubtfulStore(Switchboard())


@pytest.fixture
async def harness(store: DoubtfulStore) -> AsyncIterator[EngineHarness]:
    switchboard = Switchboard()
    store._sink = switchboard
    harness = EngineHarness(store, switchboard)
    await harness.heart.beat()
    yield harness
    await harness.coordinator.drain(0)
    await harness.engine.stop()


async def ended(harness: EngineHarness, run_id: Any) -> Run:
    with anyio.fail_after(LIMIT_SECONDS):
        return await harness.endings.of(run_id, seconds=None)


async def log_of(driven: DrivenSession, *kinds: type) -> list[type]:
    """Of which of these kinds the events of the log are, in order."""
    log = await whole_log(driven.store, driven.id)
    return [type(event) for event in log if isinstance(event, kinds)]


@pytest.mark.parametrize("is_stored", [True, False])
async def test_a_start_in_doubt_leaves_no_run_without_a_driver(
    harness: EngineHarness, store: DoubtfulStore, is_stored: bool
) -> None:
    driven = await harness.session()
    store.doubts, store.is_stored = has(RunStarted), is_stored
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER)
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.began.wait()
    assert store.lost == 1
    harness.worker.may_end.set()
    assert (await ended(harness, run.id)).status == "completed"
    assert await log_of(driven, RunStarted, RunFinished) == [RunStarted, RunFinished]
    answer = (await store.snapshot(driven.id)).messages[-1]
    assert (answer.text(), answer.finish_reason) == ("Hello", "end_turn")


@pytest.mark.parametrize("is_stored", [True, False])
async def test_what_was_recorded_in_doubt_is_never_sent_again(
    harness: EngineHarness, store: DoubtfulStore, is_stored: bool
) -> None:
    driven = await harness.session()
    store.doubts_append, store.is_stored = True, is_stored
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER)
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.began.wait()
    harness.worker.may_end.set()
    last = await ended(harness, run.id)
    assert (last.status, last.reason) == ("failed", "storage")
    # What was not stored when it was given up was stored while the ending was made.
    assert await log_of(driven, PartStarted, PartDelta) == [PartStarted, PartDelta]
    answer = (await store.snapshot(driven.id)).messages[-1]
    assert answer.text() == "Hello"
    assert (await driven.transcript()).messages()[-1] == answer


@pytest.mark.parametrize("is_stored", [True, False])
async def test_an_ending_in_doubt_is_written_once(
    harness: EngineHarness, store: DoubtfulStore, is_stored: bool
) -> None:
    driven = await harness.session()
    store.doubts, store.is_stored = has(RunFinished), is_stored
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER)
    harness.worker.may_end.set()
    assert (await ended(harness, run.id)).status == "completed"
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.coordinator.until_gone(driven.id)
    assert store.lost == 1
    assert await log_of(driven, RunFinished) == [RunFinished]


@pytest.mark.parametrize("is_stored", [True, False])
async def test_the_same_key_finds_out_what_became_of_a_prompt(
    harness: EngineHarness, store: DoubtfulStore, is_stored: bool
) -> None:
    driven = await harness.session()
    harness.worker.may_end.set()
    store.doubts, store.is_stored = has(RunAccepted), is_stored
    at = Instant("2030-01-01T00:00:00.000Z")
    once = Once(by=OWNER.id, key="k", digest="d", at=at)
    with pytest.raises(InDoubt):
        await harness.inbox.accept(driven.id, DRAFT, by=OWNER, once=once)
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER, once=once)
    assert (await ended(harness, run.id)).status == "completed"
    assert await log_of(driven, RunAccepted) == [RunAccepted]


async def test_a_prompt_in_doubt_whose_connection_is_gone_does_not_run_for_nobody(
    harness: EngineHarness, store: DoubtfulStore
) -> None:
    driven = await harness.session()
    store.doubts = has(RunAccepted)
    with pytest.raises(InDoubt):
        await harness.inbox.accept(driven.id, ATTACHED, by=OWNER)
    (accepted,) = [e for e in await whole_log(store, driven.id) if isinstance(e, RunAccepted)]
    last = await ended(harness, accepted.run.id)
    assert (last.status, last.reason) == ("cancelled", "disconnect")


async def test_a_cancel_in_doubt_is_made_again_until_it_is_known(
    harness: EngineHarness, store: DoubtfulStore
) -> None:
    driven = await harness.session()
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER)
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.began.wait()

    def is_mark(change: Change[Any]) -> bool:
        return bool(change.control.cancels.reasons or change.control.cancels.mark)

    store.doubts, store.is_stored = is_mark, False
    with anyio.fail_after(LIMIT_SECONDS):
        receipt = await harness.stops.cancel_session(driven.id, by=OWNER)
    assert receipt.settled
    assert (await store.run(run.id)).status == "cancelled"
