"""Values out of the rows of a transaction."""

from tenuto.core.desk import Desk, Sight
from tenuto.core.message import Message
from tenuto.core.run import Run
from tenuto.core.thing import Thing
from tenuto.core.value import MessageId, RunId, SessionId
from tenuto.storage.assemble import (
    FOR_EVER,
    Held,
    decode,
    held_of,
    laid,
    things_of,
    unfinished,
    whole,
    with_sight,
)
from tenuto.storage.missing import no_such
from tenuto.storage.sqlite.file.transaction import Row, Transaction


def held(transaction: Transaction, session_id: SessionId) -> Held:
    row = transaction.row("session", session_id=session_id)
    if row is None:
        raise no_such("session", session_id)
    return held_of(row)


def desk(transaction: Transaction, session_id: SessionId, sight: Sight) -> Desk:
    """What a decision about the session sees."""
    found = held(transaction, session_id)
    runs = [run_of(transaction, session_id, run_id) for run_id in unfinished(found)]
    shown = laid(found, runs, open_things(transaction, session_id))
    if sight is Sight.CONTROL:
        return shown
    every = transaction.each("runs_of_session", session_id=session_id, before=FOR_EVER, limit=-1)
    newest_first = (decode(body, Run) for (body,) in every)
    if sight is Sight.RUNS:
        return with_sight(shown, sight, runs=newest_first)
    outline = transaction.rows("outline", session_id=session_id)
    return with_sight(shown, sight, runs=newest_first, outline=outline)


def run_of(transaction: Transaction, session_id: SessionId, run_id: RunId) -> Run:
    row = transaction.row("run_of_session", session_id=session_id, id=run_id)
    if row is None:
        raise no_such("run", run_id)
    return decode(row[0], Run)


def open_things(transaction: Transaction, session_id: SessionId) -> tuple[Thing, ...]:
    return things_of(transaction.rows("open_things", session_id=session_id))


def transcript(
    transaction: Transaction, session_id: SessionId, *, after: int
) -> tuple[Message, ...]:
    """The messages begun after that seq, each as the log has it now."""
    rows = transaction.rows("messages_after", session_id=session_id, after=after)
    return tuple(_whole(transaction, session_id, row) for row in rows)


def newest(
    transaction: Transaction, session_id: SessionId, *, before: int, limit: int
) -> tuple[Message, ...]:
    """The last messages begun before that seq, oldest first."""
    rows = transaction.rows("messages_before", session_id=session_id, before=before, limit=limit)
    return tuple(_whole(transaction, session_id, row) for row in reversed(rows))


def message(
    transaction: Transaction, session_id: SessionId, message_id: MessageId
) -> Message | None:
    row = transaction.row("message", session_id=session_id, id=message_id)
    return None if row is None else _whole(transaction, session_id, row)


def _whole(transaction: Transaction, session_id: SessionId, row: Row) -> Message:
    body, seq = row
    found = decode(body, Message)
    if found.finish_reason is not None:
        return found
    parts = transaction.rows("parts_between", stream=session_id, first=seq, last=FOR_EVER)
    return whole(found, parts)
