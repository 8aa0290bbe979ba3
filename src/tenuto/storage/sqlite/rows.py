"""Values out of rows and into them."""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from tenuto.core.approval import Approval
from tenuto.core.comparison import Comparison
from tenuto.core.desk import Desk, Outline, Sight
from tenuto.core.event import Stored
from tenuto.core.file import FileInfo
from tenuto.core.message import Message
from tenuto.core.run import Mode, Reason, Run
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.value import MessageId, RunId, SessionId, Value
from tenuto.storage.folding import grown
from tenuto.storage.missing import no_such
from tenuto.storage.sqlite.file.transaction import Row, Transaction

T = TypeVar("T")

# msgspec learns a type when it first decodes one, and the process dies if two threads do so at
# once. So all that a row can hold is learnt here, while there is only one.
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind)
    for kind in (Approval, Comparison, Control, FileInfo, Message, Run, Session, Workspace)
}
FOR_EVER = 2**62
"""Above every seq and every accept number."""


class Held(Value):
    """A session with what only the engine sees of it."""

    session: Session
    control: Control


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def decode(body: bytes, kind: type[T]) -> T:
    value: T = _DECODERS[kind].decode(body)
    return value


def stored_events(rows: Iterable[Row]) -> tuple[Stored, ...]:
    return tuple(Stored(seq=row[0], type=row[1], run_id=row[2], body=row[3]) for row in rows)


def session_of(row: Row) -> Session:
    body, head = row
    return replace(decode(body, Session), head=head)


def held(transaction: Transaction, session_id: SessionId) -> Held:
    row = transaction.row("session", session_id=session_id)
    if row is None:
        raise no_such("session", session_id)
    body, control, head = row
    return Held(session=session_of((body, head)), control=decode(control, Control))


def desk(transaction: Transaction, session_id: SessionId, sight: Sight) -> Desk:
    """What a decision about the session sees."""
    found = held(transaction, session_id)
    active = found.session.active_run
    laid = Desk(
        session=found.session,
        control=found.control,
        active=None if active is None else run_of(transaction, session_id, active),
        queue=tuple(run_of(transaction, session_id, r) for r in found.control.queue),
        pending=pending(transaction, session_id),
    )
    if sight is Sight.CONTROL:
        return laid
    if sight is Sight.RUNS:
        rows = transaction.rows("runs_of_session", session_id=session_id, before=FOR_EVER, limit=-1)
        return replace(laid, runs=tuple(decode(body, Run) for (body,) in rows))
    outline = tuple(
        Outline(id=row[0], role=row[1], run_id=row[2])
        for row in transaction.rows("outline", session_id=session_id)
    )
    return replace(laid, outline=outline, last_run=_last_run(transaction, session_id))


def run_of(transaction: Transaction, session_id: SessionId, run_id: RunId) -> Run:
    row = transaction.row("run_of_session", session_id=session_id, id=run_id)
    if row is None:
        raise no_such("run", run_id)
    return decode(row[0], Run)


def pending(transaction: Transaction, session_id: SessionId) -> tuple[Approval, ...]:
    rows = transaction.rows("pending_approvals", session_id=session_id)
    return tuple(decode(body, Approval) for (body,) in rows)


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
    return grown(found, stored_events(parts))


def _last_run(transaction: Transaction, session_id: SessionId) -> Run | None:
    rows = transaction.each("runs_of_session", session_id=session_id, before=FOR_EVER, limit=-1)
    for (body,) in rows:
        run = decode(body, Run)
        if (
            run.reason is not Reason.WITHDRAWN
            and run.steered_into is None
            and run.mode is not Mode.COMPACT
        ):
            return run
    return None
