"""Folding and purging."""

from collections.abc import Sequence
from typing import Any

from tenuto.core.value import Instant, MessageId, SessionId
from tenuto.storage.assemble import stored_events
from tenuto.storage.folding import shorten
from tenuto.storage.kept_bytes import kept_too_long
from tenuto.storage.once import forgotten_before
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.writes import oldest_token

PURGE_EVENTS = 5_000
"""Events removed in one statement: vacuum and replicas are to keep up."""


class PostgresUpkeep:
    """Each step may be done twice, or by two nodes: what is gone already is not counted."""

    _parts: StoreParts

    async def waiting_sessions(self) -> Sequence[SessionId]:
        rows = await self._parts.fetch("waiting_sessions")
        return tuple(SessionId(row["session_id"]) for row in rows)

    async def fold_deltas(self, *, before: Instant, limit: int) -> int:
        gone = 0
        # One message per statement, so that nobody is kept waiting.
        while gone < limit:
            row = await self._parts.row("next_unfolded", before)
            if row is None:
                break
            gone += await self._fold(row)
        return gone

    async def purge(self, *, before: Instant) -> int:
        too_old = forgotten_before(before)
        await self._parts.fetch("forget_answers", too_old)
        await self._parts.fetch("forget_receipts", oldest_token(self._parts.writes.seconds()))
        await self._parts.fetch("forget_nodes")
        while await self._parts.fetch("forget_files", too_old):
            pass
        while await self._parts.fetch("forget_kept_files", *kept_too_long(before)):
            pass
        logs = await self._parts.fetch("deleted_logs", before)
        gone = 0
        for (stream,) in logs:
            while len(await self._parts.fetch("delete_some_events", stream, PURGE_EVENTS)) > 0:
                pass
            gone += len(await self._parts.fetch("delete_log", stream))
        return gone

    async def _fold(self, row: Any) -> int:
        session_id, message_id, first, last = row
        rows = await self._parts.fetch("parts_between", session_id, first, last)
        short = shorten(MessageId(message_id), stored_events(tuple(row) for row in rows))
        folded = await self._parts.row(
            "fold",
            session_id,
            message_id,
            [stored.seq for stored in short.merged],
            [stored.body for stored in short.merged],
            list(short.gone),
        )
        return 0 if folded is None else int(folded["gone"])
