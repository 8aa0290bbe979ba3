"""Appending and deciding."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from tenuto.core.desk import Decide, Sight
from tenuto.core.error import Conflict
from tenuto.core.event import Event, store_as
from tenuto.core.message import Message
from tenuto.core.session import Control, Fence, Session
from tenuto.core.value import NodeId, SessionId, StreamId, WorkspaceId
from tenuto.ports.query import Once, Page
from tenuto.ports.store import Together
from tenuto.storage.appendable import must_be_appendable
from tenuto.storage.assemble import PAGE_BYTES, stored_events
from tenuto.storage.missing import no_such
from tenuto.storage.once import Answer, first
from tenuto.storage.plan import Plan, created, echo, empty_desk, plan, planned_for
from tenuto.storage.sqlite.file.appending import Append
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.file.writer import Written
from tenuto.storage.sqlite.projecting import Told, write_plan
from tenuto.storage.sqlite.rows import desk, held
from tenuto.storage.statements import rows_of

T = TypeVar("T")


class SqliteDesks:
    _db: Database

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        must_be_appendable(events)
        # Encoded here, so that an event that cannot be is its own caller's error.
        drafts = [store_as(event, 0) for event in events]
        return self._db.append(Append(stream=StreamId(session_id), fence=fence, drafts=drafts))

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        return await self._db.read(lambda tx: _page(tx, stream, after, limit))

    async def read_many(
        self, after: Mapping[StreamId, int], *, limit: int
    ) -> Mapping[StreamId, Page]:
        def pages(tx: Transaction) -> Mapping[StreamId, Page]:
            there = [stream for stream in after if tx.row("log", stream=stream) is not None]
            return {stream: _page(tx, stream, after[stream], limit) for stream in there}

        return await self._db.read(pages)

    async def commit(
        self,
        session_id: SessionId,
        decide: Decide[T],
        *,
        sight: Sight = Sight.CONTROL,
        once: Once | None = None,
        answer: type[T] | None = None,
        dead: NodeId | None = None,
    ) -> tuple[T, int]:
        """`dead` is: nobody else can be alive on this file."""

        def work(tx: Transaction) -> Written[tuple[T, int]]:
            known = answered(tx, once)
            if once is not None and known is not None:
                result: T = known.again(once, answer)
                return Written(result=(result, _head(tx, session_id)))
            return _commit(tx, session_id, decide, sight, once)

        return await self._db.write(work)

    async def commit_together(
        self, session_ids: Sequence[SessionId], decide: Together[T], *, new: Session | None = None
    ) -> T:
        return await self._db.write(lambda tx: _commit_together(tx, session_ids, decide, new))

    async def answered(self, once: Once | None, answer: type[T]) -> T | None:
        known = None if once is None else await self._db.read(lambda tx: answered(tx, once))
        if once is None or known is None:
            return None
        result: T = known.again(once, answer)
        return result

    async def create_session(
        self,
        session: Session,
        events: Sequence[Event] = (),
        finished: Sequence[Message] = (),
        *,
        once: Once | None = None,
    ) -> Session:
        return await self._db.write(
            lambda tx: at_most_once(
                tx, once, Session, lambda: _create(tx, session, events, finished, once)
            )
        )


def at_most_once(
    tx: Transaction, once: Once | None, kind: type[T] | None, work: Callable[[], Written[T]]
) -> Written[T]:
    """The first result of this request, or this one if there is none yet."""
    known = answered(tx, once)
    if once is None or known is None:
        return work()
    return Written(result=known.again(once, kind))


def answered(tx: Transaction, once: Once | None) -> Answer | None:
    row = None if once is None else tx.row("answer", by=once.by, key=once.key)
    if once is None or row is None:
        return None
    digest, at, owner, body = row
    known = replace(once, digest=digest, at=at)
    return Answer(once=known, owner=owner, body=body)


def remember(tx: Transaction, once: Once | None, owner: str | None, result: Any) -> None:
    if once is None:
        return
    answer = first(once, owner, result)
    tx.run(
        "put_answer",
        by=once.by,
        key=once.key,
        digest=once.digest,
        at=once.at,
        owner=owner,
        body=answer.body,
    )


def _page(tx: Transaction, stream: StreamId, after: int, limit: int) -> Page:
    head, folded = _log(tx, stream)
    rows: list[Row] = []
    size = 0
    for row in tx.each("events_after", stream=stream, after=after, limit=limit):
        rows.append(row)
        size += len(row[3])
        if size >= PAGE_BYTES:
            break
    return Page(events=stored_events(rows), head=head, folded=folded)


def _log(tx: Transaction, stream: str) -> tuple[int, int]:
    row = tx.row("log", stream=stream)
    if row is None:
        raise no_such("log", stream)
    head, folded = row
    return head, folded


def _head(tx: Transaction, session_id: SessionId) -> int:
    return _log(tx, session_id)[0]


def _commit(
    tx: Transaction, session_id: SessionId, decide: Decide[T], sight: Sight, once: Once | None
) -> Written[tuple[T, int]]:
    laid = desk(tx, session_id, sight)
    change = decide(laid)
    planned = planned_for(laid, change)
    result = (change.result, planned.session.head)
    if not change.events and not change.booked and change.control == laid.control:
        remember(tx, once, session_id, change.result)
        return Written(result=result)
    logs = write_plan(tx, planned, before=laid.session) + _echo(tx, planned)
    if planned.deleted_at is None:
        remember(tx, once, session_id, change.result)
    return Written(result=result, logs=logs, changed=(session_id,))


def _commit_together(
    tx: Transaction, session_ids: Sequence[SessionId], decide: Together[T], new: Session | None
) -> Written[T]:
    there = [one for one in session_ids if tx.row("session", session_id=one) is not None]
    desks = {one: desk(tx, one, Sight.CONTROL) for one in there}
    if new is not None:
        desks[new.id] = empty_desk(new)
    joint = decide(desks)
    logs: Told = ()
    for session_id, change in joint.changes.items():
        laid = desks[session_id]
        planned = planned_for(laid, change)
        if new is not None and session_id == new.id:
            logs += insert_session(tx, planned)[1]
        else:
            logs += write_plan(tx, planned, before=laid.session)
        logs += _echo(tx, planned)
    return Written(result=joint.result, logs=logs, changed=tuple(joint.changes))


def _echo(tx: Transaction, planned: Plan) -> Told:
    """The session that people look at repeats what its sub-agents ask."""
    root_id = planned.session.root_id
    if not planned.session.parent or tx.row("session", session_id=root_id) is None:
        return ()
    root = held(tx, root_id)
    heard = echo(planned, root.session, root.control)
    return () if heard is None else write_plan(tx, heard, before=root.session)


def _create(
    tx: Transaction,
    session: Session,
    events: Sequence[Event],
    finished: Sequence[Message],
    once: Once | None,
) -> Written[Session]:
    must_have_workspace(tx, session.workspace_id)
    made, logs = insert_session(tx, plan(session, Control(), events, finished))
    remember(tx, once, made.id, made)
    return Written(result=made, logs=logs)


def must_have_workspace(tx: Transaction, workspace_id: WorkspaceId) -> None:
    if tx.row("workspace", id=workspace_id) is None:
        raise no_such("workspace", workspace_id)


def insert_session(tx: Transaction, beginning: Plan) -> tuple[Session, Told]:
    """A new session with the beginning of its log; and what each log has got."""
    planned = created(beginning)
    made = planned.session
    if tx.row("session_exists", stream=made.id) is not None:
        raise Conflict(f"there is a session {made.id} already")
    tx.run("insert_log", stream=made.id)
    row = rows_of(planned, before=None).session
    assert row is not None
    tx.run("insert_session", **row._asdict())
    return made, write_plan(tx, planned, before=None)
