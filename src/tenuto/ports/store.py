"""The store: logs, and what is folded from them, changed together or not at all.

Nothing here assumes that this process is the only one. A change is one transaction on one
session; the order of a log's numbers is the order of its commits.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from tenuto.core.approval import Approval
from tenuto.core.comparison import Comparison, Verdict
from tenuto.core.day_usage import DayUsage
from tenuto.core.desk import Decide, Desk, Sight
from tenuto.core.event import Event, Stored
from tenuto.core.file import FileInfo
from tenuto.core.message import Message
from tenuto.core.run import Run
from tenuto.core.session import Control, Fence, Session, Workspace
from tenuto.core.value import (
    ApprovalId,
    ComparisonId,
    FileId,
    Instant,
    MessageId,
    NodeId,
    RunId,
    SessionId,
    StreamId,
    WorkspaceId,
)
from tenuto.ports.query import (
    Background,
    Compared,
    ComparedPage,
    ComparisonQuery,
    MessagePage,
    Once,
    Orphan,
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


Judge = Callable[[Comparison, Mapping[SessionId, Desk]], Verdict[T]]
"""Decides about a comparison, seeing the desks of its panes that are there."""


class Sink(Protocol):
    """Told of every commit, on the event loop, right after it and in its order."""

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        """These events are on disk and may be shown."""

    def changed(self, session_id: SessionId) -> None:
        """Something that its coordinator must look at: a prompt, a cancel, an answer, a delete."""


class Log(Protocol):
    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        """Store all events (of parts, one at least) or none; gives the last seq. Raises Fenced
        for a past owner.

        A future, not a coroutine: this is done for every token, and a task each would cost more.
        """

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        """Stored events with a seq above `after`, oldest first. NotFound if there is no such log.

        At most `limit`, and fewer when they are large; none only if there is none.
        A deleted session's log can be read to its `session.deleted` until it is purged.
        """


class Desks(Protocol):
    async def commit(
        self,
        session_id: SessionId,
        decide: Decide[T],
        *,
        sight: Sight = Sight.CONTROL,
        once: Once | None = None,
        answer: type[T] | None = None,
    ) -> tuple[T, int]:
        """Lay the session's desk, decide, and store the change; return its result and the head.

        What `decide` raises comes out and nothing is stored. With `once`, a request that was
        stored before gives its first result again, read as `answer`; another body under its
        key raises IdempotencyMismatch. NotFound if the session does not exist.
        """

    async def answered(self, once: Once | None, answer: type[T]) -> T | None:
        """The first result of this request, if it was stored before; None if it is new."""

    async def create_session(
        self,
        session: Session,
        events: Sequence[Event] = (),
        finished: Sequence[Message] = (),
        *,
        once: Once | None = None,
    ) -> Session:
        """Store a new session with the beginning of its log (a fork has one)."""


class Sessions(Protocol):
    """What is told of one session, or of many."""

    async def session(self, session_id: SessionId) -> Session: ...

    async def control(self, session_id: SessionId) -> Control: ...

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

    async def open_message(self, session_id: SessionId) -> Message | None:
        """The unfinished answer of the active run, as the log has it now."""

    async def background(self, session_id: SessionId) -> Background:
        """Everything since the last compaction, the open message included."""

    async def user_message(self, session_id: SessionId, message_id: MessageId | None) -> Message:
        """This user message, or the last one. NotFound if there is none."""


class Runs(Protocol):
    """Runs and the questions that they ask."""

    async def run(self, run_id: RunId) -> Run: ...

    async def placed_run(self, run_id: RunId) -> PlacedRun: ...

    async def runs(self, query: RunQuery) -> RunPage:
        """Newest first."""

    async def approval(self, approval_id: ApprovalId) -> Approval: ...

    async def approvals(self, session_id: SessionId) -> Sequence[Approval]:
        """All of a session's approvals, oldest first."""


class Workspaces(Protocol):
    """Workspaces, and what their viewers begin with."""

    async def workspaces(self) -> Sequence[Workspace]: ...

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace: ...

    async def put_workspace(self, workspace: Workspace, *, once: Once | None = None) -> Workspace:
        """Store a new workspace or a changed one."""

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        """Remove an empty workspace and its log. SessionBusy if it still has sessions or
        comparisons."""

    async def workspace_snapshot(
        self, workspace_id: WorkspaceId, *, most_sessions: int, most_runs: int
    ) -> WorkspaceOverview:
        """What a viewer of the workspace's log begins with, at one point."""


class Files(Protocol):
    """What prompts carry."""

    async def put_file(
        self, info: FileInfo, content: bytes, *, once: Once | None = None
    ) -> FileInfo:
        """Store a file; it goes with the last session that speaks of it."""

    async def file(self, file_id: FileId) -> FileInfo: ...

    async def file_content(self, file_id: FileId) -> bytes: ...


class UsageBook(Protocol):
    async def usage(
        self, *, since: str, workspace_id: WorkspaceId | None = None
    ) -> Sequence[DayUsage]:
        """What the runs that ended since that day used, by day and model; also of sessions that
        are gone. Costs what it gives, however many runs there were."""


class Comparisons(Protocol):
    """The one place where a change is of several sessions: those of one comparison, in one
    workspace. A vote shows all models or none."""

    async def create_comparison(
        self, comparison: Comparison, *, once: Once | None = None
    ) -> Comparison:
        """Store a new comparison with a new session for each pane, all or nothing."""

    async def comparison(self, comparison_id: ComparisonId) -> Compared: ...

    async def comparisons(self, query: ComparisonQuery) -> ComparedPage:
        """Newest first."""

    async def voted(self) -> Sequence[Comparison]:
        """All that were voted on, oldest first."""

    async def judge(
        self,
        comparison_id: ComparisonId,
        decide: Judge[T],
        *,
        sight: Sight = Sight.RUNS,
        once: Once | None = None,
        answer: type[T] | None = None,
    ) -> T:
        """Decide about a comparison and store the verdict, in its panes' sessions too, all or
        nothing. What `decide` raises comes out; the options are as for `Desks.commit`."""

    async def forget_comparison(self, comparison_id: ComparisonId) -> None:
        """Remove a comparison. SessionBusy if it still has a pane that is not kept."""


class Upkeep(Protocol):
    async def open(self) -> None:
        """Get ready; migrate if needed. Raises StorageTrouble with a sentence for people."""

    async def close(self) -> None: ...

    async def check(self) -> None:
        """Raises StorageTrouble if a prompt could not be stored now."""

    async def heartbeat(self, node: NodeId, *, until: Instant) -> None:
        """This node owns its runs until then. Writes nothing where only one node can be."""

    async def orphans(self, node: NodeId, *, now: Instant) -> Sequence[Orphan]:
        """Running runs whose owner is neither this node nor alive."""

    async def owned(self, node: NodeId) -> Sequence[Orphan]:
        """Running runs whose owner is this node: whoever works on none of them has lost it."""

    async def waiting_sessions(self) -> Sequence[SessionId]:
        """Sessions with queued runs and no active one."""

    async def fold_deltas(self, *, before: Instant, limit: int) -> int:
        """Replace the deltas of each part that was finished before then by one; return how many
        events went away. The fold of a log stays the same."""

    async def purge(self, *, before: Instant) -> int:
        """Remove what is left of sessions deleted before then, and what is older than a day
        before then: requests (`Once`) and files that no session speaks of. Return how many logs
        went away."""


class Store(
    Log, Desks, Sessions, Runs, Workspaces, Files, Comparisons, UsageBook, Upkeep, Protocol
):
    """All of it. One object per technology, one conformance suite for all."""
