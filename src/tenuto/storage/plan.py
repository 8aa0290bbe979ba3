"""What a change does to a session's rows, worked out once for every technology."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from tenuto.core.day_usage import Booking, used_by
from tenuto.core.desk import Change, Desk
from tenuto.core.event import (
    IN_WORKSPACE,
    Event,
    MessageFinished,
    MessageStarted,
    PartDelta,
    PartStarted,
    PartUpdated,
    RunAccepted,
    RunFinished,
    RunStarted,
    RunUpdated,
    SessionCompacted,
    SessionCreated,
    SessionDeleted,
    SessionRewound,
    SessionUpdated,
    Stored,
    ThingEvent,
    store_as,
)
from tenuto.core.file_change import FileChange, files_kept
from tenuto.core.message import Message, ToolChange, files_in
from tenuto.core.principal import By
from tenuto.core.projection import session_after
from tenuto.core.run import Run, RunStatus, files_of
from tenuto.core.session import Control, Session
from tenuto.core.thing import Thing, kind_of
from tenuto.core.value import FileId, Instant, MessageId, PartId, RunId, Value

ECHOED = frozenset(
    ("approval.requested", "approval.resolved", "question.asked", "question.answered")
)


class RunRow(Value):
    run: Run
    accepted: int | None = None
    """The seq of its `run.accepted`; None if that is in an earlier change."""


class MessageRow(Value):
    message: Message
    started: int | None = None
    """The seq of its `message.started`; None if that is in an earlier change."""
    finished: int | None = None
    """The seq of its `message.finished`; None if it has none (yet)."""
    finished_at: Instant | None = None


class ThingRow(Value):
    thing: Thing
    seq: int
    """Of the first event of this change that tells of it: its place, if it is new."""


class CompactionRow(Value):
    seq: int
    through: MessageId
    part: PartId | None
    summary: str


class Plan(Value):
    """The rows of one session after a change. A row that is not named stays as it is."""

    session: Session
    control: Control
    stored: tuple[Stored, ...]
    """For the session's own log."""
    shared: tuple[Event, ...]
    """For the workspace's log, in this order."""
    runs: tuple[RunRow, ...]
    messages: tuple[MessageRow, ...]
    things: tuple[ThingRow, ...]
    compactions: tuple[CompactionRow, ...]
    removed: tuple[MessageId, ...]
    files: tuple[FileId, ...]
    """That the session speaks of from now on."""
    claimed: tuple[FileId, ...]
    """Those that a prompt brings: it is not taken if one of them went away since it was checked."""
    used: tuple[Booking, ...]
    """For the usage of its workspace."""
    deleted_at: Instant | None
    """When the session was deleted; None while it lives."""


def plan(
    session: Session,
    control: Control,
    events: Sequence[Event],
    finished: Sequence[Message],
    revealed: Sequence[Run] = (),
    booked: Sequence[Booking] = (),
) -> Plan:
    """Every event projected to rows, in order; `finished` are the messages that end here,
    `revealed` the runs of which more is shown, and `booked` is what was used besides."""
    planner = _Planner(session, finished)
    for event in events:
        planner.apply(event)
    for run in revealed:
        planner.put(run)
    after = replace(planner.session, head=planner.head)
    return Plan(
        session=after,
        control=control,
        stored=tuple(planner.stored),
        shared=_shared(events, session, after, deleted=planner.deleted_at),
        runs=tuple(planner.runs.values()),
        messages=tuple(planner.messages.values()),
        things=tuple(planner.things.values()),
        compactions=tuple(planner.compactions),
        removed=tuple(planner.removed),
        files=tuple(dict.fromkeys(planner.files)),
        claimed=tuple(dict.fromkeys(planner.claimed)),
        used=(*used_by([e.run for e in events if isinstance(e, RunFinished)], revealed), *booked),
        deleted_at=planner.deleted_at,
    )


def planned_for(laid: Desk, change: Change[Any]) -> Plan:
    """What a change does to the session that it was decided on."""
    return plan(
        laid.session,
        change.control,
        change.events,
        change.finished,
        change.revealed,
        change.booked,
    )


def empty_desk(session: Session) -> Desk:
    """Of a session that is not there yet."""
    return Desk(session=session, control=Control(), active=None, queue=())


