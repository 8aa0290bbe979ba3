"""Where the memory store keeps things: tapes (logs) and the rows of each session."""

from bisect import bisect_right
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from tenuto.core.comparison import Comparison
from tenuto.core.day_usage import DayUsage
from tenuto.core.desk import Desk, Outline, Sight
from tenuto.core.error import Conflict
from tenuto.core.event import Event, Stored, store_as
from tenuto.core.file import FileInfo
from tenuto.core.message import Message
from tenuto.core.output import OutputPiece
from tenuto.core.run import Mode, Reason, Run, RunStatus
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.thing import Thing, is_open, kind_of
from tenuto.core.value import (
    ComparisonId,
    FileId,
    Instant,
    MessageId,
    NodeId,
    PrincipalId,
    RunId,
    SessionId,
    StreamId,
    Value,
    WorkspaceId,
)
from tenuto.ports.query import NodeCard
from tenuto.ports.store import KeptValue
from tenuto.storage.folding import grown
from tenuto.storage.missing import no_file, no_such
from tenuto.storage.once import Answer
from tenuto.storage.plan import CompactionRow, Plan


class Tape:
    """A log. Seqs only go up; folding may leave gaps below `folded`."""

    def __init__(self) -> None:
        self.head = 0
        self.folded = 0
        self.deleted_at: Instant | None = None
        self.events: list[Stored] = []

    def append(self, events: Sequence[Event]) -> tuple[Stored, ...]:
        stored = tuple(store_as(event, self.head + n) for n, event in enumerate(events, start=1))
        self.extend(stored)
        return stored

    def extend(self, stored: Sequence[Stored]) -> None:
        self.events += stored
        self.head += len(stored)

    def after(self, seq: int) -> list[Stored]:
        return self.events[bisect_right(self.events, seq, key=lambda stored: stored.seq) :]

    def forget(self, session_id: SessionId) -> None:
        """Remove what a workspace's log says of a session."""
        gone = [stored.seq for stored in self.events if stored.event().session_id == session_id]
        kept = set(gone)
        self.events = [stored for stored in self.events if stored.seq not in kept]
        self.folded = max([self.folded, *gone])


class Unfolded(Value):
    """A finished message whose deltas are still as they came."""

    message_id: MessageId
    first: int
    last: int
    finished_at: Instant


class SessionRows:
    """The rows of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.control = Control()
        self.runs: dict[RunId, Run] = {}
        self.accepted: dict[RunId, int] = {}
        self.messages: dict[MessageId, Message] = {}
        self.started: dict[MessageId, int] = {}
        self.things: dict[tuple[str, str], Thing] = {}
        """By the name of their kind and their id."""
        self.compactions: list[CompactionRow] = []
        self.outputs: dict[str, dict[int, OutputPiece]] = {}
        """By name, each piece by its place."""
        self.unfolded: list[Unfolded] = []

    def desk(self, sight: Sight, *, head: int) -> Desk:
        active = self.session.active_run
        desk = Desk(
            session=replace(self.session, head=head),
            control=self.control,
            active=None if active is None else self.runs[active],
            queue=tuple(self.runs[run_id] for run_id in self.control.queue),
            things=self.open_things(),
        )
        if sight is Sight.CONTROL:
            return desk
        if sight is Sight.RUNS:
            newest = sorted(self.runs.values(), key=lambda run: run.accept_number, reverse=True)
            return replace(desk, runs=tuple(newest))
        outline = tuple(
            Outline(id=m.id, role=m.role, run_id=m.run_id) for m in self.messages.values()
        )
        return replace(desk, outline=outline, last_run=self._last_run())

    def open_things(self) -> tuple[Thing, ...]:
        return tuple(thing for thing in self.things.values() if is_open(thing))

    def apply(self, plan: Plan) -> None:
        self.session, self.control = plan.session, plan.control
        for message_id in plan.removed:
            self.messages.pop(message_id, None)
        self.compactions = [c for c in self.compactions if c.through not in plan.removed]
        self.compactions += plan.compactions
        for run in plan.runs:
            self.runs[run.run.id] = run.run
            if run.accepted is not None:
                self.accepted[run.run.id] = run.accepted
        for row in plan.messages:
            self.messages[row.message.id] = row.message
            first = self.started.setdefault(row.message.id, row.started or 0)
            if row.finished is not None and row.finished_at is not None:
                self.unfolded.append(
                    Unfolded(
                        message_id=row.message.id,
                        first=first,
                        last=row.finished,
                        finished_at=row.finished_at,
                    )
                )
        for told in plan.things:
            self.things[kind_of(type(told.thing)).name, told.thing.id] = told.thing

    def transcript(self, tape: Tape) -> tuple[Message, ...]:
        return tuple(self.whole(message, tape) for message in self.messages.values())

    def whole(self, message: Message, tape: Tape) -> Message:
        if message.finish_reason is not None:
            return message
        return grown(message, tape.after(self.started[message.id]))

    def _last_run(self) -> Run | None:
        own = [
            run
            for run in self.runs.values()
            if run.reason is not Reason.WITHDRAWN
            and run.steered_into is None
            and run.mode is not Mode.COMPACT
        ]
        return max(own, key=lambda run: run.accept_number, default=None)


class Lease(msgspec.Struct):
    """What a node said of itself last, and until when it is believed to be alive."""

    card: NodeCard
    seen_at: Instant
    until: float
    """On the store's clock."""


