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


class House:
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
async def house() -> AsyncIterator[House]:
    switchboard = Switchboard()
    store = MemoryStore(switchboard)
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("go")
    await driven.start()
    house = House(store, driven)
    switchboard.on_changed.append(house.keeper.changed)
    yield house
    await house.keeper.close()


async def test_a_job_that_ends_says_how(house: House) -> None:
    await house.start()
    house.commands.may_end.set()
    job = await house.over()
    assert (job.state, job.exit_code, job.printed.tail) == (JobState.ENDED, 4, "up\n")
    assert await house.keeper.output(job) == "up\n"


async def test_without_a_lease_nothing_runs_on(house: House) -> None:
    await house.start()
    house.keeper.fence()
    job = await house.over()
    assert (job.state, house.commands.running) == (JobState.INTERRUPTED, set())


async def test_a_server_that_stops_leaves_nothing(house: House) -> None:
    for name in ("job_1", "job_2"):
        await house.start(name)
    await house.keeper.close()
    assert house.commands.running == set()
    assert [await house.state(name) for name in ("job_1", "job_2")] == [JobState.INTERRUPTED] * 2


async def test_what_runs_here_is_not_taken_for_left(house: House) -> None:
    await house.start()
    await house.keeper.rescue()
    assert await house.state() is JobState.RUNNING


async def test_what_an_earlier_process_left_is_over(house: House) -> None:
    await house.start()
    later = House(house.store, house.driven, "node_2")
    await later.keeper.rescue()
    assert await house.state() is JobState.INTERRUPTED
    # The earlier one was alive after all: it hears of it, and ends what it runs.
    async with asyncio.timeout(LIMIT_SECONDS):
        while house.commands.running:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_stop_through_another_node_reaches_it(house: House) -> None:
    await house.start()
    elsewhere = House(house.store, house.driven, "node_2")
    job = await elsewhere.keeper.stop(JobId("job_1"))
    assert (job.state, house.commands.running) == (JobState.STOPPED, set())


async def test_a_start_that_could_not_be_stored_runs_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StorageTrouble("full")

    monkeypatch.setattr(house.store, "commit", refuse)
    with pytest.raises(StorageTrouble):
        await house.start()
    assert house.commands.running == set()
