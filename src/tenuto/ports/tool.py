"""Tools: what an agent can do in a workspace."""

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from tenuto.core.delegating import Assignment
from tenuto.core.job import Job
from tenuto.core.question import Answers, Inquiry
from tenuto.core.rule import Rule, Subject
from tenuto.core.run import Run
from tenuto.core.session import Session, Workspace
from tenuto.core.value import CallId, JobId, RunId, SessionId, Value
from tenuto.ports.changes import FileChanges, Untold
from tenuto.ports.job import JobReading, Jobs, JobWish
from tenuto.ports.model import ToolSpec


class ToolFailed(Exception):
    """The tool could not do it. The message is its result, for the model to read."""


async def nothing_attached(file_id: str) -> bytes:
    raise ToolFailed(f"There is no file {file_id} in this conversation.")


async def nothing_printed(name: str) -> str:
    raise ToolFailed(f"There is no output {name} in this conversation.")


class Reel(Protocol):
    def add(self, text: str) -> None:
        """Take more of it."""


class NoReel:
    """Keeps nothing."""

    def add(self, text: str) -> None:
        return


class NoJobs:
    """Where nothing runs in the background."""

    async def start(self, wish: JobWish) -> Job:
        raise ToolFailed("There are no jobs here.")

    async def read(self, job_id: JobId, *, after: int, seconds: float) -> JobReading:
        raise ToolFailed("There are no jobs here.")

    async def stop(self, job_id: JobId) -> Job:
        raise ToolFailed("There are no jobs here.")

    async def know(self, job: Job) -> None:
        return


class Site(Value):
    """Where a run works: what decides which tools it has, and by which rules."""

    session: Session
    run: Run
    workspace: Workspace
    folder: Path
    """The workspace's folder on this node."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The workspace's own."""
        return self.workspace.rules


class ReplyKind(StrEnum):
    ANSWERED = "answered"
    INSTEAD = "instead"
    """Something else was written meanwhile: it is the first answer."""
    DISMISSED = "dismissed"
    NOBODY = "nobody"
    """Nobody can be asked in this run."""


class UserReply(Value):
    """What came of questions to a person."""

    kind: ReplyKind
    answers: Answers = ()
    """For each question what was chosen or written; nothing where it was passed over."""


Ask = Callable[[Sequence[Inquiry]], Awaitable[UserReply]]


async def nobody_asked(inquiries: Sequence[Inquiry]) -> UserReply:
    return UserReply(kind=ReplyKind.NOBODY)


class Delegated(Value):
    """What came of a sub-agent's work."""

    session_id: SessionId
    run: Run
    """As it ended."""
    text: str
    """The last that it said."""


SubAgent = Callable[[], Awaitable[Delegated]]
"""Waits until it has ended. Who stops waiting stops it."""


class Place(Value):
    """What one call may know and do. Whatever else tools need of the server is a small protocol of
    its own, a field here, and given by the toolbox."""

    folder: Path
    """The workspace's folder; no path may leave it, also not through links."""
    session_id: SessionId = SessionId("")
    """The conversation that the call is of."""
    run_id: RunId = RunId("")
    call_id: CallId
    progress: Callable[[str], None]
    """Told the whole output so far (capped); may be called often, from the event loop."""
    attached: Callable[[str], Awaitable[bytes]] = nothing_attached
    """A file that was attached to the conversation, by its id. Raises ToolFailed."""
    keep: Callable[[int], Reel] = lambda beyond: NoReel()
    """Takes all that the call prints, and keeps it whole if it is longer than so many characters:
    then it can be read under the call's id."""
    printed: Callable[[str], Awaitable[str]] = nothing_printed
    """The whole output of a call or a job of the conversation, by its id. Raises ToolFailed."""
    changes: FileChanges = Untold()
    """Told of every file that the call changes, so that it can be put back."""
    jobs: Jobs = NoJobs()
    """Commands in the background, of this conversation."""
    ask: Ask = nobody_asked
    """Asks a person while the call is under way, and waits however long it takes; 1 to 4 questions
    at once. The run's time stands meanwhile. A server that ends takes the call and the question with
    it: a tool that can, asks before it begins (`AskingTool`)."""
    reply: UserReply | None = None
    """What was answered before it began; None: it asks nobody first."""
    sub_agent: SubAgent | None = None
    """Who does the call's work; None: it does it itself."""


class GivenFile(Value):
    """A file that a tool gives to be seen, before it is stored."""

    name: str
    media_type: str
    content: bytes


class ToolResult(Value):
    """What came of a call: for the model to read, and for people to see."""

    text: str
    """Capped, the cap said."""
    files: tuple[GivenFile, ...] = ()
    """Images, shown to models that see, and to people."""
    failed: bool = False
    """True if the text says why it could not be done; as ToolFailed, but with more to show."""
    details: dict[str, Any] = msgspec.field(default_factory=dict)
    """For clients only: a diff, an exit code, how many matched."""


class Parallel(StrEnum):
    """Whether calls may run side by side."""

    NEVER = "never"
    """One after the other, in the order in which the model made them."""
    LOOKING = "looking"
    """Beside others, within what all runs together may look up at once."""
    WAITING = "waiting"
    """Beside others and beyond that limit: it does nothing here but wait for someone else."""


class Tool(Protocol):
    spec: ToolSpec
    changes: bool
    """True if it changes something or reaches out: then it asks by default."""
    parallel: Parallel

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        """What the call is about, for rules to judge; nothing is done yet. Raises ToolFailed for
        one that could only fail."""

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        """Do it and return what came of it. Raises ToolFailed.

        A cancel ends everything that it started, to the last grandchild, before it comes out.
        """


@runtime_checkable
class AskingTool(Tool, Protocol):
    """Asks a person, and does nothing but say what came of it (`place.reply`). Nothing is ever
    under way for it, so its run can be left while it waits, and goes on anywhere."""

    def inquiries(self, arguments: dict[str, Any]) -> Sequence[Inquiry]:
        """What to ask, 1 to 4 questions. Raises ToolFailed."""


@runtime_checkable
class DelegatingTool(Tool, Protocol):
    """Hands its work to a sub-agent (`place.sub_agent`): the call begins in the same commit that
    accepts the sub-agent's prompt."""

    def assignment(self, arguments: dict[str, Any]) -> Assignment:
        """What to do. Raises ToolFailed."""


class Tools(Protocol):
    """A source of tools: those that come with the server, those of others."""

    def known(self) -> Sequence[Tool]:
        """All that a setting may name."""

    async def for_run(self, site: Site) -> Sequence[Tool]:
        """What this run may use now; asked before each of its steps."""
