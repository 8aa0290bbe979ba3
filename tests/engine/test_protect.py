"""A last write outlives whoever is told to go; upkeep outlives whatever it meets."""

import asyncio
from collections.abc import Sequence

import anyio
import pytest

from tenuto.core import starting
from tenuto.core.run import RunStatus
from tenuto.core.value import NodeId
from tenuto.engine.driver import Active
from tenuto.engine.engine import Switchboard
from tenuto.engine.protect import finish
from tenuto.engine.upkeep import keep_going
from tenuto.ports.query import NodeCard, Orphan, Pulse
from tests.engine.harness import EngineHarness
from tests.engine.picky import PickyStore
from tests.engine.test_lane import RacyStore

pytestmark = pytest.mark.anyio
LIMIT_SECONDS = 8.0


async def test_work_that_is_protected_ends_although_its_caller_is_cancelled_twice() -> None:
    may_end, done = asyncio.Event(), False

    async def work() -> str:
        nonlocal done
        await may_end.wait()
        done = True
        return "done"

    caller = asyncio.create_task(finish(work(), seconds=LIMIT_SECONDS))
    for _ in range(2):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done


async def test_protected_work_that_does_not_end_is_given_up() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    caller = asyncio.create_task(finish(work(), seconds=0.01))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(LIMIT_SECONDS):
            await caller
    await asyncio.sleep(0)
    assert ended.is_set()


async def test_what_protected_work_gives_or_raises_comes_out() -> None:
    async def give() -> str:
        return "given"

    async def fail() -> None:
        raise ValueError("no")

    assert await finish(give(), seconds=1.0) == "given"
    with pytest.raises(ValueError, match="no"):
        await finish(fail(), seconds=1.0)


async def test_a_lane_that_is_cancelled_while_it_settles_still_writes_the_ending() -> None:
    """As the product does it: `Task.cancel()`, which no scope of anyio's holds back."""
    store = RacyStore(Switchboard())
    harness = EngineHarness(store, Switchboard())
    driven = await harness.session()
    run = await driven.accept("one")
    started, _ = await store.commit(
        driven.id, lambda desk: starting.start_next(desk, driven.moment())
    )
    store.held = asyncio.Event()
    harness.worker.may_end.set()
    lane = asyncio.create_task(harness.driver.drive(Active(started)))
    await harness.worker.began.wait()
    # Its work is done, and it waits for its words to be stored.
    await anyio.wait_all_tasks_blocked()
    lane.cancel()
    await anyio.wait_all_tasks_blocked()
    store.held.set()
    with pytest.raises(asyncio.CancelledError):
        await lane
    assert (await store.run(run.id)).status is RunStatus.COMPLETED


async def test_upkeep_that_dies_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenuto.engine.upkeep.AGAIN_SECONDS", 0.0)
    sessions, thrice = 0, asyncio.Event()

    async def work() -> None:
        nonlocal sessions
        sessions += 1
        if sessions == 3:
            thrice.set()
        if sessions % 2:
            raise KeyError("never thought of")

    upkeep = asyncio.create_task(keep_going("work", work))
    async with asyncio.timeout(LIMIT_SECONDS):
        await thrice.wait()
    upkeep.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upkeep


class FaultyStore(PickyStore):
    """Its heart stops for a moment in a way that nobody has a name for."""

    def __init__(self, switchboard: Switchboard) -> None:
        super().__init__(switchboard)
        self.beats = self.looks = 0
        self.beaten_thrice, self.looked_thrice = asyncio.Event(), asyncio.Event()

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        self.beats += 1
        if self.beats == 3:
            self.beaten_thrice.set()
        if self.beats == 1:
            raise KeyError("never thought of")
        return await super().heartbeat(card, seconds=seconds)

    async def orphans(self, node: NodeId) -> Sequence[Orphan]:
        self.looks += 1
        if self.looks == 3:
            self.looked_thrice.set()
        if self.looks == 1:
            raise KeyError("never thought of")
        return await super().orphans(node)


@pytest.mark.parametrize("part", ["heart", "rescuer"])
async def test_heart_and_rescuer_go_on_after_a_round_that_failed(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenuto.engine.rescuer.ROUND_SECONDS", 0.0)
    monkeypatch.setattr("tenuto.engine.rescuer.AGAIN_SECONDS", 0.0)
    monkeypatch.setattr("tenuto.engine.heart.ALONE_BEAT_SECONDS", 0.0)
    monkeypatch.setattr("tenuto.engine.heart.AGAIN_SECONDS", 0.0)
    store = FaultyStore(Switchboard())
    harness = EngineHarness(store, Switchboard())
    await harness.session()
    watch = {"heart": harness.engine.heart.watch, "rescuer": harness.rescuer.watch}[part]
    thrice = {"heart": store.beaten_thrice, "rescuer": store.looked_thrice}[part]
    watching = asyncio.create_task(watch())
    async with asyncio.timeout(LIMIT_SECONDS):
        await thrice.wait()
    assert not watching.done()
    watching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watching
