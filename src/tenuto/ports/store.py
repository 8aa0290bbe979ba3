"""The store: logs, and what is folded from them, changed together or not at all.

Nothing here assumes that this process is the only one. A change is one transaction on one
session; the order of a log's numbers is the order of its commits.

Every write raises StorageTrouble if it was surely not stored, and InDoubt if nobody could find
out; a store that can lose an answer looks for what it wrote before it says so.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from tenuto.core.comparison import Comparison, Verdict
from tenuto.core.desk import Decide, Desk, Joint, Sight
from tenuto.core.event import Event, Stored
from tenuto.core.file import FileInfo
from tenuto.core.message import Message
from tenuto.core.output import OutputPiece
from tenuto.core.principal import Principal
from tenuto.core.session import Control, Fence, Session, Workspace
from tenuto.core.thing import K
from tenuto.core.value import (
    ComparisonId,
    Instant,
    NodeId,
    SessionId,
    StreamId,
    Value,
    WorkspaceId,
)
from tenuto.ports.query import Background, NodeCard, NodeStanding, Once, Orphan, Pulse
from tenuto.ports.view import View

T = TypeVar("T")


Judge = Callable[[Comparison, Mapping[SessionId, Desk]], Verdict[T]]
"""Decides about a comparison, seeing the desks of its panes that are there."""


class Sink(Protocol):
    """Told on the event loop: of every commit of this node, right after it and in its order; and
    by pointers of what other nodes committed, which may come late, twice, out of order or never.
    """

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        """These events are on disk and may be shown. This node's own commits only."""

    def changed(self, session_id: SessionId) -> None:
        """Something that its coordinator must look at: a prompt, a cancel, an answer, a delete.
        This node's own commits only."""

    def rang(self, streams: Collection[StreamId]) -> None:
        """Another node committed to these logs: there may be more to read."""

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        """As `changed`, by a commit of another node."""

    def rang_kept(self, name: str) -> None:
        """Another node changed the kept value of this name."""

    def resync(self) -> None:
        """Rings may have been lost, or what was committed here in doubt was told to nobody: look
        at everything. Told again every second for as long as that is so, and once after it."""


