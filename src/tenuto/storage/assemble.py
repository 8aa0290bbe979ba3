"""Rows as values: what every database gives is put together here, in one way for all."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from tenuto.core.comparison import Comparison
from tenuto.core.day_usage import DayUsage, UsageKind
from tenuto.core.desk import Desk, Outline, Sight
from tenuto.core.event import Stored
from tenuto.core.file import FileInfo
from tenuto.core.message import Message, after_part
from tenuto.core.run import Mode, Reason, Run
from tenuto.core.session import Control, Session, Workspace
from tenuto.core.thing import KINDS, Thing, kind_named
from tenuto.core.value import MessageId, PartId, RunId, Value
from tenuto.ports.query import Background, Compaction, MessagePage, SessionSnapshot
from tenuto.storage.folding import grown
from tenuto.storage.missing import no_such

T = TypeVar("T")
Row = Sequence[Any]

RECENT_RUNS = 100
"""So many of a session's newest runs are in its snapshot, whatever became of them."""
FOR_EVER = 2**62
"""Above every seq and every accept number."""
NEWEST = ("\U0010ffff", "")
"""A place after every other: instants are ASCII."""
PAGE_BYTES = 256 * 1024
"""A page ends once it is this large: one that is not fetched must not cost much memory."""

# msgspec learns a type when it first decodes one, and the process dies if two threads do so at
# once. So all that a row can hold is learnt here, while there is only one.
_VALUES: tuple[type, ...] = (Comparison, Control, FileInfo, Message, Run, Session, Workspace)
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    value: msgspec.json.Decoder(value) for value in (*_VALUES, *(kind.value for kind in KINDS))
}


class Held(Value):
    """A session with what only the engine sees of it."""

    session: Session
    control: Control


def decode(body: bytes, kind: type[T]) -> T:
    value: T = _DECODERS[kind].decode(body)
    return value


def decode_all(bodies: Iterable[Row], kind: type[T]) -> tuple[T, ...]:
    """Of rows that begin with a body."""
    return tuple(decode(row[0], kind) for row in bodies)


def things_of(rows: Iterable[Row]) -> tuple[Thing, ...]:
    """Of rows that are a kind's name and a body."""
    return tuple(decode(body, kind_named(name).value) for name, body in rows)


def stored_events(rows: Iterable[Row]) -> tuple[Stored, ...]:
    return tuple(Stored(seq=row[0], type=row[1], run_id=row[2], body=row[3]) for row in rows)


def session_of(row: Row) -> Session:
    body, head = row
    return replace(decode(body, Session), head=head)


def held_of(row: Row) -> Held:
    body, control, head = row
    return Held(session=session_of((body, head)), control=decode(control, Control))


def unfinished(found: Held) -> tuple[RunId, ...]:
    """The runs that a desk needs: the active one and those that wait."""
    active = found.session.active_run
    return found.control.queue if active is None else (active, *found.control.queue)


def laid(found: Held, runs: Iterable[Run], things: Sequence[Thing]) -> Desk:
    """A desk as `Sight.CONTROL` shows it; `runs` has at least those that are unfinished."""
    known = {run.id: run for run in runs}
    for run_id in unfinished(found):
        if run_id not in known:
            raise no_such("run", run_id)
    active = found.session.active_run
    return Desk(
        session=found.session,
        control=found.control,
        active=None if active is None else known[active],
        queue=tuple(known[run_id] for run_id in found.control.queue),
        things=tuple(things),
    )


def with_sight(
    desk: Desk, sight: Sight, *, runs: Iterable[Run] = (), outline: Iterable[Row] = ()
) -> Desk:
    """The desk with what this sight shows besides; `runs` are all runs, newest first."""
    if sight is Sight.CONTROL:
        return desk
    if sight is Sight.RUNS:
        return replace(desk, runs=tuple(runs))
    lines = tuple(Outline(id=row[0], role=row[1], run_id=row[2]) for row in outline)
    return replace(desk, outline=lines, last_run=last_run(runs))


def last_run(newest_first: Iterable[Run]) -> Run | None:
    """The newest that was neither taken back, steered nor a compaction."""
    for run in newest_first:
        if (
            run.reason is not Reason.WITHDRAWN
            and run.steered_into is None
            and run.mode is not Mode.COMPACT
        ):
            return run
    return None


def whole(message: Message, parts: Iterable[Row]) -> Message:
    """The message as its log has it now; `parts` are its events, if it is still open."""
    return message if message.finish_reason is not None else grown(message, stored_events(parts))


def snapshot_of(
    found: Held,
    messages: Sequence[Message],
    runs: Iterable[Run],
    *,
    things: Sequence[Thing],
    compactions: Iterable[Row],
    most: int | None,
) -> SessionSnapshot:
    """`messages` are one more than the `most` that are asked for, if there are more."""
    kept = {run.id: run for run in runs}
    return SessionSnapshot(
        session=found.session,
        messages=tuple(messages if most is None else messages[-most:]),
        runs=tuple(sorted(kept.values(), key=lambda run: run.accept_number)),
        things=tuple(things),
        queue=found.control.queue,
        compactions=tuple(
            Compaction(
                through_message_id=MessageId(through),
                through_part_id=part and PartId(part),
                summary=summary,
            )
            for through, part, summary in compactions
        ),
        more=most is not None and len(messages) > most,
    )


def message_page(messages: Sequence[Message], *, head: int, limit: int) -> MessagePage:
    """`messages` are one more than the limit, if there are more."""
    page = tuple(messages[-limit:])
    return MessagePage(
        messages=page, head=head, before=page[0].id if len(messages) > limit else None
    )


def background_of(
    summary: str | None, part: PartId | None, messages: Sequence[Message], *, head: int
) -> Background:
    """`messages` begin with the one that the summary ends in, if it ends within one."""
    if part is not None:
        first, *rest = messages
        messages = (after_part(first, part), *rest)
    return Background(summary=summary, messages=tuple(messages), head=head)


def day_usage(row: Row) -> DayUsage:
    day, model, kind, runs, asked, said, thought, read, written, exact, cost_usd = row
    return DayUsage(
        day=day,
        model=model or None,
        kind=UsageKind(kind),
        runs=runs,
        input_tokens=asked,
        output_tokens=said,
        reasoning_tokens=thought,
        cache_read_tokens=read,
        cache_write_tokens=written,
        exact=bool(exact),
        cost_usd=None if cost_usd is None else round(cost_usd, 9),
    )
