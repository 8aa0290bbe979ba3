"""Opening, leases, folding and purging."""

from collections.abc import Collection, Sequence

from tenuto.core.value import Instant, MessageId, NodeId, SessionId
from tenuto.ports.query import NodeCard, NodeStanding, NodeState, Orphan, Pulse
from tenuto.storage.assemble import stored_events
from tenuto.storage.folding import shorten
from tenuto.storage.kept_bytes import kept_too_long
from tenuto.storage.once import forgotten_before
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.file.writer import Written
from tenuto.storage.store_clock import StoreClock

PURGE_EVENTS = 5_000
"""Events removed in one transaction: the writer must not be kept from prompts for long."""


class SqliteUpkeep:
    _db: Database
    _seen: tuple[NodeCard, Instant] | None = None
    """What the one node said of itself last, and when."""

    async def open(self) -> None:
        await self._db.open()

    async def close(self) -> None:
        await self._db.close()

    async def check(self) -> None:
        await self._db.check()

    shared = False

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        """The lock on the file is the lease: nobody else can be alive, if it is still there."""
        self._seen = (card, StoreClock().now())
        await self._db.look_at_the_file()
        return Pulse()

    async def farewell(self, node: NodeId) -> None:
        """Whoever comes next finds nobody."""
        self._seen = None

    async def living(self) -> Collection[NodeId]:
        """Whoever holds the lock on the file, and that is who asks."""
        return ()

    async def nodes(self) -> Sequence[NodeStanding]:
        if self._seen is None:
            return ()
        card, seen_at = self._seen
        return (
            NodeStanding(
                id=card.id,
                name=card.name,
                version=card.version,
                state=NodeState.DRAINING if card.draining else NodeState.ALIVE,
                started_at=card.started_at,
                seen_at=seen_at,
                active_runs=card.active_runs,
            ),
        )

    async def lead(self, task: str, node: NodeId, *, seconds: float) -> bool:
        return True

    async def orphans(self, node: NodeId) -> Sequence[Orphan]:
        return await self._active("active_logs", node)

    async def owned(self, node: NodeId) -> Sequence[Orphan]:
        return await self._active("owned_logs", node)

    async def waiting_sessions(self) -> Sequence[SessionId]:
        rows = await self._db.read(lambda tx: tx.rows("waiting_sessions"))
        return tuple(session_id for (session_id,) in rows)

    async def fold_deltas(self, *, before: Instant, limit: int) -> int:
        gone = 0
        # One message per transaction, so that writers of other sessions get between.
        while gone < limit:
            row = await self._db.read(lambda tx: tx.row("next_unfolded", before=before))
            if row is None:
                break
            gone += await self._fold(row)
        return gone

    async def purge(self, *, before: Instant) -> int:
        too_old = forgotten_before(before)
        if await self._db.read(lambda tx: tx.row("old_answers", before=too_old)):
            await self._db.write(lambda tx: _forget_answers(tx, too_old))
        while row := await self._db.read(lambda tx: tx.row("old_unused_file", before=too_old)):
            # One at a time: each may be large, and the writer is not to be kept for long.
            await self._delete_unused_file(row[0])
        first, last = kept_too_long(before)
        while row := await self._db.read(
            lambda tx: tx.row("old_kept_file", first=first, last=last)
        ):
            await self._delete_file(row[0])
        logs = await self._db.read(lambda tx: tx.rows("deleted_logs", before=before))
        for (stream,) in logs:
            await self._purge(stream)
        return len(logs)

    async def _active(self, query: str, node: NodeId) -> Sequence[Orphan]:
        rows = await self._db.read(lambda tx: tx.rows(query, node=node))
        return tuple(
            Orphan(session_id=session_id, run_id=run_id, owner=owner)
            for session_id, run_id, owner in rows
        )

    async def _fold(self, row: Row) -> int:
        session_id, message_id, first, last = row
        return await self._db.write(lambda tx: _fold(tx, session_id, message_id, first, last))

    async def _delete_unused_file(self, file_id: str) -> None:
        def delete(tx: Transaction) -> Written[None]:
            tx.run("delete_unused_file", file_id=file_id)
            tx.run("keep_file", file_id=file_id)
            return Written(result=None)

        await self._db.write(delete)

    async def _delete_file(self, file_id: str) -> None:
        def delete(tx: Transaction) -> Written[None]:
            tx.run("delete_file", file_id=file_id)
            return Written(result=None)

        await self._db.write(delete)

    async def _purge(self, stream: str) -> None:
        while await self._db.write(lambda tx: _purge_some(tx, stream)):
            pass


def _fold(
    tx: Transaction, session_id: SessionId, message_id: MessageId, first: int, last: int
) -> Written[int]:
    log = stored_events(tx.rows("parts_between", stream=session_id, first=first, last=last))
    short = shorten(message_id, log)
    tx.run("drop_unfolded", session_id=session_id, message_id=message_id)
    if short.merged:
        tx.many("replace_event", [(m.body, session_id, m.seq) for m in short.merged])
        tx.many("delete_event", [(session_id, seq) for seq in short.gone])
        tx.run("raise_folded", stream=session_id, seq=max(m.seq for m in short.merged))
    return Written(result=len(short.gone))


def _forget_answers(tx: Transaction, before: Instant) -> Written[None]:
    tx.run("forget_answers", before=before)
    return Written(result=None)


def _purge_some(tx: Transaction, stream: str) -> Written[bool]:
    """Whether something is left to purge."""
    before = tx.changes()
    tx.run("delete_some_events", stream=stream, limit=PURGE_EVENTS)
    left = tx.changes() - before == PURGE_EVENTS
    if not left:
        tx.run("delete_log", stream=stream)
    return Written(result=left)
