"""When a session gets its name: with its first answer, or before if that takes long."""

import asyncio

import pytest
from msgspec.structs import replace

from tenuto.core.run import Mode, Run, RunStatus, Usage
from tenuto.core.session import Session, TitleSource
from tenuto.core.value import SessionId
from tenuto.engine import titler as titles
from tenuto.engine.engine import Switchboard
from tenuto.engine.titler import Titled, Titler
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, make_workspace
from tests.engine.harness import EngineHarness

pytestmark = pytest.mark.anyio


class Namer:
    def __init__(self) -> None:
        self.asked: list[RunStatus] = []

    async def make(self, session_id: SessionId, run: Run) -> Titled:
        self.asked.append(run.status)
        return Titled(title="A name", model="m/small", usage=Usage())


class Scene:
    """A session whose first run has begun."""

    def __init__(self, store: MemoryStore, driven: DrivenSession, run: Run) -> None:
        self.namer = Namer()
        node = EngineHarness(store, Switchboard()).node
        self.titler = Titler(store, self.namer, node)
        self.store = store
        self.id = driven.id
        self.run = run

    async def session(self) -> Session:
        return await self.store.session(self.id)

    async def settled(self) -> None:
        while self.titler._tasks:
            await asyncio.wait(self.titler._tasks.values())


@pytest.fixture
async def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(titles, "LONG_SECONDS", 0.05)
    store = MemoryStore(Switchboard())
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("How do tides work?")
    fence = await driven.start()
    assert fence is not None
    return Scene(store, driven, await store.run(fence.run_id))


async def test_a_run_that_takes_long_gets_its_session_a_name_from_the_prompt(scene: Scene) -> None:
    scene.titler.run_begun(await scene.session(), scene.run)
    while not scene.namer.asked:  # noqa: ASYNC110 (a timer is waited for)
        await asyncio.sleep(0.01)
    await scene.settled()
    assert (await scene.session()).title == "A name"
    assert (await scene.session()).title_source is TitleSource.AUTO


async def test_a_short_one_is_named_once_when_it_has_its_answer(scene: Scene) -> None:
    session = await scene.session()
    scene.titler.run_begun(session, scene.run)
    scene.titler.run_ended(session, replace(scene.run, status=RunStatus.COMPLETED))
    await asyncio.sleep(0.1)
    await scene.settled()
    assert scene.namer.asked == [RunStatus.COMPLETED]


async def test_one_that_was_stopped_early_is_not_asked_about(scene: Scene) -> None:
    session = await scene.session()
    scene.titler.run_begun(session, scene.run)
    scene.titler.run_ended(session, replace(scene.run, status=RunStatus.CANCELLED))
    await asyncio.sleep(0.1)
    assert scene.namer.asked == []


async def test_nobody_is_asked_once_the_server_stops(scene: Scene) -> None:
    scene.titler.run_begun(await scene.session(), scene.run)
    await scene.titler.stop()
    await asyncio.sleep(0.1)
    assert scene.namer.asked == []


async def test_what_its_user_named_and_what_sums_up_needs_none(scene: Scene) -> None:
    session = await scene.session()
    scene.titler.run_begun(replace(session, title_source=TitleSource.USER), scene.run)
    scene.titler.run_begun(session, replace(scene.run, mode=Mode.COMPACT))
    await asyncio.sleep(0.1)
    assert scene.namer.asked == []
