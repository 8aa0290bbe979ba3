"""Two stores on one database as one: each call goes to either, and each hears of the other."""

import random
from collections.abc import Collection, Sequence
from typing import Any

import anyio

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.ports.query import Page
from tenuto.ports.store import Store
from tests.conformance.listener import Listener

RING_SECONDS = 10


class ToldInOrder:
    """What both tell of a log, in the order of the log; each event must be told once."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._told: dict[StreamId, int] = {}
        self._early: dict[StreamId, dict[int, tuple[Stored, ...]]] = {}

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        early = self._early.setdefault(stream, {})
        assert events[0].seq > self._told.get(stream, 0) and events[0].seq not in early, "twice"
        early[events[0].seq] = tuple(events)
        while ready := early.pop(self._told.get(stream, 0) + 1, ()):
            self._told[stream] = ready[-1].seq
            self.listener.committed(stream, ready)


class NodeEars:
    """The sink of one of the two: its own commits are told on, and rings are kept."""

    def __init__(self, together: ToldInOrder) -> None:
        self._together = together
        self._news = anyio.Event()
        self.told: set[StreamId] = set()
        self.changes: set[SessionId] = set()
        self.rung: set[StreamId] = set()
        self.rung_changes: set[SessionId] = set()

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        self.told.add(stream)
        self._together.committed(stream, events)

    def changed(self, session_id: SessionId) -> None:
        self.changes.add(session_id)
        self._together.listener.changed(session_id)

    def rang(self, streams: Collection[StreamId]) -> None:
        self.rung.update(streams)
        self._news.set()

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        self.rung_changes.update(session_ids)
        self._news.set()

    def rang_kept(self, name: str) -> None:
        """Kept values have tests of their own."""

    def resync(self) -> None:
        raise AssertionError("nothing was lost")

    async def heard_all_that(self, other: "NodeEars") -> None:
        """What was told there has rung here."""
        with anyio.fail_after(RING_SECONDS):
            while not (self.rung >= other.told and self.rung_changes >= other.changes):
                self._news = anyio.Event()
                await self._news.wait()


class ByLot:
    def __init__(self, stores: Sequence[Store], seed: str) -> None:
        self._stores = stores
        self._dice = random.Random(seed)

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        """Each of them has told what it knows of a log before it gives a page of it."""
        pages = [await store.read(stream, after=after, limit=limit) for store in self._stores]
        return pages[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dice.choice(self._stores), name)
