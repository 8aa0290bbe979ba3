"""An engine without HTTP: the parts that a lane needs, with a worker that the test holds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from tenuto.clock import RandomIds, SystemClock
from tenuto.core.message import TextPart
from tenuto.core.run import Ending, Run
from tenuto.core.value import PartId, SessionId
from tenuto.engine.build import build_engine
from tenuto.engine.engine import Switchboard
from tenuto.engine.node import Node
from tenuto.engine.work import Work
from tenuto.ports.model import Model, Models
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import END_TURN, NODE, DrivenSession, make_workspace

Doing = Callable[[Work], Awaitable[None]]


class NoModels:
    """A model that is only a name: nobody is asked anything."""

    async def find(self, model_id: str | None) -> Model:
        name = model_id or "none"
        return Model(id=name, name=name, provider="none", context_window=1000)


class NoTitles:
    async def make(self, session_id: SessionId, run: Run) -> None:
        return None


class HeldWorker:
    """Works until the test lets it end; says something first."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()
        self.say = "Hello"

    async def work(self, work: Work) -> Ending:
        part = TextPart(id=PartId(f"prt_{work.run.id}"))
        work.recorder.start(part)
        work.recorder.grow(part.id, self.say)
        self.began.set()
        await self.may_end.wait()
        return END_TURN


class EngineHarness:
    """One session and one lane over a memory store."""

    def __init__(self, store: MemoryStore, switchboard: Switchboard) -> None:
        self.store = store
        self.worker = HeldWorker()
        self.models = cast("Models", NoModels())
        self.node = node = Node(id=NODE, clock=SystemClock(), ids=RandomIds())
        engine = build_engine(
            node,
            store,
            self.models,
            self.worker,
            switchboard,
            maker=NoTitles(),
            titles_wanted=lambda: False,
            frame=lambda stored: b"",
            run_seconds=60.0,
            fold_after_seconds=1e9,
        )
        self.engine = engine
        self.driver, self.coordinator = engine.driver, engine.coordinator
        self.endings, self.inbox, self.stops = engine.endings, engine.inbox, engine.stops
        self.rescuer = engine.rescuer

    async def session(self) -> DrivenSession:
        await make_workspace(self.store)
        return await DrivenSession.begin(self.store)
