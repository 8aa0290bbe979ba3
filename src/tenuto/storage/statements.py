"""A plan as rows, table by table: what every database writes, whatever its dialect.

Each row is a tuple with the columns of its table in their order, so that one store may run a
statement for each and another may send them all as columns.
"""

from typing import NamedTuple

import msgspec

from tenuto.core.event import Event, Stored, store_as
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Session
from tenuto.core.thing import is_open, kind_of
from tenuto.core.value import FileId, Instant, MessageId, SessionId, StreamId, WorkspaceId
from tenuto.storage.plan import MessageRow, Plan, RunRow, ThingRow

TITLE = ""
"""In the place of a message id, for the words of a session's title."""
HELD = "held"
"""In the place of a queued run's status, while it is passed over."""
HIDDEN = ""
"""In the place of a model's name, while it may not be told."""


class LogRow(NamedTuple):
    stream: StreamId
    head: int
    active_run: str | None
    epoch: int
    owner: str | None
    """The node of the active run; or how it is parked, which is no node's id."""
    deleted_at: Instant | None


class EventRow(NamedTuple):
    stream: StreamId
    seq: int
    type: str
    run_id: str | None
    about: SessionId | None
    body: bytes


class SessionRow(NamedTuple):
    id: SessionId
    workspace_id: WorkspaceId
    archived: bool
    comparison_id: str | None
    updated_at: Instant
    body: bytes
    control: bytes


class NewRunRow(NamedTuple):
    session_id: SessionId
    id: str
    accept_number: int
    accepted_at: Instant
    accepted_seq: int
    status: str
    body: bytes


class ChangedRunRow(NamedTuple):
    """A run as it is now."""

    session_id: SessionId
    id: str
    status: str
    body: bytes


class NewMessageRow(NamedTuple):
    session_id: SessionId
    id: MessageId
    seq: int
    role: str
    run_id: str | None
    body: bytes
    open: bool
    """Whether its parts are in the log only."""


class WholeMessageRow(NamedTuple):
    """A message of an earlier change that is finished now."""

    session_id: SessionId
    id: MessageId
    body: bytes


class UnfoldedRow(NamedTuple):
    """`first` is not known here: it is the seq of the message's own row."""

    session_id: SessionId
    message_id: MessageId
    last: int
    finished_at: Instant


class PutThingRow(NamedTuple):
    """A thing as it is now; `seq` is its place if it is new, and nothing else otherwise."""

    session_id: SessionId
    kind: str
    id: str
    seq: int
    open: bool
    body: bytes


class SummaryRow(NamedTuple):
    session_id: SessionId
    seq: int
    through: MessageId
    part: str | None
    summary: str


class TextRow(NamedTuple):
    """What can be searched for; `message_id` is `TITLE` for a session's title."""

    session_id: SessionId
    message_id: str
    text: str


class UsageRow(NamedTuple):
    day: str
    workspace_id: WorkspaceId
    by: str
    model: str
    kind: str
    runs: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    exact: bool
    cost_usd: float | None


class Rows(NamedTuple):
    """All that one change of one session writes."""

    log: LogRow
    workspace_id: WorkspaceId
    session: SessionRow | None
    """None if the change deletes it: its rows go, its log stays."""
    events: tuple[EventRow, ...]
    new_runs: tuple[NewRunRow, ...]
    changed_runs: tuple[ChangedRunRow, ...]
    removed: tuple[MessageId, ...]
    """Messages that go, with their summaries and their words."""
    new_messages: tuple[NewMessageRow, ...]
    whole_messages: tuple[WholeMessageRow, ...]
    unfolded: tuple[UnfoldedRow, ...]
    things: tuple[PutThingRow, ...]
    summaries: tuple[SummaryRow, ...]
    texts: tuple[TextRow, ...]
    """Each takes the place of what was known under its ids."""
    files: tuple[FileId, ...]
    claimed: tuple[FileId, ...]
    usage: tuple[UsageRow, ...]
    shared: tuple[Event, ...]
    """For the workspace's log: only the store can number them."""


