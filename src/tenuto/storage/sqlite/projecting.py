"""Writing a plan: a change's events and rows, in the caller's transaction."""

import logging

from tenuto.core.event import Event, Stored
from tenuto.core.session import Session
from tenuto.core.value import StreamId
from tenuto.storage.missing import no_file, no_such
from tenuto.storage.plan import Plan
from tenuto.storage.sqlite import search
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import ABOUT_THE_CONTENT
from tenuto.storage.sqlite.usage import add_usage
from tenuto.storage.statements import (
    TITLE,
    EventRow,
    Rows,
    SessionRow,
    TextRow,
    UsageRow,
    event_rows,
    numbered,
    rows_of,
)

log = logging.getLogger(__name__)

Told = tuple[tuple[StreamId, tuple[Stored, ...]], ...]


def write_plan(transaction: Transaction, plan: Plan, *, before: Session | None) -> Told:
    """Store all of it; return what each log has got. `before` is the session as it was."""
    session, rows = plan.session, rows_of(plan, before=before)
    _insert_events(transaction, rows.events)
    transaction.run("update_log", **rows.log._asdict())
    if rows.session is None:
        _remove_session(transaction, session)
    else:
        _write_rows(transaction, rows, rows.session)
    for booking in rows.usage:
        _book(transaction, session, booking)
    shared = _share(transaction, session, rows.shared)
    told = ((StreamId(session.id), plan.stored), (StreamId(session.workspace_id), shared))
    return tuple((log, stored) for log, stored in told if stored)


def _book(transaction: Transaction, session: Session, booking: UsageRow) -> None:
    """Book it, or leave it: usage that cannot be written must not keep a run from its ending."""
    try:
        add_usage(transaction, booking)
    except (*ABOUT_THE_CONTENT, OverflowError, ValueError, TypeError):
        # The statement is undone by itself, and the transaction goes on without it.
        log.exception("the usage of a run is not booked", extra={"session_id": session.id})


def _insert_events(transaction: Transaction, rows: tuple[EventRow, ...]) -> None:
    if rows:
        transaction.many("insert_event", rows)


def _write_rows(transaction: Transaction, rows: Rows, session: SessionRow) -> None:
    transaction.run("update_session", **session._asdict())
    for message_id in rows.removed:
        transaction.run("delete_message", session_id=session.id, id=message_id)
        transaction.run("drop_compaction", session_id=session.id, message_id=message_id)
        search.leave(transaction, session.id, message_id)
    for file_id in rows.claimed:
        if transaction.row("file", id=file_id) is None:
            raise no_file(file_id)
    for file_id in rows.files:
        transaction.run("use_file", session_id=session.id, file_id=file_id)
        transaction.run("keep_file", file_id=file_id)
    for run in rows.new_runs:
        transaction.run("put_run", **run._asdict())
    for changed in rows.changed_runs:
        transaction.run("update_run", **changed._asdict())
    for message in rows.new_messages:
        transaction.run("put_message", **message._asdict())
    for whole in rows.whole_messages:
        if transaction.row("finish_message", **whole._asdict()) is None:
            raise no_such("message", whole.id)
    for unfolded in rows.unfolded:
        transaction.run("put_unfolded", **unfolded._asdict())
    for text in rows.texts:
        _index(transaction, text)
    for thing in rows.things:
        transaction.run("put_thing", **thing._asdict())
    for summary in rows.summaries:
        transaction.run("put_compaction", **summary._asdict())


def _index(transaction: Transaction, row: TextRow) -> None:
    """Make it findable, or leave it: what cannot be indexed must still be stored."""
    try:
        if row.message_id == TITLE:
            search.leave(transaction, row.session_id, TITLE)
        search.enter(transaction, row)
    except ABOUT_THE_CONTENT:
        log.exception("a text is not indexed", extra={"session_id": row.session_id})


def _share(
    transaction: Transaction, session: Session, events: tuple[Event, ...]
) -> tuple[Stored, ...]:
    if not events:
        return ()
    stream = StreamId(session.workspace_id)
    found = transaction.row("workspace_head", stream=stream, n=len(events))
    if found is None:
        raise no_such("workspace", session.workspace_id)
    stored = numbered(events, after=found[0] - len(events))
    _insert_events(transaction, event_rows(stream, stored, about=session.id))
    return stored


def _remove_session(transaction: Transaction, session: Session) -> None:
    """Everything but the log goes at once; what the workspace's log said of it goes too."""
    search.leave_all(transaction, session.id)
    for table in ("runs", "messages", "things", "compactions", "unfolded", "outputs"):
        transaction.run(f"delete_{table}", session_id=session.id)
    transaction.run("delete_answers", owner=session.id)
    transaction.run("delete_session", session_id=session.id)
    for (file_id,) in transaction.rows("drop_uses", session_id=session.id):
        transaction.run("delete_unused_file", file_id=file_id)
    workspace = session.workspace_id
    gone = transaction.rows("forget_in_workspace", session_id=session.id, stream=workspace)
    if gone:
        transaction.run("raise_folded", stream=workspace, seq=max(seq for (seq,) in gone))
