"""An engine without HTTP: the parts that a lane needs, with a worker that the test holds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.hand import FileHand
from tenuto.clock import RandomIds, SystemClock
from tenuto.core.message import TextPart
from tenuto.core.run import Ending, Run
from tenuto.core.value import Instant, NodeId, PartId, SessionId
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
        self.stopped = asyncio.Event()
        self.say = "Hello"

    async def work(self, work: Work) -> Ending:
        part = TextPart(id=PartId(f"prt_{work.run.id}"))
        work.recorder.start(part)
        work.recorder.grow(part.id, self.say)
        self.began.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        return END_TURN


class SkippingClock(SystemClock):
    """The machine's, and as far ahead as a test says."""

    ahead = 0.0

    def seconds(self) -> float:
        return super().seconds() + self.ahead

    def later(self, seconds: float) -> Instant:
        return super().later(seconds + self.ahead)


class EngineHarness:
    """One session and one lane over a memory store."""

    def __init__(
        self,
        store: MemoryStore,
        switchboard: Switchboard,
        *,
        node_id: NodeId = NODE,
        lease_seconds: float = 30.0,
        active_runs: int = 0,
    ) -> None:
        self.store = store
        self.worker = HeldWorker()
        self.models = cast("Models", NoModels())
        self.switchboard = switchboard
        self.clock = SkippingClock()
        self.node = node = Node(id=node_id, clock=self.clock, ids=RandomIds())
        engine = build_engine(
            node,
            store,
            self.models,
            self.worker,
            switchboard,
            hand=FileHand(Threads(2)),
            maker=NoTitles(),
            titles_wanted=lambda: False,
            frame=lambda stored: b"%d " % stored.seq,
            run_seconds=60.0,
            fold_after_seconds=1e9,
            lease_seconds=lease_seconds,
            active_runs=active_runs,
        )
        self.engine = engine
        self.driver, self.coordinator = engine.driver, engine.coordinator
        self.endings, self.inbox, self.stops = engine.endings, engine.inbox, engine.stops
        self.rescuer, self.heart = engine.rescuer, engine.heart

    async def session(self) -> DrivenSession:
        await make_workspace(self.store)
        return await DrivenSession.begin(self.store)
