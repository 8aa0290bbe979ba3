"""Who runs a job, who says that it is over, and what ends it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tenuto.clock import RandomIds, SystemClock
from tenuto.core.error import StorageTrouble
from tenuto.core.job import Job, JobState
from tenuto.core.value import CallId, JobId, NodeId
from tenuto.engine.engine import Switchboard
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.ports.job import JobOrder
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E7")]
LIMIT_SECONDS = 10.0


class HeldCommands:
    """Commands that go on until they are let go, or cancelled."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.may_end = asyncio.Event()

    async def run(self, order: JobOrder, hear: Callable[[str], None]) -> int:
        self.running.add(order.command)
        hear("up\n")
        try:
            await self.may_end.wait()
            return 4
        finally:
            self.running.discard(order.command)


class JobNode:
    """A session at work, and a node that may run jobs for it."""

    def __init__(self, store: MemoryStore, driven: DrivenSession, name: str = "node_1") -> None:
        self.store = store
        self.driven = driven
        self.commands = HeldCommands()
        self.node = Node(id=NodeId(name), clock=SystemClock(), ids=RandomIds())
        self.keeper = JobKeeper(store, self.node, self.commands)

    async def start(self, name: str = "job_1") -> Job:
        job = Job(
            id=JobId(name),
            session_id=self.driven.id,
            run_id=self.driven.fence.run_id,
            call_id=CallId("call_1"),
            name=name,
            command=name,
            node=self.node.id,
            started_at=self.node.clock.now(),
        )
        order = JobOrder(session_id=job.session_id, workspace=Path("/"), command=name)
        await self.keeper.start(job, order, self.driven.fence)
        async with asyncio.timeout(LIMIT_SECONDS):
            while name not in self.commands.running:  # noqa: ASYNC110
                await asyncio.sleep(0)
        return job

    async def state(self, name: str = "job_1") -> JobState:
        return (await self.store.thing(Job, name)).state

    async def over(self, name: str = "job_1") -> Job:
        async with asyncio.timeout(LIMIT_SECONDS):
            while await self.state(name) is JobState.RUNNING:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return await self.store.thing(Job, name)


@pytest.fixture
async def here() -> AsyncIterator[JobNode]:
    switchboard = Switchboard()
    store = MemoryStore(switchboard)
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("go")
    await driven.start()
    here = JobNode(store, driven)
    switchboard.on_changed.append(here.keeper.changed)
    yield here
    await here.keeper.close()


async def test_a_job_that_ends_says_how(here: JobNode) -> None:
    await here.start()
    here.commands.may_end.set()
    job = await here.over()
    assert (job.state, job.exit_code, job.printed.tail) == (JobState.ENDED, 4, "up\n")
    assert await here.keeper.output(job) == "up\n"


async def test_without_a_lease_nothing_runs_on(here: JobNode) -> None:
    await here.start()
    here.keeper.fence()
    job = await here.over()
    assert (job.state, here.commands.running) == (JobState.INTERRUPTED, set())


async def test_a_server_that_stops_leaves_nothing(here: JobNode) -> None:
    for name in ("job_1", "job_2"):
        await here.start(name)
    await here.keeper.close()
    assert here.commands.running == set()
    assert [await here.state(name) for name in ("job_1", "job_2")] == [JobState.INTERRUPTED] * 2


async def test_what_runs_here_is_not_taken_for_left(here: JobNode) -> None:
    await here.start()
    await here.keeper.rescue()
    assert await here.state() is JobState.RUNNING


async def test_what_an_earlier_process_left_is_over(here: JobNode) -> None:
    await here.start()
    later = JobNode(here.store, here.driven, "node_2")
    await later.keeper.rescue()
    assert await here.state() is JobState.INTERRUPTED
    # The earlier one was alive after all: it hears of it, and ends what it runs.
    async with asyncio.timeout(LIMIT_SECONDS):
        while here.commands.running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_stop_through_another_node_reaches_it(here: JobNode) -> None:
    await here.start()
    elsewhere = JobNode(here.store, here.driven, "node_2")
    job = await elsewhere.keeper.stop(JobId("job_1"))
    assert (job.state, here.commands.running) == (JobState.STOPPED, set())


async def test_a_start_that_could_not_be_stored_runs_nothing(
    here: JobNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StorageTrouble("full")

    monkeypatch.setattr(here.store, "commit", refuse)
    with pytest.raises(StorageTrouble):
        await here.start()
    assert here.commands.running == set()
