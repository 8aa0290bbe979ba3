"""A node that cannot keep its lease stops what it runs before others may take it."""

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.principal import OWNER
from tenuto.core.run import Mode, Run
from tenuto.engine.checking import Draft
from tenuto.engine.engine import Switchboard
from tenuto.ports.query import NodeCard, Pulse
from tenuto.ports.store import Sink
from tests.engine.doubtful import DoubtfulStore
from tests.engine.harness import EngineHarness, HeldWorker
from tests.engine.together import LIMIT_SECONDS

pytestmark = pytest.mark.anyio

DRAFT = Draft(input="hello", model="none", mode=Mode.CHAT)


class Faint(DoubtfulStore):
    """Its heart can be stopped."""

    is_out_of_reach = False

    def __init__(self, sink: Sink) -> None:
        super().__init__(sink)
        self.beats = 0
        self.beaten_often = asyncio.Event()
        """For longer than one lease lasts."""

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        if self.is_out_of_reach:
            raise StorageTrouble("nobody is there")
        self.beats += 1
        if self.beats == 60:
            self.beaten_often.set()
        return await super().heartbeat(card, seconds=seconds)


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> Faint:
    monkeypatch.setattr("tenuto.engine.heart.BEAT_SECONDS", 0.01)
    monkeypatch.setattr("tenuto.engine.heart.AGAIN_SECONDS", 0.01)
    monkeypatch.setattr("tenuto.engine.coordinator.RETRY_SECONDS", 0.01)
    return Faint(Switchboard())


@pytest.fixture
async def harness(store: Faint) -> AsyncIterator[EngineHarness]:
    switchboard = Switchboard()
    store._sink = switchboard
    harness = EngineHarness(store, switchboard, lease_seconds=0.3)
    await harness.heart.beat()
    beating = asyncio.create_task(harness.heart.watch())
    yield harness
    beating.cancel()
    await asyncio.gather(beating, return_exceptions=True)
    store.is_out_of_reach = False
    await harness.coordinator.drain(0)
    await harness.engine.stop()


async def begun(harness: EngineHarness) -> Run:
    driven = await harness.session()
    run = await harness.inbox.accept(driven.id, DRAFT, by=OWNER)
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.began.wait()
    return run


@pytest.mark.guarantee("E10")
async def test_a_node_that_cannot_keep_its_lease_stops_what_it_runs(
    harness: EngineHarness, store: Faint
) -> None:
    run = await begun(harness)
    store.is_out_of_reach = True
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.stopped.wait()
        last = await harness.endings.of(run.id, seconds=None)
    # Nobody else has ended it, so its own node says why.
    assert (last.status, last.reason) == ("failed", "storage")


async def test_without_a_lease_nothing_starts_and_with_the_next_it_does(
    harness: EngineHarness, store: Faint
) -> None:
    run = await begun(harness)
    store.is_out_of_reach = True
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.stopped.wait()
        await harness.endings.of(run.id, seconds=None)
    harness.worker = harness.driver._worker = HeldWorker()
    more = await harness.inbox.accept(run.session_id, DRAFT, by=OWNER)
    await anyio.wait_all_tasks_blocked()
    assert (await store.run(more.id)).status == "queued"
    store.is_out_of_reach = False
    with anyio.fail_after(LIMIT_SECONDS):
        await harness.worker.began.wait()
    assert (await store.run(more.id)).status == "running"


async def test_who_beats_keeps_what_it_runs(harness: EngineHarness, store: Faint) -> None:
    run = await begun(harness)
    with anyio.fail_after(LIMIT_SECONDS):
        await store.beaten_often.wait()
    assert (await store.run(run.id)).status == "running"
    assert not harness.worker.stopped.is_set()


async def test_where_only_one_node_can_be_no_lease_is_lost(
    harness: EngineHarness, store: Faint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "shared", False)
    await harness.heart.stop()
    await harness.heart.beat()
    run = await begun(harness)
    store.is_out_of_reach = True
    with anyio.move_on_after(0.5):
        await harness.worker.stopped.wait()
    assert (await store.run(run.id)).status == "running"
    assert not harness.worker.stopped.is_set()


async def test_a_beat_that_says_that_something_was_kept_has_it_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    switchboard = Switchboard()
    store = Faint(switchboard)
    harness = EngineHarness(store, switchboard)
    looks: list[str] = []
    switchboard.on_kept_moved.append(lambda: looks.append("look"))
    numbers = iter([7, 7, 8, 8])

    async def heartbeat(card: NodeCard, *, seconds: float) -> Pulse:
        return Pulse(kept=next(numbers))

    monkeypatch.setattr(store, "heartbeat", heartbeat)
    for expected in (1, 1, 2, 2):
        await harness.heart.beat()
        assert len(looks) == expected
