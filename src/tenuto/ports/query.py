"""What a store is asked for, and what it gives: values only."""

from enum import StrEnum

from tenuto.core.comparison import Comparison
from tenuto.core.event import Stored
from tenuto.core.message import Message
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Session, Workspace
from tenuto.core.thing import Thing
from tenuto.core.value import (
    Instant,
    MessageId,
    NodeId,
    PartId,
    PrincipalId,
    RunId,
    SessionId,
    Value,
    WorkspaceId,
)


class Page(Value):
    """A stretch of a log."""

    events: tuple[Stored, ...]
    head: int
    folded: int
    """Deltas up to this seq may have been folded away: a cursor below it needs a snapshot."""


class Once(Value):
    """A client's word that it may send the same request again (Idempotency-Key)."""

    by: PrincipalId
    """Whose key it is: another's may be the same."""
    key: str
    """Unique for the client's intent: the caller puts the path into it."""
    digest: str
    """Of the request's body."""
    at: Instant


class SessionQuery(Value):
    workspace_id: WorkspaceId | None = None
    words: str | None = None
    archived: bool = False
    parent: SessionId | None = None
    """Only its sub-agents, archived or not."""
    children: bool = False
    """Sub-agents too; else there are none, unless `parent` names whose."""
    limit: int = 50
    cursor: str | None = None


class SessionPage(Value):
    sessions: tuple[Session, ...]
    next: str | None
    head: int | None = None
    """Where the workspace's log was when this was read; None if all of them were asked for."""


class RunQuery(Value):
    session_id: SessionId | None = None
    status: RunStatus | None = None
    limit: int = 50
    cursor: str | None = None


class PlacedRun(Value):
    """A run, and where it is in its session's log."""

    run: Run
    accepted: int
    """The seq of its `run.accepted`: nothing of the run is before it."""
    head: int
    """Of the log, at the same moment."""


class RunPage(Value):
    runs: tuple[Run, ...]
    next: str | None


class Compaction(Value):
    """What the model is told instead of all messages up to one."""

    through_message_id: MessageId
    through_part_id: PartId | None = None
    """Within that message; None: to its end."""
    summary: str


class SessionSnapshot(Value):
    """A session as it was at one point of its log."""

    session: Session
    """Its `head` is that point."""
    messages: tuple[Message, ...]
    runs: tuple[Run, ...]
    """Unfinished runs and the newest hundred, oldest first."""
    things: tuple[Thing, ...] = ()
    """Those that are open (pending approvals), oldest first."""
    queue: tuple[RunId, ...] = ()
    """The order in which the queued runs will start."""
    compactions: tuple[Compaction, ...] = ()
    """Oldest first."""
    more: bool = False
    """Whether there are messages before these."""


class WorkspaceOverview(Value):
    """A workspace as it was at one point of its log."""

    workspace: Workspace
    sessions: tuple[Session, ...]
    """The newest that are not archived."""
    next: str | None
    runs: tuple[Run, ...]
    """All that run or wait in its sessions, those that run first; no panes of comparisons."""
    head: int
    """That point."""


class MessagePage(Value):
    """The newest messages, or those before one of them, oldest first."""

    messages: tuple[Message, ...]
    head: int
    before: MessageId | None
    """Ask for the messages before this one to read on; None: there are no older ones."""


class Background(Value):
    """What a model is told of a session before its next step."""

    summary: str | None
    """Of all before `messages`; None if nothing was compacted."""
    messages: tuple[Message, ...]
    head: int
    """Of the log that this was read from."""


class ComparisonQuery(Value):
    workspace_id: WorkspaceId | None = None
    limit: int = 50
    cursor: str | None = None


class Compared(Value):
    """A comparison and those of its panes' sessions that are still there, in their order."""

    comparison: Comparison
    sessions: tuple[Session, ...]


class ComparedPage(Value):
    comparisons: tuple[Compared, ...]
    next: str | None


class Orphan(Value):
    """A run that says running while its owner is gone."""

    session_id: SessionId
    run_id: RunId
    owner: NodeId | None = None
    """Whose it was; None: nobody has written it down."""


class NodeState(StrEnum):
    ALIVE = "alive"
    DRAINING = "draining"
    """Alive, and taking no more work."""
    GONE = "gone"


class NodeCard(Value):
    """What a node says of itself with each beat."""

    id: NodeId
    name: str = ""
    """What people call it; it may be the same after a restart, the id is not."""
    version: str = ""
    draining: bool = False
    active_runs: int = 0
    started_at: Instant


class Pulse(Value):
    """What a node learns from its own beat."""

    now: Instant | None = None
    """By the store's clock, when it counted the beat; None: it has none, the node's own counts."""
    living: frozenset[NodeId] = frozenset()
    """As `Nodes.living`, at that moment."""
    kept: int | None = None
    """Another number whenever a kept value was changed since; None: nobody else could."""


class NodeStanding(Value):
    """A node, and how it stands now."""

    id: NodeId
    name: str
    version: str
    state: NodeState
    started_at: Instant
    seen_at: Instant
    """When its last beat was counted."""
    active_runs: int
    """As it said then."""