class _Planner:
    def __init__(self, session: Session, finished: Sequence[Message]) -> None:
        self.session = session
        self.head = session.head
        self.stored: list[Stored] = []
        self.runs: dict[RunId, RunRow] = {}
        self.messages: dict[MessageId, MessageRow] = {}
        self.things: dict[tuple[str, str], ThingRow] = {}
        self.compactions: list[CompactionRow] = []
        self.removed: list[MessageId] = []
        self.files: list[FileId] = []
        self.claimed: list[FileId] = []
        self.deleted_at: Instant | None = None
        self._finished = {message.id: message for message in finished}

    def apply(self, event: Event) -> None:
        self.head += 1
        self.stored.append(store_as(event, self.head))
        self.session = session_after(self.session, event)
        match event:
            case RunAccepted(run=run):
                self.runs[run.id] = RunRow(run=run, accepted=self.head)
                self._claim(run)
            case RunUpdated(run=run):
                self.put(run)
                if run.status is RunStatus.QUEUED:
                    self._claim(run)
            case RunStarted(run=run) | RunFinished(run=run):
                self.put(run)
            case MessageStarted(message=message):
                self.messages[message.id] = MessageRow(message=message, started=self.head)
                self.files += files_in(message)
            case MessageFinished():
                self._finish(event)
            case ThingEvent(thing=thing):
                key = kind_of(type(thing)).name, thing.id
                known = self.things.get(key, ThingRow(thing=thing, seq=self.head))
                self.things[key] = replace(known, thing=thing)
                self.files += files_kept(thing) if isinstance(thing, FileChange) else ()
            case SessionRewound(removed=removed):
                self._remove(removed)
            case SessionCompacted():
                self.compactions.append(
                    CompactionRow(
                        seq=self.head,
                        through=event.through_message_id,
                        part=event.through_part_id,
                        summary=event.summary,
                    )
                )
            case SessionDeleted():
                self.deleted_at = event.at
            case PartUpdated(part=ToolChange(files=tuple() as given)):
                self.files += [file.file_id for file in given]
            case PartStarted() | PartDelta() | PartUpdated() | SessionUpdated():
                # Parts reach their row when the message is whole; the session was folded above.
                pass
            case _:
                raise TypeError(f"{event!r} does not belong into a session's log")

    def put(self, run: Run) -> None:
        known = self.runs.get(run.id, RunRow(run=run))
        self.runs[run.id] = replace(known, run=run)

    def _claim(self, run: Run) -> None:
        self.files += files_of(run.input)
        self.claimed += files_of(run.input)

    def _finish(self, event: MessageFinished) -> None:
        whole = self._finished.get(event.message_id)
        if whole is None or whole.finish_reason != event.finish_reason:
            raise ValueError(f"message {event.message_id} was finished without its whole")
        self.files += files_in(whole)
        row = self.messages.get(whole.id, MessageRow(message=whole))
        self.messages[whole.id] = replace(
            row, message=whole, finished=self.head, finished_at=event.at
        )

    def _remove(self, removed: Sequence[MessageId]) -> None:
        self.removed += removed
        for message_id in removed:
            self.messages.pop(message_id, None)
        self.compactions = [c for c in self.compactions if c.through not in removed]


def _shared(
    events: Sequence[Event], before: Session, after: Session, *, deleted: Instant | None
) -> tuple[Event, ...]:
    if after.comparison is not None or after.parent:
        # A pane is its comparison's affair, a sub-agent its session's: whoever watches the
        # workspace sees none.
        return ()
    if before.comparison is not None:
        return (_created(after, events[-1].at, events[-1].by),)
    shared = tuple(event for event in events if isinstance(event, IN_WORKSPACE))
    if deleted is None:
        return shared
    # The workspace's log outlives the session: nothing that was said may stay in it.
    return tuple(
        replace(event, run=replace(event.run, input="", error=None))
        if isinstance(event, RunFinished)
        else event
        for event in shared
        if isinstance(event, RunFinished | SessionDeleted)
    )


def echoes(change: Plan) -> bool:
    """Whether it is of a sub-agent, and tells of something that people are asked."""
    return bool(change.session.parent) and any(one.type in ECHOED for one in change.stored)


def echo(change: Plan, root: Session, control: Control) -> Plan | None:
    """What a sub-agent asks, and what is answered, as the log of the session repeats it that people
    look at; None if there is nothing to repeat. `root` and `control` are as they are before it."""
    asked = (stored.event() for stored in change.stored if stored.type in ECHOED)
    run_id = change.session.parent.run_id if change.session.parent else None
    heard = run_id if run_id == root.active_run else None
    events = [replace(event, session_id=root.id, run_id=heard) for event in asked]
    return plan(root, control, events, ()) if events else None


def created(plan: Plan) -> Plan:
    """The plan of a new session: its workspace hears of it first, and it is not made if a file that
    it speaks of went away since it was read."""
    session = plan.session
    if session.comparison is not None or session.parent:
        return plan
    plan = replace(plan, claimed=plan.files)
    return replace(plan, shared=(_created(session, session.created_at, session.by), *plan.shared))


def _created(session: Session, at: Instant, by: By) -> Event:
    return SessionCreated(session_id=session.id, at=at, by=by, session=session)
