"""Sessions, and the workspaces that hold them."""

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tenuto.core.cancel import CancelLedger
from tenuto.core.principal import OWNER
from tenuto.core.rule import Rule
from tenuto.core.run import Mode, RunError, Usage
from tenuto.core.value import (
    CallId,
    ComparisonId,
    Instant,
    JobId,
    MessageId,
    NodeId,
    PrincipalId,
    RunId,
    SessionId,
    Value,
    WorkspaceId,
)
from tenuto.core.veil import Veil

DEFAULT_WORKSPACE = WorkspaceId("default")


class TitleSource(StrEnum):
    PROVISIONAL = "provisional"
    AUTO = "auto"
    USER = "user"


class SessionState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"


class Workspace(Value):
    id: WorkspaceId
    name: str
    path: str
    home: str | None = None
    """`shared`, or the name of the node that the folder is on; None: on the one server."""
    rules: tuple[Rule, ...] = ()
    """What tools may do in it; the last that matches counts, a deny always."""
    by: PrincipalId = OWNER.id
    """Who made it."""
    created_at: Instant


class PaneOf(Value):
    """The comparison that a session is a pane of."""

    id: ComparisonId
    index: int
    label: str
    mode: Mode
    """Of prompts that name none."""
    blind: bool
    voted: bool = False


class ParentCall(Value):
    """The call that a session is the sub-agent of."""

    session_id: SessionId
    run_id: RunId
    call_id: CallId


class Session(Value):
    """What everyone may see of a session. A fold of its log."""

    id: SessionId
    workspace_id: WorkspaceId
    by: PrincipalId = OWNER.id
    """Who made it."""
    title: str = ""
    title_source: TitleSource = TitleSource.PROVISIONAL
    model: str | None = None
    """None: the server's default at the time of each prompt; in a blind pane, hidden."""
    system: str | None = None
    pinned: bool = False
    archived: bool = False
    draft: str = ""
    created_at: Instant
    updated_at: Instant
    """The last activity; settings and maintenance do not move it."""
    head: int = 0
    state: SessionState = SessionState.IDLE
    active_run: RunId | None = None
    queued: int = 0
    waiting_approvals: int = 0
    waiting_questions: int = 0
    usage: Usage = msgspec.field(default_factory=Usage)
    grants: tuple[str, ...] = ()
    """Tools that the user allowed for the whole session."""
    comparison: PaneOf | None = None
    """None: no pane; lists and searches show none of those."""
    parent: ParentCall | UnsetType = UNSET
    """The call that began it; UNSET: a session of its own, which lists and searches show."""

    @property
    def root_id(self) -> SessionId:
        """The session that people look at: its own, or the one whose sub-agent it is."""
        return self.parent.session_id if self.parent else self.id


class RunShown(Value):
    """What a vote shows of a run."""

    model: str | None
    error: RunError | None
    usage: Usage


class SessionChanges(Value):
    """What is new about a session. What is UNSET is as it was, and is not told."""

    title: str | UnsetType = UNSET
    title_source: TitleSource | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    system: str | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    draft: str | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    grants: tuple[str, ...] | UnsetType = UNSET
    comparison: PaneOf | UnsetType | None = UNSET
    queue: tuple[RunId, ...] | UnsetType = UNSET
    """The order in which queued runs will start; no field of the session."""
    runs: dict[RunId, RunShown] | UnsetType = UNSET
    """What a vote shows of the session's runs; no field of it either."""

    def fields(self) -> dict[str, Any]:
        """Those that are fields of the session."""
        told = msgspec.structs.asdict(self)
        return {k: v for k, v in told.items() if v is not UNSET and k not in ("queue", "runs")}


class Parking(StrEnum):
    """How a run stands that nobody works on: it waits for a person."""

    WAITING = "parked"
    DUE = "due"
    """It was answered, or cancelled: somebody must take it."""


class Pause(Value):
    """What a run had done and used when it last asked a person: whoever goes on with it needs it."""

    step: int
    usage: Usage
    seconds: float
    """That were left of its time."""


class Control(Value):
    """What only the engine sees of a session: who may write, and what was asked."""

    accept_count: int = 0
    cancels: CancelLedger = msgspec.field(default_factory=CancelLedger)
    epoch: int = 0
    """Goes up whenever a run starts or ends; a writer with an old one is fenced."""
    owner: NodeId | None = None
    parked: Parking | None = None
    """None: the active run, if there is one, has an owner."""
    pause: Pause | None = None
    """None: the active run has asked nobody yet."""
    open_message: MessageId | None = None
    queue: tuple[RunId, ...] = ()
    """The order in which queued runs will start."""
    attached: dict[RunId, NodeId] = msgspec.field(default_factory=dict)
    """By run that ends with its connection: the node that holds it."""
    children: tuple[SessionId, ...] = ()
    """Of sub-agents that the active run has begun."""
    expanded: dict[RunId, str] = msgspec.field(default_factory=dict)
    """By run that waits: what its command means."""
    grants: tuple[str, ...] = ()
    """As the session's own; older versions kept them only here."""
    has_jobs: bool = False
    """Whether it ever had one."""
    untold_jobs: tuple[JobId, ...] = ()
    """Jobs that have ended, and the model does not know it yet."""
    veil: Veil | None = None
    """Over a blind pane until the vote."""


class Fence(Value):
    """Proof that a writer still owns the session's active run."""

    run_id: RunId
    epoch: int
