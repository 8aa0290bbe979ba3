"""The hot path: the appends of all sessions that wait become one statement.

Each append has a ticket, and the log's row names the last one and the one before it must be: so an
append whose answer was lost is sent again as it was, and is stored once.
"""

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.core.error import Fenced, InDoubt, StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.session import Fence
from tenuto.core.value import StreamId
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.storage.postgres.connections import Connections
from tenuto.storage.postgres.lanes import Lanes
from tenuto.storage.postgres.telling import Telling
from tenuto.storage.postgres.trouble import AGAIN, SENTENCES, code_of, explained, is_refusal

PATIENCE_SECONDS = 30.0
ATTEMPT_SECONDS = 6.0
RETRY_SECONDS = 0.1
GROUP_LIMIT = 512
"""Sessions in one statement."""
GROUP_BYTES = 4 * 1024 * 1024
REMEMBERED = 10_000
"""Tickets; past it all are forgotten and read again when they are needed."""

log = logging.getLogger(__name__)


class _Ask:
    def __init__(self, fence: Fence, drafts: Sequence[Stored]) -> None:
        self.fence = fence
        self.drafts = drafts
        self.future: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class _Entry:
    """What goes to one log together, under one ticket."""

    def __init__(self, stream: StreamId, asks: list[_Ask], before: int) -> None:
        self.stream = stream
        self.fence = asks[0].fence
        self.asks = asks
        self.drafts = [draft for ask in asks for draft in ask.drafts]
        self.before = before
        self.ticket = secrets.randbits(62) + 1
        self.doubt = False
        """It was sent, and the answer did not come."""
        self.give_up_at = time.monotonic() + PATIENCE_SECONDS


