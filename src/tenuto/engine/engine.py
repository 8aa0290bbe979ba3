"""The engine as a whole: how its parts hear of commits, start, drain and stop."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.engine.answers import Answers
from tenuto.engine.comparisons import ComparisonKeeper
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.files import FileKeeper
from tenuto.engine.inbox import Inbox
from tenuto.engine.janitor import Janitor
from tenuto.engine.panes import Panes
from tenuto.engine.queue import Queue
from tenuto.engine.rescuer import Rescuer
from tenuto.engine.sessions import SessionKeeper
from tenuto.engine.stops import Stops
from tenuto.engine.tailer import Tailer
from tenuto.engine.titler import Titler
from tenuto.engine.upkeep import keep_going
from tenuto.engine.workspaces import WorkspaceKeeper

STOP_SECONDS = 5.0


class Switchboard:
    """Passes each commit on: to those who watch, and to those who work."""

    def __init__(self) -> None:
        self.on_committed: list[Callable[[StreamId, Sequence[Stored]], None]] = []
        self.on_changed: list[Callable[[SessionId], None]] = []

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        for tell in self.on_committed:
            tell(stream, events)

    def changed(self, session_id: SessionId) -> None:
        for tell in self.on_changed:
            tell(session_id)


@dataclass(kw_only=True, eq=False)
class Engine:
    inbox: Inbox
    queue: Queue
    answers: Answers
    stops: Stops
    panes: Panes
    endings: Endings
    sessions: SessionKeeper
    workspaces: WorkspaceKeeper
    comparisons: ComparisonKeeper
    files: FileKeeper
    driver: Driver
    coordinator: Coordinator
    tailer: Tailer
    titler: Titler
    rescuer: Rescuer
    janitor: Janitor
    draining: bool = False
    _upkeep: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Settle what the last process left, begin what waits, and keep watch."""
        await self.janitor.purge(older_than=0)
        await self.rescuer.recover()
        self._upkeep = [
            asyncio.create_task(keep_going("rescuer", self.rescuer.watch), name="rescuer"),
            asyncio.create_task(keep_going("janitor", self.janitor.sweep), name="janitor"),
        ]

    async def drain(self, seconds: float) -> None:
        """Take no prompts, start no runs; let what runs end, then interrupt it."""
        self.draining = True
        self.inbox.close()
        await self.coordinator.drain(seconds)

    async def stop(self) -> None:
        """Write the last endings and close every stream."""
        await self.coordinator.stop(STOP_SECONDS)
        await self.stops.close()
        self.tailer.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        # Last: a run that ends while all this stops may still ask for a title.
        await self.titler.stop()