class Log(Protocol):
    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        """Store all events (of parts, one at least) or none; gives the last seq. Raises Fenced
        for a past owner.

        A future, not a coroutine: this is done for every token, and a task each would cost more.
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
        dead: NodeId | None = None,
    ) -> tuple[T, int]:
        """Lay the session's desk, decide, and store the change; return its result and the head.

        What `decide` raises comes out and nothing is stored; it may be called again, and then
        only its last word counts. With `once`, a request that was stored before gives its first
        result again, read as `answer`; another body under its key raises IdempotencyMismatch.
        NotFound if the session does not exist. With `dead`, Fenced if that node is alive at the
        moment of the change.
        """

    async def create_session(
        self,
        session: Session,
        events: Sequence[Event] = (),
        finished: Sequence[Message] = (),
        *,
        once: Once | None = None,
    ) -> Session:
        """Store a new session with the beginning of its log (a fork has one)."""


Together = Callable[[Mapping[SessionId, Desk]], Joint[T]]
"""Decides about several sessions at once, seeing the desks of those that are there."""


class Families(Protocol):
    """A session and its sub-agents, which are in one workspace. What a sub-agent asks is repeated in
    the log of the session that it is of, by every change that tells of it."""

    async def commit_together(
        self, session_ids: Sequence[SessionId], decide: Together[T], *, new: Session | None = None
    ) -> T:
        """As `commit`, for all of these sessions, and for a new one: all changes or none. A new one
        that the decision changes nothing of is not made."""


class Insides(Protocol):
    """What only the engine sees of a session."""

    async def control(self, session_id: SessionId) -> Control: ...

    async def open_message(self, session_id: SessionId) -> Message | None:
        """The unfinished answer of the active run, as the log has it now."""

    async def background(self, session_id: SessionId) -> Background:
        """Everything since the last compaction, the open message included."""

    async def open_things(self, kind: type[K]) -> Sequence[K]:
        """The open things of this kind, of all sessions."""


class Places(Protocol):
    """Workspaces, and the files that prompts carry."""

    async def put_workspace(self, workspace: Workspace, *, once: Once | None = None) -> Workspace:
        """Store a new workspace, or in the place of the one with its id."""

    async def change_workspace(
        self, workspace_id: WorkspaceId, change: Callable[[Workspace], Workspace]
    ) -> Workspace:
        """Store what `change` makes of it as it is now; it may be called again. NotFound if there
        is none."""

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        """Remove an empty workspace and its log. SessionBusy if it still has sessions or
        comparisons."""

    async def put_file(
        self, info: FileInfo, content: bytes, *, once: Once | None = None
    ) -> FileInfo:
        """Store a file; it goes with the last session that speaks of it."""


class Outputs(Protocol):
    """What tools and jobs printed, whole, beside the log."""

    async def keep_output(
        self,
        session_id: SessionId,
        name: str,
        piece: OutputPiece,
        *,
        forget: tuple[int, int] = (0, 0),
    ) -> None:
        """Keep a piece of the output of this name, in the place of one that begins there; the
        first takes the place of all. Those that begin in `forget` go. Done twice it is done once.
        NotFound if there is no such session: with it, its outputs go."""


class Judging(Protocol):
    """The one place where a change is of several sessions: those of one comparison, in one
    workspace. A vote shows all models or none."""

    async def create_comparison(
        self, comparison: Comparison, *, once: Once | None = None
    ) -> Comparison:
        """Store a new comparison with a new session for each pane, all or nothing."""

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


class Nodes(Protocol):
    """Leases are by the store's own clock: no node's clock decides whether another is alive."""

    @property
    def shared(self) -> bool:
        """Whether other nodes may be on it. If not, leases and rings are trivial."""

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        """This node owns its runs for that long from now. Writes nothing where only one node can
        be."""

    async def farewell(self, node: NodeId) -> None:
        """This node has stopped: it is gone at once."""

    async def living(self) -> Collection[NodeId]:
        """Nodes that are not gone; none where only one node can be."""

    async def nodes(self) -> Sequence[NodeStanding]:
        """Those that are there and those that were until a day ago, oldest first."""

    async def orphans(self, node: NodeId) -> Sequence[Orphan]:
        """Running runs whose owner is neither this node nor alive; none that are parked."""

    async def owned(self, node: NodeId) -> Sequence[Orphan]:
        """Running runs whose owner is this node: whoever works on none of them has lost it."""

    async def lead(self, task: str, node: NodeId, *, seconds: float) -> bool:
        """Whether this node is the one to do the task, for that long from now. Who asks again in
        time stays it."""


class KeptValue(Value):
    body: bytes
    rev: int
    """Goes up with each change; the first is 1."""


class Keeping(Protocol):
    """Single values that every node shares, each under its name: settings, the token."""

    async def kept(self, name: str) -> KeptValue | None:
        """As it stands now; None: nothing was ever kept."""

    async def keep(self, name: str, body: bytes, *, rev: int) -> int:
        """Keep this instead of what was read at `rev` (0: nothing was); return its own rev.

        Raises Conflict if somebody was quicker. Other nodes are rung (`rang_kept`).
        """


class Upkeep(Protocol):
    async def open(self) -> None:
        """Get ready; migrate if needed. Raises StorageTrouble with a sentence for people."""

    async def close(self) -> None: ...

    async def check(self) -> None:
        """Raises StorageTrouble if a prompt could not be stored now."""

    async def waiting_sessions(self) -> Sequence[SessionId]:
        """Sessions with queued runs and no active one, or with a parked one that is due."""

    async def fold_deltas(self, *, before: Instant, limit: int) -> int:
        """Replace the deltas of each part that was finished before then by one; return how many
        events went away. The fold of a log stays the same."""

    async def purge(self, *, before: Instant) -> int:
        """Remove what is left of sessions deleted before then, and what is older than a day
        before then: requests (`Once`) and files that no session speaks of. Return how many logs
        went away."""


class Store(
    View,
    Log,
    Desks,
    Families,
    Insides,
    Places,
    Outputs,
    Judging,
    Nodes,
    Keeping,
    Upkeep,
    Protocol,
):
    """All of it. One object per technology, one conformance suite for all."""

    def seen_by(self, who: Principal) -> View:
        """What this principal may read of it: the owner, everything."""