class State:
    """Everything that a memory store holds."""

    def __init__(self) -> None:
        self.tapes: dict[StreamId, Tape] = {}
        self.by_session: dict[SessionId, SessionRows] = {}
        self.workspaces: dict[WorkspaceId, Workspace] = {}
        self.files: dict[FileId, tuple[FileInfo, bytes]] = {}
        self.uses: dict[FileId, set[SessionId]] = {}
        """The sessions that speak of each file."""
        self.comparisons: dict[ComparisonId, Comparison] = {}
        self.answers: dict[tuple[PrincipalId, str], Answer] = {}
        """By who asked, and their key."""
        self.leases: dict[NodeId, Lease] = {}
        self.leaders: dict[str, tuple[NodeId, float]] = {}
        """By task: who does it, and until when on the store's clock."""
        self.usage: dict[tuple[WorkspaceId, PrincipalId, str, str, str], DayUsage] = {}
        """By workspace, who prompted, day and model."""
        self.kept: dict[str, KeptValue] = {}

    def rows(self, session_id: SessionId) -> SessionRows:
        if session_id not in self.by_session:
            raise no_such("session", session_id)
        return self.by_session[session_id]

    def tape(self, stream: str) -> Tape:
        tape = self.tapes.get(StreamId(stream))
        if tape is None:
            raise no_such("log", stream)
        return tape

    def session(self, rows: SessionRows) -> Session:
        return replace(rows.session, head=self.tape(rows.session.id).head)

    def workspace(self, workspace_id: WorkspaceId) -> Workspace:
        if workspace_id not in self.workspaces:
            raise no_such("workspace", workspace_id)
        return self.workspaces[workspace_id]

    def comparison(self, comparison_id: ComparisonId) -> Comparison:
        if comparison_id not in self.comparisons:
            raise no_such("comparison", comparison_id)
        return self.comparisons[comparison_id]

    def run(self, run_id: RunId) -> tuple[SessionRows, Run]:
        for rows in self.by_session.values():
            if run_id in rows.runs:
                return rows, rows.runs[run_id]
        raise no_such("run", run_id)

    def runs(self, status: RunStatus | None) -> list[Run]:
        return [
            run
            for rows in self.by_session.values()
            for run in rows.runs.values()
            if status is None or run.status is status
        ]

    def must_hold(self, files: Sequence[FileId]) -> None:
        for file_id in files:
            if file_id not in self.files:
                raise no_file(file_id)

    def must_be_new(self, session_id: SessionId) -> None:
        if StreamId(session_id) in self.tapes:
            raise Conflict(f"there is a session {session_id} already")

    def add(self, session: Session) -> SessionRows:
        self.must_be_new(session.id)
        self.tapes[StreamId(session.id)] = Tape()
        self.by_session[session.id] = SessionRows(session)
        return self.by_session[session.id]

    def forget_answers(self, owner: str) -> None:
        self.answers = {k: a for k, a in self.answers.items() if a.owner != owner}

    def remove(self, session: Session, at: Instant) -> None:
        """A deleted session leaves its log, and nothing else."""
        del self.by_session[session.id]
        self.forget_answers(session.id)
        for file_id in [one for one, users in self.uses.items() if session.id in users]:
            self.uses[file_id].discard(session.id)
            if not self.uses[file_id]:
                self.files.pop(file_id, None)
        self.tape(session.workspace_id).forget(session.id)
        self.tape(session.id).deleted_at = at
