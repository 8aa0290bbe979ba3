"""An engine without HTTP: the parts that a lane needs, with a worker that the test holds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from tenuto.clock import RandomIds, SystemClock
from tenuto.core.message import TextPart
from tenuto.core.run import Ending
from tenuto.core.value import PartId
from tenuto.engine.bell import Bell
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.engine import Switchboard
from tenuto.engine.inbox import Inbox
from tenuto.engine.rescuer import Rescuer
from tenuto.engine.stops import Stops
from tenuto.engine.task import Task
from tenuto.ports.model import Model, Models
from tenuto.storage.memory import MemoryStore
from tests.conformance.life import END_TURN, NODE, Life, make_workspace

Work = Callable[[Task], Awaitable[None]]


class NoModels:
    """A model that is only a name: nobody is asked anything."""

    async def find(self, model_id: str | None) -> Model:
        name = model_id or "none"
        return Model(id=name, name=name, provider="none", context_window=1000)


class HeldWorker:
    """Works until the test lets it end; says something first."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()
        self.say = "Hello"

    async def work(self, task: Task) -> Ending:
        part = TextPart(id=PartId(f"prt_{task.run.id}"))
        task.recorder.start(part)
        task.recorder.grow(part.id, self.say)
        self.began.set()
        await self.may_end.wait()
        return END_TURN


class Stage:
    """One session and one lane over a memory store."""

    def __init__(self, store: MemoryStore, switchboard: Switchboard) -> None:
        self.store = store
        self.worker = HeldWorker()
        clock, ids = SystemClock(), RandomIds()
        models = cast("Models", NoModels())
        self.bell = Bell()
        self.driver = Driver(store, self.worker, clock, ids, node=NODE, run_seconds=60.0)
        self.coordinator = Coordinator(store, self.driver, clock, node=NODE)
        self.endings = Endings(store, self.bell, clock)
        self.inbox = Inbox(store, models, self.endings, clock, ids, node=NODE)
        self.stops = Stops(store, self.coordinator, self.endings, clock, node=NODE)
        self.rescuer = Rescuer(store, self.coordinator, clock, node=NODE)
        switchboard.on_changed.append(self.coordinator.changed)
        switchboard.on_committed.append(lambda stream, _: self.bell.ring(stream))

    async def session(self) -> Life:
        await make_workspace(self.store)
        return await Life.begin(self.store)
