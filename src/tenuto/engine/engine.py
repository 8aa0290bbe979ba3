"""The engine as a whole: how its parts hear of commits, start, drain and stop."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import anyio

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.engine.answers import Answers
from tenuto.engine.changes import ChangeKeeper
from tenuto.engine.comparisons import ComparisonKeeper
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.files import FileKeeper
from tenuto.engine.heart import Heart
from tenuto.engine.homes import Homes
from tenuto.engine.inbox import Inbox
from tenuto.engine.janitor import Janitor
from tenuto.engine.jobs import JobKeeper
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
TELL_SECONDS = 1.0


class Switchboard:
    """Passes each commit and each ring on: to those who watch, and to those who work."""

    def __init__(self) -> None:
        self.on_committed: list[Callable[[StreamId, Sequence[Stored]], None]] = []
        self.on_changed: list[Callable[[SessionId], None]] = []
        self.on_rang: list[Callable[[Collection[StreamId]], None]] = []
        self.on_rang_changed: list[Callable[[Collection[SessionId]], None]] = []
        self.on_rang_kept: list[Callable[[str], None]] = []
        self.on_kept_moved: list[Callable[[], None]] = []
        self.on_resync: list[Callable[[], None]] = []

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        for tell in self.on_committed:
            tell(stream, events)

    def changed(self, session_id: SessionId) -> None:
        for tell in self.on_changed:
            tell(session_id)

    def rang(self, streams: Collection[StreamId]) -> None:
        for tell in self.on_rang:
            tell(streams)

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        for tell in self.on_rang_changed:
            tell(session_ids)

    def rang_kept(self, name: str) -> None:
        for tell in self.on_rang_kept:
            tell(name)

    def kept_moved(self) -> None:
        """Some kept value may be another than this node knows."""
        for tell in self.on_kept_moved:
            tell()

    def resync(self) -> None:
        for tell in self.on_resync:
            tell()


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
    changes: ChangeKeeper
    homes: Homes
    driver: Driver
    coordinator: Coordinator
    tailer: Tailer
    titler: Titler
    heart: Heart
    rescuer: Rescuer
    janitor: Janitor
    jobs: JobKeeper
    draining: bool = False
    _upkeep: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Settle what the last process left, begin what waits, and keep watch."""
        await self.janitor.begin()
        # Before anything begins here: a run without a lease would be taken for an orphan.
        await self.heart.beat()
        await self.rescuer.recover()
        self._upkeep = [
            asyncio.create_task(keep_going("heart", self.heart.watch), name="heart"),
            asyncio.create_task(keep_going("rescuer", self.rescuer.watch), name="rescuer"),
            asyncio.create_task(keep_going("janitor", self.janitor.sweep), name="janitor"),
        ]
        if self.homes.are_many:
            watch = keep_going("homes", self.homes.watch)
            self._upkeep.append(asyncio.create_task(watch, name="homes"))

    async def drain(self, seconds: float) -> None:
        """Take no prompts, start no runs; let what runs end, then interrupt it."""
        self.draining = self.heart.draining = True
        self.inbox.close()
        telling = asyncio.create_task(self.heart.tell(), name="draining")
        try:
            await self.coordinator.drain(seconds)
            await asyncio.wait({telling}, timeout=TELL_SECONDS)
        finally:
            telling.cancel()

    async def stop(self) -> None:
        """Write the last endings and close every stream."""
        await self.coordinator.stop(STOP_SECONDS)
        await self.jobs.close()
        await self.stops.close()
        await self.tailer.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        with anyio.move_on_after(STOP_SECONDS):
            await self.heart.stop()
        # Last: a run that ends while all this stops may still ask for a title.
        await self.titler.stop()
