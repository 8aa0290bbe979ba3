"""Races of one lane, each made to happen: the mutants that fall into them are caught here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from tenuto.core.event import Event
from tenuto.core.message import TextPart
from tenuto.core.principal import OWNER
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Control, Fence
from tenuto.core.value import RunId, SessionId
from tenuto.engine.checking import Draft
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession
from tests.engine.harness import EngineHarness

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
async def harness() -> AsyncIterator[EngineHarness]:
    switchboard = Switchboard()
    harness = EngineHarness(RacyStore(switchboard), switchboard)
    yield harness
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


def racy(harness: EngineHarness) -> RacyStore:
    assert isinstance(harness.store, RacyStore)
    return harness.store


async def status(driven: DrivenSession, run_id: RunId) -> RunStatus:
    return (await driven.store.run(run_id)).status


async def ended(harness: EngineHarness, run_id: RunId) -> RunStatus:
    async with asyncio.timeout(LIMIT_SECONDS):
        return (await harness.endings.of(run_id, seconds=LIMIT_SECONDS)).status


async def test_a_prompt_that_comes_while_the_lane_finds_nothing_is_started(
    harness: EngineHarness,
) -> None:
    driven = await harness.session()
    harness.worker.may_end.set()
    prompts: list[Run] = []

    async def prompt() -> None:
        prompts.append(await driven.accept("one"))

    # A look at an idle session: nothing is there to start, and then there is.
    racy(harness).after_commit = prompt
    harness.coordinator.changed(driven.id)
    await harness.coordinator.until_gone(driven.id)
    assert await ended(harness, prompts[0].id) == "completed"


async def test_a_prompt_that_comes_right_after_an_ending_is_started(harness: EngineHarness) -> None:
    """It is committed before the lane knows that its run has ended."""
    driven = await harness.session()
    prompts = [await driven.accept("one")]
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()

    async def prompt() -> None:
        prompts.append(await driven.accept("two"))

    racy(harness).after_commit = prompt
    harness.worker.may_end.set()
    assert await ended(harness, prompts[0].id) == "completed"
    await harness.coordinator.until_gone(driven.id)
    assert await ended(harness, prompts[1].id) == "completed"


async def test_a_prompt_that_waits_when_a_run_ends_is_started(harness: EngineHarness) -> None:
    driven = await harness.session()
    await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()
    waiting = await driven.accept("two")
    harness.worker.may_end.set()
    assert await ended(harness, waiting.id) == "completed"


async def test_a_cancel_right_after_the_start_is_seen(harness: EngineHarness) -> None:
    """It is committed before the lane knows that it has a run to stop."""
    driven = await harness.session()
    store = racy(harness)

    async def when_it_has_started() -> None:
        store.after_commit = driven.cancel

    store.after_commit = when_it_has_started
    run = await driven.accept("one")
    assert await ended(harness, run.id) == "cancelled"


async def test_a_cancel_right_after_an_expected_start_is_seen(harness: EngineHarness) -> None:
    """The lane was opened by the prompt itself, and knows of two changes: the cancel is a third."""
    driven = await harness.session()
    store = racy(harness)

    async def when_it_has_started() -> None:
        store.after_commit = driven.cancel

    store.after_commit = when_it_has_started
    run = await harness.inbox.accept(driven.id, Draft(input="one"), by=OWNER)
    assert await ended(harness, run.id) == "cancelled"


async def test_a_cancel_is_seen_also_if_the_lane_was_told_of_its_prompt_before_it_began(
    harness: EngineHarness,
) -> None:
    """Opened for a prompt that was refused; another one was accepted before the lane began."""
    driven = await harness.session()
    store = racy(harness)
    sinks, store._sinks = store._sinks, []
    run = await driven.accept("one")
    store._sinks = sinks
    harness.coordinator.expect(driven.id)
    harness.coordinator.changed(driven.id)
    store.after_commit = driven.cancel
    assert await ended(harness, run.id) == "cancelled"


async def test_a_cancel_while_the_lane_is_looking_is_seen(harness: EngineHarness) -> None:
    driven = await harness.session()
    run = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()
    racy(harness).after_look = driven.cancel
    harness.coordinator.changed(driven.id)
    assert await ended(harness, run.id) == "cancelled"


async def test_what_is_not_yet_stored_when_the_cancel_comes_is_kept(harness: EngineHarness) -> None:
    driven = await harness.session()
    store = racy(harness)
    store.held = asyncio.Event()
    run = await driven.accept("one")
    async with asyncio.timeout(LIMIT_SECONDS):
        await harness.worker.began.wait()
    await driven.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    store.held.set()
    assert await ended(harness, run.id) == "cancelled"
    answer = (await driven.store.snapshot(driven.id)).messages[-1]
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["Hello"]
