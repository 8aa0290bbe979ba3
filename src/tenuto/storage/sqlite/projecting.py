"""Writing a plan: a change's events and rows, in the caller's transaction."""

import logging

from tenuto.core.day_usage import Booking
from tenuto.core.event import Event, Stored, store_as
from tenuto.core.message import Message
from tenuto.core.session import Session
from tenuto.core.value import SessionId, StreamId
from tenuto.storage.missing import no_file, no_such
from tenuto.storage.plan import ApprovalRow, MessageRow, Plan, RunRow
from tenuto.storage.sqlite import search
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import ABOUT_THE_CONTENT
from tenuto.storage.sqlite.rows import encode
from tenuto.storage.sqlite.usage import add_usage

log = logging.getLogger(__name__)

Told = tuple[tuple[StreamId, tuple[Stored, ...]], ...]


def write_plan(transaction: Transaction, plan: Plan, *, before: Session) -> Told:
    """Store all of it; return what each log has got. `before` is the session as it was."""
    session = plan.session
    stream = StreamId(session.id)
    insert_events(transaction, stream, plan.stored, about=None)
    _write_log(transaction, plan)
    if plan.deleted_at is None:
        _write_rows(transaction, plan, before)
    else:
        _remove_session(transaction, session)
    for booking in plan.used:
        _book(transaction, session, booking)
    shared = _share(transaction, session, plan.shared)
    told = ((stream, plan.stored), (StreamId(session.workspace_id), shared))
    return tuple((log, stored) for log, stored in told if stored)


def _book(transaction: Transaction, session: Session, booking: Booking) -> None:
    """Book it, or leave it: usage that cannot be written must not keep a run from its ending."""
    try:
        add_usage(transaction, session.workspace_id, booking)
    except (*ABOUT_THE_CONTENT, OverflowError, ValueError, TypeError):
        # The statement is undone by itself, and the transaction goes on without it.
        log.exception("the usage of a run is not booked", extra={"session_id": session.id})


def insert_events(
    transaction: Transaction,
    stream: StreamId,
    stored: tuple[Stored, ...],
    *,
    about: SessionId | None,
) -> None:
    rows = [(stream, one.seq, one.type, one.run_id, about, one.body) for one in stored]
    if rows:
        transaction.many("insert_event", rows)


def _write_log(transaction: Transaction, plan: Plan) -> None:
    deleted = plan.deleted_at is not None
    transaction.run(
        "update_log",
        stream=plan.session.id,
        head=plan.session.head,
        active_run=None if deleted else plan.session.active_run,
        epoch=plan.control.epoch,
        owner=None if deleted else plan.control.owner,
        deleted_at=plan.deleted_at,
    )


def _write_rows(transaction: Transaction, plan: Plan, before: Session) -> None:
    session = plan.session
    transaction.run(
        "update_session",
        id=session.id,
        workspace_id=session.workspace_id,
        archived=session.archived,
        comparison_id=session.comparison.id if session.comparison else None,
        updated_at=session.updated_at,
        body=encode(session),
        control=encode(plan.control),
    )
    if session.title != before.title:
        search.enter_title(transaction, session)
    for message_id in plan.removed:
        transaction.run("delete_message", session_id=session.id, id=message_id)
        transaction.run("drop_compaction", session_id=session.id, message_id=message_id)
        search.leave(transaction, session.id, message_id)
    for file_id in plan.claimed:
        if transaction.row("file", id=file_id) is None:
            raise no_file(file_id)
    for file_id in plan.files:
        transaction.run("use_file", session_id=session.id, file_id=file_id)
        transaction.run("keep_file", file_id=file_id)
    for run in plan.runs:
        _write_run(transaction, run)
    for message in plan.messages:
        _write_message(transaction, message)
    for approval in plan.approvals:
        _write_approval(transaction, approval)
    for compaction in plan.compactions:
        transaction.run(
            "put_compaction",
            session_id=session.id,
            seq=compaction.seq,
            through=compaction.through,
            part=compaction.part,
            summary=compaction.summary,
        )


def _write_run(transaction: Transaction, row: RunRow) -> None:
    run = row.run
    if row.accepted is None:
        transaction.run(
            "update_run", session_id=run.session_id, id=run.id, status=run.status, body=encode(run)
        )
        return
    transaction.run(
        "put_run",
        session_id=run.session_id,
        id=run.id,
        accept_number=run.accept_number,
        accepted_at=run.accepted_at,
        accepted_seq=row.accepted,
        status=run.status,
        body=encode(run),
    )


def _write_message(transaction: Transaction, row: MessageRow) -> None:
    message = row.message
    started = row.started
    if started is None:
        started = _finish_message(transaction, message)
    else:
        transaction.run(
            "put_message",
            session_id=message.session_id,
            id=message.id,
            seq=started,
            role=message.role,
            run_id=message.run_id,
            body=encode(message),
        )
    if message.finish_reason is not None:
        _index(transaction, message)
    if row.finished is not None and message.parts:
        transaction.run(
            "put_unfolded",
            session_id=message.session_id,
            message_id=message.id,
            first=started,
            last=row.finished,
            finished_at=row.finished_at,
        )


def _index(transaction: Transaction, message: Message) -> None:
    """Make it findable, or leave it: what cannot be indexed must still be stored."""
    try:
        search.enter_message(transaction, message)
    except ABOUT_THE_CONTENT:
        log.exception("a message is not indexed", extra={"session_id": message.session_id})


def _finish_message(transaction: Transaction, message: Message) -> int:
    found = transaction.row(
        "finish_message", session_id=message.session_id, id=message.id, body=encode(message)
    )
    if found is None:
        raise no_such("message", message.id)
    return int(found[0])


def _write_approval(transaction: Transaction, row: ApprovalRow) -> None:
    approval = row.approval
    common = {
        "session_id": approval.session_id,
        "id": approval.id,
        "state": approval.state,
        "body": encode(approval),
    }
    if row.asked is None:
        transaction.run("update_approval", **common)
    else:
        transaction.run("put_approval", seq=row.asked, **common)


def _share(
    transaction: Transaction, session: Session, events: tuple[Event, ...]
) -> tuple[Stored, ...]:
    if not events:
        return ()
    stream = StreamId(session.workspace_id)
    found = transaction.row("workspace_head", stream=stream, n=len(events))
    if found is None:
        raise no_such("workspace", session.workspace_id)
    first = found[0] - len(events) + 1
    stored = tuple(store_as(event, first + n) for n, event in enumerate(events))
    insert_events(transaction, stream, stored, about=session.id)
    return stored


def _remove_session(transaction: Transaction, session: Session) -> None:
    """Everything but the log goes at once; what the workspace's log said of it goes too."""
    search.leave_all(transaction, session.id)
    for table in ("runs", "messages", "approvals", "compactions", "unfolded"):
        transaction.run(f"delete_{table}", session_id=session.id)
    transaction.run("delete_answers", owner=session.id)
    transaction.run("delete_session", session_id=session.id)
    for (file_id,) in transaction.rows("drop_uses", session_id=session.id):
        transaction.run("delete_unused_file", file_id=file_id)
    workspace = session.workspace_id
    gone = transaction.rows("forget_in_workspace", session_id=session.id, stream=workspace)
    if gone:
        transaction.run("raise_folded", stream=workspace, seq=max(seq for (seq,) in gone))
