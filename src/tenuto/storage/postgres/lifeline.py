"""A node's own line to PostgreSQL: it holds the lock that says the node is there, and listens.

Whoever is killed is noticed by this line at once, not by its lease: PostgreSQL lets go of the lock
when the line ends.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tenuto.core.value import NodeId, SessionId, StreamId
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.store import Sink
from tenuto.storage.postgres.connections import STATEMENT_SECONDS, Connections, connect
from tenuto.storage.postgres.ringer import CHANNEL, Ringer
from tenuto.storage.postgres.sequencer import Sequencer

LOCK = 1952804470
"""Its lock's first number; the second is the node's own."""
ROUND_SECONDS = 0.5
DEAF_SECONDS = 3.0
"""A line that does not hear our own rings for so long is opened again."""
SETTLED_SECONDS = 3.0
"""Nobody who was cut off himself until now says that others are gone."""
SILENT_SECONDS = 1.5
"""So long nobody must have held a node's lock: of one who was cut off, after it has settled."""

KEEPALIVES = {
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
"""So that PostgreSQL itself notices a machine that is gone without a word."""

log = logging.getLogger(__name__)


class Lifeline:
    def __init__(
        self,
        url: str,
        me: str,
        *,
        name: str,
        sql: Mapping[str, str],
        sink: Sink,
        reads: Connections,
        ringer: Ringer,
        sequencer: Sequencer,
        knows: int,
        points: Points = NOWHERE,
    ) -> None:
        self._url = url
        self._me = me
        self._settings = {"application_name": name, **KEEPALIVES}
        self._sql = sql
        self._sink = sink
        self._reads = reads
        self._ringer = ringer
        self._sequencer = sequencer
        self.knows = knows
        """The newest schema that this program knows."""
        self._points = points
        self._line: Any = None
        self._since = 0.0
        self._listens_from = 0.0
        """From when on silence of others says something."""
        self._heard = 0.0
        self._node: NodeId | None = None
        self._no: int | None = None
        self._locked: int | None = None
        self._holding = asyncio.Lock()
        self._silent: dict[str, tuple[datetime, float]] = {}
        self._opened_before = False

    async def run(self) -> None:
        """Keep the line open, and look after what nobody else does, once in a while."""
        while True:
            try:
                await self._round()
            except Exception as error:  # noqa: BLE001  whatever it is, it goes on
                log.warning("the line to PostgreSQL: %s", error)
                self._hang_up()
            await asyncio.sleep(ROUND_SECONDS)

    async def beat(self, node: NodeId, no: int) -> None:
        """This node is known by that number: hold its lock, from the first beat on."""
        if self._node == node and self._no == no:
            return
        self._node, self._no, self._locked = node, no, None
        try:
            await self._hold()
            await self._succeed()
        except Exception as error:  # noqa: BLE001  the next round does it, and beats go on
            log.warning("the line to PostgreSQL: %s", error)

    async def stop(self, node: NodeId) -> None:
        if self._node == node:
            self._node = self._no = self._locked = None
            self._hang_up()

    def close(self) -> None:
        self._hang_up()

    async def open(self) -> None:
        """Listen; whoever listened before may have missed something meanwhile."""
        line = await connect(self._url, self._settings)
        try:
            await line.add_listener(CHANNEL, self._hear)
        except BaseException:
            line.terminate()
            raise
        self._line, self._locked = line, None
        self._since = self._heard = self._listens_from = time.monotonic()
        line.add_termination_listener(self._ended)
        if self._opened_before:
            # Whatever cut us off may have cut off the others too: they get time to come back.
            self._listens_from += SETTLED_SECONDS
            self._sink.resync()
        self._opened_before = True

    async def _round(self) -> None:
        if self._line is not None and time.monotonic() - self._heard > DEAF_SECONDS:
            log.warning("the line to PostgreSQL is deaf: it is opened again")
            self._hang_up()
        if self._line is None or self._line.is_closed():
            await self.open()
        self._ringer.ping("1")
        await self._hold()
        await self._succeed()
        await self._watch()
        for (workspace,) in await self._reads.fetch(self._sql["outboxes"]):
            self._sequencer.soon(StreamId(workspace))

    async def _hold(self) -> None:
        async with self._holding:
            if self._line is None or self._no is None or self._locked == self._no:
                return
            got = await self._line.fetchval(
                "SELECT pg_try_advisory_lock($1, $2)", LOCK, self._no, timeout=STATEMENT_SECONDS
            )
            # Not got: a line of ours that has ended is still there for PostgreSQL. Next round.
            if got:
                self._locked = self._no
                self._points.reach(Step.LEASING, "its lock")
                await self._reads.fetch(self._sql["pulsing"], self._node)
                self._points.reach(Step.LEASED, "its lock")

    async def _succeed(self) -> None:
        """Whoever was this node before is gone: what it left need not wait until all are sure."""
        if self._node is None or time.monotonic() - self._since >= SETTLED_SECONDS:
            return
        for node, seen_at in await self._reads.fetch(self._sql["predecessors"], self._node, LOCK):
            await self._bury(node, seen_at)

    async def _watch(self) -> None:
        """Say of a node that it is gone if twice nobody held its lock, and no beat came between."""
        if self._node is None or time.monotonic() < self._listens_from:
            self._silent.clear()
            return
        rows = await self._reads.fetch(self._sql["silent"], self._node, LOCK)
        now = time.monotonic()
        found = {row["id"]: row["seen_at"] for row in rows}
        self._silent = {
            node: (seen_at, self._silent[node][1])
            if node in self._silent and self._silent[node][0] == seen_at
            else (seen_at, now)
            for node, seen_at in found.items()
        }
        if now - self._since < SETTLED_SECONDS:
            return
        for node, (seen_at, since) in list(self._silent.items()):
            if now - since >= SILENT_SECONDS:
                await self._bury(node, seen_at)
                del self._silent[node]

    async def _bury(self, node: str, seen_at: datetime) -> None:
        self._points.reach(Step.BURYING)
        if await self._reads.fetch(self._sql["declare_gone"], node, seen_at, LOCK):
            self._points.reach(Step.BURIED)
            log.warning("node %s is gone: its line to PostgreSQL has ended", node)

    def _hear(self, _line: Any, _pid: int, _channel: str, payload: str) -> None:
        sender, kind, names = payload.split(" ", 2)
        if sender == self._me:
            self._heard = time.monotonic()
            return
        try:
            match kind:
                case "e":
                    self._sink.rang([StreamId(name) for name in names.split(",")])
                case "c":
                    self._sink.rang_changed([SessionId(name) for name in names.split(",")])
                case "k":
                    for name in names.split(","):
                        self._sink.rang_kept(name)
                case _:
                    pass
        except Exception:
            log.exception("the sink failed")

    def _ended(self, line: Any) -> None:
        if line is self._line:
            self._line = None

    def _hang_up(self) -> None:
        line, self._line, self._locked = self._line, None, None
        if line is not None and not line.is_closed():
            line.terminate()