def rows_of(plan: Plan, *, before: Session | None) -> Rows:
    """The rows of a plan; `before` is the session as it was, None if it is new."""
    session, deleted = plan.session, plan.deleted_at is not None
    log = LogRow(
        stream=StreamId(session.id),
        head=session.head,
        active_run=None if deleted else session.active_run,
        epoch=plan.control.epoch,
        owner=None if deleted else plan.control.owner or plan.control.parked,
        deleted_at=plan.deleted_at,
    )
    events = event_rows(StreamId(session.id), plan.stored, about=None)
    usage = _usage(plan)
    if deleted:
        return Rows(log, session.workspace_id, None, events, *((),) * 11, usage, plan.shared)
    old_title = "" if before is None else before.title
    title = () if session.title == old_title else (TextRow(session.id, TITLE, session.title),)
    runs, messages = plan.runs, plan.messages
    return Rows(
        log=log,
        workspace_id=session.workspace_id,
        session=_session(plan),
        events=events,
        new_runs=tuple(_new_run(row, row.accepted) for row in runs if row.accepted is not None),
        changed_runs=tuple(_changed_run(row) for row in runs if row.accepted is None),
        removed=plan.removed,
        new_messages=tuple(_new_message(m, m.started) for m in messages if m.started is not None),
        whole_messages=tuple(_whole_message(m) for m in messages if m.started is None),
        unfolded=tuple(
            _unfolded(m) for m in messages if m.finished is not None and m.message.parts
        ),
        things=tuple(_thing(session.id, row) for row in plan.things),
        summaries=tuple(
            SummaryRow(session.id, c.seq, c.through, c.part, c.summary) for c in plan.compactions
        ),
        texts=title
        + tuple(
            TextRow(session.id, m.message.id, m.message.text())
            for m in messages
            if m.message.finish_reason is not None
        ),
        files=plan.files,
        claimed=plan.claimed,
        usage=usage,
        shared=plan.shared,
    )


def states_of(status: RunStatus) -> tuple[str, str]:
    """What rows of runs with this status may say."""
    return status.value, HELD if status is RunStatus.QUEUED else status.value


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def event_rows(
    stream: StreamId, stored: tuple[Stored, ...], *, about: SessionId | None
) -> tuple[EventRow, ...]:
    return tuple(EventRow(stream, s.seq, s.type, s.run_id, about, s.body) for s in stored)


def numbered(events: tuple[Event, ...], *, after: int) -> tuple[Stored, ...]:
    """The events in their places in a log that had reached `after`."""
    return tuple(store_as(event, after + n) for n, event in enumerate(events, start=1))


def _session(plan: Plan) -> SessionRow:
    session = plan.session
    return SessionRow(
        id=session.id,
        workspace_id=session.workspace_id,
        archived=session.archived,
        comparison_id=_whose(session),
        updated_at=session.updated_at,
        body=encode(session),
        control=encode(plan.control),
    )


def _whose(session: Session) -> str | None:
    """What it is part of, and not listed without: a comparison, or the session whose sub-agent it
    is. One column has both."""
    if session.comparison is not None:
        return session.comparison.id
    return session.parent.session_id if session.parent else None


def _new_run(row: RunRow, accepted: int) -> NewRunRow:
    run = row.run
    return NewRunRow(
        run.session_id,
        run.id,
        run.accept_number,
        run.accepted_at,
        accepted,
        _state(run),
        encode(run),
    )


def _changed_run(row: RunRow) -> ChangedRunRow:
    return ChangedRunRow(row.run.session_id, row.run.id, _state(row.run), encode(row.run))


def _state(run: Run) -> str:
    return HELD if run.held else run.status.value


def _new_message(row: MessageRow, started: int) -> NewMessageRow:
    m = row.message
    return NewMessageRow(
        m.session_id, m.id, started, m.role, m.run_id, encode(m), m.finish_reason is None
    )


def _whole_message(row: MessageRow) -> WholeMessageRow:
    return WholeMessageRow(row.message.session_id, row.message.id, encode(row.message))


def _unfolded(row: MessageRow) -> UnfoldedRow:
    assert row.finished is not None and row.finished_at is not None
    return UnfoldedRow(row.message.session_id, row.message.id, row.finished, row.finished_at)


def _thing(session_id: SessionId, row: ThingRow) -> PutThingRow:
    """Of the log that tells of it: a session repeats what its sub-agents ask."""
    thing = row.thing
    kind = kind_of(type(thing)).name
    return PutThingRow(session_id, kind, thing.id, row.seq, is_open(thing), encode(thing))


def _usage(plan: Plan) -> tuple[UsageRow, ...]:
    return tuple(
        UsageRow(
            day=booking.usage.day,
            workspace_id=plan.session.workspace_id,
            by=booking.by,
            model=booking.usage.model or HIDDEN,
            kind=booking.usage.kind.value,
            runs=booking.usage.runs,
            input_tokens=booking.usage.input_tokens,
            output_tokens=booking.usage.output_tokens,
            reasoning_tokens=booking.usage.reasoning_tokens,
            cache_read_tokens=booking.usage.cache_read_tokens,
            cache_write_tokens=booking.usage.cache_write_tokens,
            exact=booking.usage.exact,
            cost_usd=booking.usage.cost_usd,
        )
        for booking in plan.used
    )