class Appender:
    def __init__(
        self,
        connections: Connections,
        sql: Mapping[str, str],
        lanes: Lanes,
        telling: Telling,
        points: Points = NOWHERE,
    ) -> None:
        self._connections = connections
        self._append_sql = sql["append"]
        self._tickets_sql = sql["tickets"]
        self._lanes = lanes
        self._telling = telling
        self._points = points
        self._waiting: dict[StreamId, deque[_Ask]] = {}
        self._tickets: dict[StreamId, tuple[int, int]] = {}
        """By log: the epoch, and the last ticket of ours in it."""
        self._unknown: list[_Entry] = []
        """Taken, and not yet known to be stored or not."""
        self._wake = asyncio.Event()
        self._stopped = False
        lanes.on_free = self._wake.set

    def append(
        self, stream: StreamId, fence: Fence, drafts: Sequence[Stored]
    ) -> asyncio.Future[int]:
        if self._stopped:
            raise StorageTrouble("the store is not open")
        ask = _Ask(fence, drafts)
        self._waiting.setdefault(stream, deque()).append(ask)
        self._wake.set()
        return ask.future

    async def run(self) -> None:
        while True:
            if not self._unknown:
                await self._wake.wait()
            self._wake.clear()
            self._unknown += self._take()
            if self._unknown and not await self._round(self._unknown):
                await asyncio.sleep(RETRY_SECONDS)
            self._give_up()

    def stop(self) -> None:
        """Nothing more will be sent: whoever waits is told what is known."""
        self._stopped = True
        for entry in list(self._unknown):
            self._fail(entry, self._not_known(entry))
        for asks in self._waiting.values():
            for ask in asks:
                _answer(ask, StorageTrouble("the store is not open"))
        self._waiting.clear()

    def _take(self) -> list[_Entry]:
        """All that waits for a session that nobody of us is writing."""
        taken: list[_Entry] = []
        size = 0
        for stream in list(self._waiting):
            if len(taken) + len(self._unknown) >= GROUP_LIMIT or size >= GROUP_BYTES:
                self._wake.set()
                break
            if not self._lanes.try_take(stream):
                continue
            asks = self._waiting.pop(stream)
            fence = asks[0].fence
            together = []
            while asks and asks[0].fence == fence:
                together.append(asks.popleft())
            if asks:
                self._waiting[stream] = asks
            epoch, ticket = self._tickets.get(stream, (fence.epoch, 0))
            entry = _Entry(stream, together, ticket if epoch == fence.epoch else 0)
            size += sum(len(draft.body) for draft in entry.drafts)
            taken.append(entry)
        return taken

    async def _round(self, entries: list[_Entry]) -> bool:
        """Send them once; whether an answer came. What became known is no longer unknown."""
        try:
            async with self._connections.take() as connection:
                await self._send(connection, entries)
        except Exception as error:  # noqa: BLE001  any of them leaves the question open
            return await self._failed(error, entries)
        return True

    async def _send(self, connection: Any, entries: list[_Entry]) -> None:
        events = [(e.stream, n, d) for e in entries for n, d in enumerate(e.drafts, start=1)]
        self._reach(Step.COMMITTING)
        try:
            rows = await connection.fetch(
                self._append_sql,
                [e.stream for e in entries],
                [e.fence.run_id for e in entries],
                [e.fence.epoch for e in entries],
                [len(e.drafts) for e in entries],
                [e.before for e in entries],
                [e.ticket for e in entries],
                [stream for stream, _, _ in events],
                [place for _, place, _ in events],
                [draft.type for _, _, draft in events],
                [draft.run_id for _, _, draft in events],
                [draft.body for _, _, draft in events],
                timeout=ATTEMPT_SECONDS,
            )
        except BaseException as error:
            if not is_refusal(error):
                for entry in entries:
                    entry.doubt = True
                self._reach(Step.ASKING_AGAIN)
            raise
        self._reach(Step.COMMITTED)
        bases = dict(rows)
        missing = [entry for entry in entries if entry.stream not in bases]
        for entry in entries:
            if entry.stream in bases:
                self._stored(entry, bases[entry.stream])
        self._reach(Step.TOLD)
        if missing:
            await self._look(connection, missing)

    def _reach(self, step: Step) -> None:
        if self._points.armed:
            self._points.reach(step, "parts")

    async def _look(self, connection: Any, entries: list[_Entry]) -> None:
        """Why these were not stored now: the ticket says whether they were before."""
        streams = [entry.stream for entry in entries]
        rows = await connection.fetch(self._tickets_sql, streams, timeout=ATTEMPT_SECONDS)
        known = {row["stream"]: row for row in rows}
        for entry in entries:
            row, fence = known.get(entry.stream), entry.fence
            if row is None or row["epoch"] != fence.epoch or row["active_run"] != fence.run_id:
                self._fail(entry, Fenced(f"run {fence.run_id} is no longer this writer's"))
            elif row["ticket"] == entry.ticket:
                self._stored(entry, row["ticket_head"] - len(entry.drafts))
            elif not entry.doubt:
                entry.before = row["ticket"]
            elif row["ticket"] != entry.before:
                # Another writer with the same fence: ours may be below its ticket, or not.
                self._fail(entry, self._not_known(entry))

    async def _failed(self, error: Exception, entries: list[_Entry]) -> bool:
        """Whether to go on at once."""
        if not is_refusal(error):
            if not isinstance(error, StorageTrouble):
                log.warning("an append was not answered, it is sent again: %r", error)
            return False
        if code_of(error) in AGAIN:
            return True
        if code_of(error) in SENTENCES:
            log.warning("an append was refused, it is sent again: %s", explained(error))
            return False
        if len(entries) == 1:
            self._fail(entries[0], error)
            return True
        # Each alone, so that only those fail which must.
        for entry in list(entries):
            await self._round([entry])
        return True

    def _stored(self, entry: _Entry, base: int) -> None:
        self._unknown = [one for one in self._unknown if one is not entry]
        if len(self._tickets) >= REMEMBERED:
            self._tickets.clear()
        self._tickets[entry.stream] = (entry.fence.epoch, entry.ticket)
        told: list[tuple[Stored, ...]] = []
        for ask in entry.asks:
            stored = tuple(
                Stored(seq=base + n, type=draft.type, run_id=draft.run_id, body=draft.body)
                for n, draft in enumerate(ask.drafts, start=1)
            )
            base += len(stored)
            told.append(stored)
            if not ask.future.done():
                ask.future.set_result(base)
        self._lanes.free(entry.stream)
        for stored in told:
            self._telling.tell(entry.stream, stored)

    def _fail(self, entry: _Entry, error: Exception) -> None:
        self._unknown = [one for one in self._unknown if one is not entry]
        self._lanes.free(entry.stream)
        if entry.doubt:
            # What may be there must be looked for, by those who watch.
            self._telling.rung(entry.stream)
        for ask in entry.asks:
            _answer(ask, error)

    def _give_up(self) -> None:
        now = time.monotonic()
        for entry in [one for one in self._unknown if one.give_up_at < now]:
            self._fail(entry, self._not_known(entry))

    def _not_known(self, entry: _Entry) -> StorageTrouble:
        if entry.doubt:
            return InDoubt("PostgreSQL did not answer: the events may have been stored")
        return StorageTrouble("PostgreSQL cannot be reached")


def _answer(ask: _Ask, error: Exception) -> None:
    # One who was cancelled meanwhile no longer waits.
    if not ask.future.done():
        ask.future.set_exception(error)
