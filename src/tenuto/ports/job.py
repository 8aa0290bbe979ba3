"""Jobs: commands that go on in the background, as tools ask for them and as they are run."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tenuto.core.job import Job
from tenuto.core.value import CallId, JobId, SessionId, Value
from tenuto.ports.changes import FileChanges, Untold


class JobOrder(Value):
    """What is to be run."""

    session_id: SessionId
    workspace: Path
    """The workspace's folder."""
    command: str
    cwd: str = "."
    """Relative to it."""
    changes: FileChanges = Untold()
    """Told of the files that it changed, when it has ended."""


class JobRunner(Protocol):
    async def run(self, order: JobOrder, hear: Callable[[str], None]) -> int:
        """Run to the end, and return its exit code (negative: the signal that ended it); `hear` is
        told what it prints, whole lines as a rule.

        A cancel ends everything that it started, to the last grandchild, before it comes out.
        """


class NothingRun:
    """Implements `JobRunner` where nothing may be run."""

    async def run(self, order: JobOrder, hear: Callable[[str], None]) -> int:
        hear("[nothing is run here]\n")
        return 127


NOTHING_RUN = NothingRun()


class JobReading(Value):
    job: Job
    text: str
    """What it printed from `at` on."""
    at: int
    """Characters that came before; more than were asked for if those are no longer at hand."""

    @property
    def end(self) -> int:
        return self.at + len(self.text)


class JobWish(Value):
    """What a tool wants to run in the background."""

    call_id: CallId
    workspace: Path
    command: str
    name: str
    cwd: str


class Jobs(Protocol):
    """The jobs of one conversation, as its tools see them."""

    async def start(self, wish: JobWish) -> Job:
        """Begin it; it is in the log before it runs. Raises ToolFailed."""

    async def read(self, job_id: JobId, *, after: int, seconds: float) -> JobReading:
        """What it printed after so many characters: as soon as there is something, it has ended, or
        the time is over. Raises ToolFailed."""

    async def stop(self, job_id: JobId) -> Job:
        """End it to its last process; the job as it ended. Raises ToolFailed."""

    async def know(self, job: Job) -> None:
        """The model knows how the job stands: it need not be told of its ending."""
