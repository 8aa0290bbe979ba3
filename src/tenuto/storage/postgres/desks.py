"""Appending and deciding."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from tenuto.core.desk import Change, Decide, Desk, Sight
from tenuto.core.event import Event, store_as
from tenuto.core.message import Message
from tenuto.core.session import Control, Fence, Session
from tenuto.core.value import NodeId, SessionId, StreamId
from tenuto.ports.query import Once, Page
from tenuto.storage.appendable import must_be_appendable
from tenuto.storage.assemble import PAGE_BYTES, stored_events
from tenuto.storage.missing import no_such
from tenuto.storage.plan import Plan, created, plan, planned_for
from tenuto.storage.postgres.connections import STATEMENT_SECONDS
from tenuto.storage.postgres.deciding import Changes
from tenuto.storage.postgres.families import ALL_TRIES, heard, joined
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.trouble import explained, is_refusal
from tenuto.storage.postgres.writing import NEW, Guard, remember
from tenuto.storage.statements import rows_of

T = TypeVar("T")

TRIES = 5
"""So often a decision is made on what it saw; after that the session is locked for it."""
LET_GO = "idle_in_transaction_session_timeout"
LET_GO_SECONDS = 2


class PostgresDesks:
    _parts: StoreParts

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        must_be_appendable(events)
        # Encoded here, so that an event that cannot be is its own caller's error.
        drafts = [store_as(event, 0) for event in events]
        return self._parts.appender.append(StreamId(session_id), fence, drafts)

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        await self._parts.sequencer.quiet(stream)
        while True:
            rows = await self._parts.fetch("page", stream, after, limit, PAGE_BYTES)
            if not rows:
                raise no_such("log", stream)
            if not rows[0]["waiting"]:
                return _page(rows)
            # Nobody may see a session's change without its event being readable here.
            await self._parts.sequencer.sequence(stream)

    async def read_many(
        self, after: Mapping[StreamId, int], *, limit: int
    ) -> Mapping[StreamId, Page]:
        if not after:
            return {}
        streams, cursors = list(after), list(after.values())
        while True:
            rows = await self._parts.fetch("pages", streams, cursors, limit, PAGE_BYTES)
            waiting = {StreamId(row["stream"]) for row in rows if row["waiting"]}
            if not waiting:
                break
            for stream in waiting:
                await self._parts.sequencer.sequence(stream)
        by_stream: dict[StreamId, list[Any]] = {}
        for row in rows:
            by_stream.setdefault(StreamId(row["stream"]), []).append(row)
        return {stream: _page(found) for stream, found in by_stream.items()}

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
        decision = _Decision(self._parts, session_id, decide, sight, once, answer, dead)
        return await self._parts.deciding.shielded(decision.commit())

    async def answered(self, once: Once | None, answer: type[T]) -> T | None:
        known = await self._parts.known(once)
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
        before = await self.answered(once, Session)
        if before is not None:
            return before
        planned = created(plan(session, Control(), events, finished))
        remembered = remember(once, session.id, planned.session)
        changes = Changes([(rows_of(planned, before=None), Guard(NEW, None))], [planned])
        said = await self._parts.deciding.shielded(
            self._parts.deciding.write(changes, remembered=remembered)
        )
        return planned.session if said == "ok" else await self._parts.first(once, Session)


class _Decision:
    """One decision about a session, until it is stored or refused."""

    def __init__(
        self,
        parts: StoreParts,
        session_id: SessionId,
        decide: Decide[Any],
        sight: Sight,
        once: Once | None,
        answer: type | None,
        dead: NodeId | None,
    ) -> None:
        self._parts = parts
        self._id = session_id
        self._decide = decide
        self._sight = sight
        self._once = once
        self._answer = answer
        self._dead = dead

    async def commit(self) -> tuple[Any, int]:
        async with self._parts.lanes.turn(StreamId(self._id)):
            for n in range(ALL_TRIES):
                done = await (self._attempt() if n < TRIES else self._locked())
                if done is not None:
                    return done
        raise explained(TimeoutError())

    async def _attempt(self, connection: Any = None) -> tuple[Any, int] | None:
        """Decide on what is there now; None if it has moved meanwhile."""
        parts, once = self._parts, self._once
        found = await parts.deciding.lay([self._id], self._sight, once, connection=connection)
        if once is not None and found.known is not None:
            return found.known.again(once, self._answer), await parts.head(self._id)
        laid = found.desks.get(self._id)
        if laid is None:
            raise no_such("session", self._id)
        change = self._decide(laid)
        planned = planned_for(laid, change)
        changes = _changes(laid, change, planned, found.revs[self._id])
        echoed = await heard(parts, planned, within=changes, connection=connection)
        changes = joined(changes, echoed)
        remembered = remember(once, self._id, change.result)
        if planned.deleted_at is not None:
            remembered = None
        if changes.changes or remembered or self._dead is not None:
            said = await parts.deciding.write(
                changes,
                remembered=remembered,
                dead=self._dead,
                send=None if connection is None else _Sender(parts, connection).send,
            )
            if said != "ok":
                return None
        if changes.changes:
            parts.deciding.tell_changed([self._id])
        return change.result, planned.session.head

    async def _locked(self) -> tuple[Any, int] | None:
        """As `_attempt`, while nobody else can move it: the last resort."""
        async with self._parts.writes.connections.take() as connection:
            # Whoever is frozen here lets go of the session all the same.
            await connection.execute(f"BEGIN; SET LOCAL {LET_GO} = '{LET_GO_SECONDS}s'")
            try:
                sql = self._parts.sql["lock_session"]
                await connection.fetch(sql, self._id, timeout=STATEMENT_SECONDS)
                return await self._attempt(connection)
            finally:
                if not connection.is_closed() and connection.is_in_transaction():
                    await connection.execute("ROLLBACK")


class _Sender:
    """Sends a write in a transaction that is open, and closes it."""

    def __init__(self, parts: StoreParts, connection: Any) -> None:
        self._parts = parts
        self._connection = connection

    async def send(self, values: list[Any]) -> Any:
        try:
            row = await self._connection.fetchrow(
                self._parts.sql["write"], *values, timeout=STATEMENT_SECONDS
            )
            await self._connection.execute("COMMIT", timeout=STATEMENT_SECONDS)
        except Exception as error:
            if is_refusal(error):
                raise explained(error) from error
            self._connection.terminate()
            return await self._parts.writes.write("write", values, doubt=True)
        return row


def _changes(laid: Desk, change: Change[Any], planned: Plan, rev: int) -> Changes:
    if not change.events and not change.booked and change.control == laid.control:
        return Changes([], [])
    # Without events no number is given, and a stream of tokens may go on meanwhile.
    head = laid.session.head if planned.stored else None
    return Changes([(rows_of(planned, before=laid.session), Guard(rev, head))], [planned])


def _page(rows: Sequence[Any]) -> Page:
    events = ((row["seq"], row["type"], row["run_id"], row["body"]) for row in rows)
    return Page(
        events=stored_events(event for event in events if event[0] is not None),
        head=rows[0]["head"],
        folded=rows[0]["folded"],
    )
