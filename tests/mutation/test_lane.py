"""Races of one lane, each made to happen: the mutants that fall into them are caught here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from tenuto.core.event import Event
from tenuto.core.message import TextPart
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Control, Fence
from tenuto.core.value import RunId, SessionId
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.life import Life
from tests.mutation.stage import Stage

pytestmark = pytest.mark.anyio
LIMIT_SECONDS = 10.0

Then = Callable[[], Awaitable[object]]


class RacyStore(MemoryStore):
    """Does what the test says right after its next commit, look, or before its next append."""

    def __init__(self, switchboard: Switchboard) -> None:
        super().__init__(switchboard)
        self.after_commit: Then | None = None
        self.after_look: Then | None = None
        self.held: asyncio.Event | None = None
        """Appends wait for it."""

    async def commit(self, *args: Any, **options: Any) -> Any:
        done = await super().commit(*args, **options)
        then, self.after_commit = self.after_commit, None
        if then is not None:
            await then()
        return done

    async def control(self, session_id: SessionId) -> Control:
        control = await super().control(session_id)
        then, self.after_look = self.after_look, None
        if then is not None:
            await then()
        return control

    async def _append(self, session_id: SessionId, fence: Fence, events: Sequence[Event]) -> int:
        if self.held is not None:
            await self.held.wait()
        return await super()._append(session_id, fence, events)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    switchboard = Switchboard()
    stage = Stage(RacyStore(switchboard), switchboard)
    yield stage
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)


def racy(stage: Stage) -> RacyStore:
    assert isinstance(stage.store, RacyStore)
    return stage.store


async def status(life: Life, run_id: RunId) -> RunStatus:
    return (await life.store.run(run_id)).status


async def ended(stage: Stage, run_id: RunId) -> RunStatus:
    async with asyncio.timeout(LIMIT_SECONDS):
        return (await stage.endings.of(run_id, seconds=LIMIT_SECONDS)).status


async def test_a_prompt_that_comes_while_the_lane_finds_nothing_is_started(stage: Stage) -> None:
    life = await stage.session()
    stage.worker.may_end.set()
    prompts: list[Run] = []

    async def prompt() -> None:
        prompts.append(await life.accept("one"))

    # A look at an idle session: nothing is there to start, and then there is.
    racy(stage).after_commit = prompt
    stage.coordinator.changed(life.id)
    await stage.coordinator.until_gone(life.id)
    assert await ended(stage, prompts[0].id) == "completed"


async def test_a_prompt_that_comes_right_after_an_ending_is_started(stage: Stage) -> None:
    """It is committed before the lane knows that its run has ended."""
    life = await stage.session()
    prompts = [await life.accept("one")]
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()

    async def prompt() -> None:
        prompts.append(await life.accept("two"))

    racy(stage).after_commit = prompt
    stage.worker.may_end.set()
    assert await ended(stage, prompts[0].id) == "completed"
    await stage.coordinator.until_gone(life.id)
    assert await ended(stage, prompts[1].id) == "completed"


async def test_a_prompt_that_waits_when_a_run_ends_is_started(stage: Stage) -> None:
    life = await stage.session()
    await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()
    waiting = await life.accept("two")
    stage.worker.may_end.set()
    assert await ended(stage, waiting.id) == "completed"


async def test_a_cancel_right_after_the_start_is_seen(stage: Stage) -> None:
    """It is committed before the lane knows that it has a run to stop."""
    life = await stage.session()
    store = racy(stage)

    async def when_it_has_started() -> None:
        store.after_commit = life.cancel

    store.after_commit = when_it_has_started
    run = await life.accept("one")
    assert await ended(stage, run.id) == "cancelled"


async def test_a_cancel_while_the_lane_is_looking_is_seen(stage: Stage) -> None:
    life = await stage.session()
    run = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()
    racy(stage).after_look = life.cancel
    stage.coordinator.changed(life.id)
    assert await ended(stage, run.id) == "cancelled"


async def test_what_is_not_yet_stored_when_the_cancel_comes_is_kept(stage: Stage) -> None:
    life = await stage.session()
    store = racy(stage)
    store.held = asyncio.Event()
    run = await life.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await stage.worker.began.wait()
    await life.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    store.held.set()
    assert await ended(stage, run.id) == "cancelled"
    answer = (await life.store.snapshot(life.id)).messages[-1]
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["Hello"]
