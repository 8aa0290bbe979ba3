"""Numbering what waits for a workspace's log, when whoever wrote it could not."""

import asyncio
import logging
from collections.abc import Mapping

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.value import StreamId
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.storage.assemble import stored_events
from tenuto.storage.postgres.connections import STATEMENT_SECONDS, Connections
from tenuto.storage.postgres.telling import Telling
from tenuto.storage.postgres.trouble import explained, is_refusal

log = logging.getLogger(__name__)


class Sequencer:
    """One at a time for each workspace of this node; other nodes' wait their turn in PostgreSQL."""

    def __init__(
        self,
        connections: Connections,
        sql: Mapping[str, str],
        telling: Telling,
        points: Points = NOWHERE,
    ) -> None:
        self._connections = connections
        self._sql = sql
        self._telling = telling
        self._points = points
        self._turns: dict[StreamId, asyncio.Lock] = {}
        self._soon: dict[StreamId, asyncio.Task[None]] = {}

    async def sequence(self, workspace: StreamId) -> None:
        """All that was committed for this log before now can be read afterwards."""
        async with self._turns.setdefault(workspace, asyncio.Lock()):
            number, base = self._telling.begin(workspace), 0
            events: tuple[Stored, ...] = ()
            try:
                base, n = await self._number(workspace)
                events = await self.between(workspace, base, n) if n else ()
            except BaseException:
                # What it numbered, if it did, must be looked for.
                self._telling.rung(workspace)
                raise
            finally:
                self._telling.end(workspace, number, base, events)

    def soon(self, workspace: StreamId) -> None:
        """Sequence it by and by; whoever reads it before that does it first."""
        if workspace not in self._soon:
            task = asyncio.create_task(self._try(workspace))
            self._soon[workspace] = task
            task.add_done_callback(lambda _: self._soon.pop(workspace, None))

    async def quiet(self, stream: StreamId) -> None:
        """What this node has numbered in this log, it has told."""
        task = self._soon.get(stream)
        if task is not None:
            await asyncio.wait([task])

    async def between(self, stream: StreamId, base: int, n: int) -> tuple[Stored, ...]:
        """What was placed after `base`."""
        rows = await self._connections.fetch(self._sql["events_between"], stream, base, base + n)
        return stored_events(tuple(row) for row in rows)

    async def stop(self) -> None:
        for task in list(self._soon.values()):
            task.cancel()
        await asyncio.gather(*self._soon.values(), return_exceptions=True)

    async def _number(self, workspace: StreamId) -> tuple[int, int]:
        for last in (False, True):
            try:
                async with self._connections.take() as connection:
                    sql = self._sql["sequence"]
                    self._points.reach(Step.SEQUENCING)
                    row = await connection.fetchrow(sql, workspace, timeout=STATEMENT_SECONDS)
                    self._points.reach(Step.SEQUENCED)
                    return row["base"] or 0, row["n"]
            except Exception as error:
                if last or is_refusal(error) or isinstance(error, StorageTrouble):
                    raise explained(error) from error
                # It may have been done, and then there is nothing left to number.
                self._telling.rung(workspace)
        raise AssertionError

    async def _try(self, workspace: StreamId) -> None:
        try:
            await self.sequence(workspace)
        except Exception as error:  # noqa: BLE001  the next reader does it
            log.warning("a workspace's log waits for its numbers: %s", error)
