"""A view: all that one principal may read. What they may not see is not there: NotFound."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from tenuto.core.comparison import Comparison
from tenuto.core.day_usage import DayUsage
from tenuto.core.file import FileInfo
from tenuto.core.file_change import FileChange
from tenuto.core.message import Message
from tenuto.core.output import OutputPiece
from tenuto.core.run import Run
from tenuto.core.session import Session, Workspace
from tenuto.core.thing import K
from tenuto.core.value import (
    ComparisonId,
    FileId,
    MessageId,
    PrincipalId,
    RunId,
    SessionId,
    StreamId,
    WorkspaceId,
)
from tenuto.ports.query import (
    Compared,
    ComparedPage,
    ComparisonQuery,
    MessagePage,
    Once,
    Page,
    PlacedRun,
    RunPage,
    RunQuery,
    SessionPage,
    SessionQuery,
    SessionSnapshot,
    WorkspaceOverview,
)

T = TypeVar("T")


class Logs(Protocol):
    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        """Stored events with a seq above `after`, oldest first. NotFound if there is no such log.

        At most `limit`, and fewer when they are large; none only if there is none.
        A deleted session's log can be read to its `session.deleted` until it is purged.
        """

    async def read_many(
        self, after: Mapping[StreamId, int], *, limit: int
    ) -> Mapping[StreamId, Page]:
        """What `read` gives of each of these logs, as one read; no page for a log that is not
        there. `limit` is for each of them."""


class Sessions(Protocol):
    """What is told of one session, or of many."""

    async def session(self, session_id: SessionId) -> Session: ...

    async def sessions(self, query: SessionQuery) -> SessionPage:
        """Pinned or not, newest activity first; no panes of comparisons. `words` are looked for
        in titles and messages."""

    async def snapshot(
        self, session_id: SessionId, *, most_messages: int | None = None
    ) -> SessionSnapshot:
        """The session and its transcript, at one point; if bounded, only its newest messages."""

    async def messages(
        self, session_id: SessionId, *, limit: int, before: MessageId | None
    ) -> MessagePage:
        """The last `limit` messages of all, or of those before `before`, at one point of the log.

        Costs what it gives, however long the session is. NotFound for an unknown `before`.
        """

    async def user_message(self, session_id: SessionId, message_id: MessageId | None) -> Message:
        """This user message, or the last one. NotFound if there is none."""


class Runs(Protocol):
    """Runs, and the things that a session's log tells of."""

    async def run(self, run_id: RunId) -> Run: ...

    async def placed_run(self, run_id: RunId) -> PlacedRun: ...

    async def runs(self, query: RunQuery) -> RunPage:
        """Newest first."""

    async def thing(self, kind: type[K], thing_id: str) -> K:
        """The thing of this kind and id (an approval), whatever session it is of."""

    async def things(self, session_id: SessionId, kind: type[K]) -> Sequence[K]:
        """All of a session's things of this kind, open or not, oldest first."""

    async def changes(self, run_id: RunId) -> Sequence[FileChange]:
        """What the run did to files, the first that it came to first."""


class Workspaces(Protocol):
    """Workspaces, and what their viewers begin with."""

    async def workspaces(self) -> Sequence[Workspace]: ...

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace: ...

    async def workspace_snapshot(
        self, workspace_id: WorkspaceId, *, most_sessions: int, most_runs: int
    ) -> WorkspaceOverview:
        """What a viewer of the workspace's log begins with, at one point."""


class Files(Protocol):
    """What prompts carry."""

    async def file(self, file_id: FileId) -> FileInfo: ...

    async def file_content(self, file_id: FileId) -> bytes: ...


class KeptOutputs(Protocol):
    async def output(self, session_id: SessionId, name: str) -> Sequence[OutputPiece]:
        """What is kept of an output, in order. NotFound if the session has none of that name."""


class UsageBook(Protocol):
    async def usage(
        self,
        *,
        since: str,
        workspace_id: WorkspaceId | None = None,
        by: PrincipalId | None = None,
    ) -> Sequence[DayUsage]:
        """What the runs that ended since that day used, by day and model; also of sessions that
        are gone. With `by`, only what this principal prompted. Costs what it gives, however many
        runs there were."""


class Comparisons(Protocol):
    """What is told of comparisons."""

    async def comparison(self, comparison_id: ComparisonId) -> Compared: ...

    async def comparisons(self, query: ComparisonQuery) -> ComparedPage:
        """Newest first."""

    async def voted(self) -> Sequence[Comparison]:
        """All that were voted on, oldest first."""


class View(Logs, Sessions, Runs, Workspaces, Files, KeptOutputs, Comparisons, UsageBook, Protocol):
    """All of it. The whole store is the view of whoever may see everything."""

    async def answered(self, once: Once | None, answer: type[T]) -> T | None:
        """The first result of this request, if it was stored before; None if it is new."""
