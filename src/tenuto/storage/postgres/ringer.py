"""The bell to other nodes: after a commit, pointers only, as many at once as have come together."""

import asyncio
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from tenuto.core.value import SessionId, StreamId
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.storage.postgres.connections import Connections

CHANNEL = "tenuto"
PAYLOAD_BYTES = 7_800
"""PostgreSQL takes less than 8,000."""
RETRY_SECONDS = 0.25
CROWD = 5
"""From so many nodes on a ring waits a little for others: each one wakes them all."""
CROWD_PAUSE_SECONDS = 0.005
SECONDS = 5.0

log = logging.getLogger(__name__)


class Ringer:
    """One statement in flight; what is rung meanwhile goes with the next. What could not be sent goes
    again; a ring is lost only with its node, or on its way."""

    def __init__(self, connections: Connections, me: str, points: Points = NOWHERE) -> None:
        self._connections = connections
        self._points = points
        self._me = me
        self._streams: set[StreamId] = set()
        self._changed: set[SessionId] = set()
        self._kept: set[str] = set()
        self._pings: set[str] = set()
        self._wake = asyncio.Event()
        self.nodes = 1
        """How many are alive, as far as is known."""

    def ring(self, stream: StreamId) -> None:
        self._streams.add(stream)
        self._wake.set()

    def ring_changed(self, session_id: SessionId) -> None:
        self._changed.add(session_id)
        self._wake.set()

    def ring_kept(self, name: str) -> None:
        self._kept.add(name)
        self._wake.set()

    def ping(self, mark: str) -> None:
        """To be heard by ourselves: if it is not, others are not heard either."""
        self._pings.add(mark)
        self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            if self.nodes >= CROWD and not self._changed:
                await asyncio.sleep(CROWD_PAUSE_SECONDS)
            self._wake.clear()
            taken = self._take()
            try:
                await self._send(
                    [line for kind, names in taken for line in self._lines(kind, names)]
                )
            except Exception as error:  # noqa: BLE001  whatever it is, the bell must go on
                log.warning("the bell could not be rung, it is rung again: %s", error)
                self._put_back(taken)
                await asyncio.sleep(RETRY_SECONDS)

    async def _send(self, payloads: list[str]) -> None:
        async with self._connections.take() as connection:
            self._points.reach(Step.RINGING)
            await connection.execute(
                "SELECT pg_notify($1, p) FROM unnest($2::text[]) p",
                CHANNEL,
                payloads,
                timeout=SECONDS,
            )
            self._points.reach(Step.RUNG)

    def _take(self) -> list[tuple[str, set[str]]]:
        """What waits, by its kind; from now on nothing does."""
        taken = [(kind, set(names)) for kind, names in self._waiting().items() if names]
        for names in self._waiting().values():
            names.clear()
        return taken

    def _put_back(self, taken: list[tuple[str, set[str]]]) -> None:
        waiting = self._waiting()
        for kind, names in taken:
            waiting[kind] |= names
        self._wake.set()

    def _waiting(self) -> dict[str, set[Any]]:
        return {"c": self._changed, "e": self._streams, "k": self._kept, "p": self._pings}

    def _lines(self, kind: str, names: Iterable[str]) -> Iterator[str]:
        return _payloads(f"{self._me} {kind} ", names)


def _payloads(head: str, names: Iterable[str]) -> Iterator[str]:
    """The names in as few payloads as they fit in."""
    line: list[str] = []
    size = len(head)
    for name in names:
        if line and size + len(name) + 1 > PAYLOAD_BYTES:
            yield head + ",".join(line)
            line, size = [], len(head)
        line.append(name)
        size += len(name) + 1
    if line:
        yield head + ",".join(line)
