"""What comes before what: a commit before its ring, a number before its reader."""

import time

import anyio
import pytest

from tenuto.core.value import StreamId
from tenuto.ports.points import Step
from tenuto.storage.postgres import lifeline
from tenuto.storage.postgres.writes import oldest_token
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.listener import Listener
from tests.storage.postgres.conftest import on

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

DAYS = 3 * 24 * 3600
OUTBOX = (
    "INSERT INTO outbox (workspace_id, type, run_id, about, body)"
    " SELECT stream, type, run_id, about, body FROM events WHERE stream = 'default' LIMIT 1"
    " RETURNING 1"
)


class WritesInOrder:
    """Asks at each commit of parts what was rung before it."""

    armed = True

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.rung: list[list[StreamId]] = []

    def reach(self, step: Step, what: str = "") -> None:
        if step is Step.COMMITTING and what == "parts":
            self.rung.append(list(self._listener.rung))


async def test_nothing_is_rung_before_it_is_committed(database: str) -> None:
    listener = Listener()
    points = WritesInOrder(listener)
    async with on(database, listener, points=points) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await driven.say("one")
        await driven.say(" two")
        assert points.rung and not any(points.rung)


async def test_a_decision_rings_at_the_others(database: str) -> None:
    there = Listener()
    async with on(database) as store, on(database, there):
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        with anyio.fail_after(10):
            while driven.id not in there.rung_changes:  # noqa: ASYNC110
                await anyio.sleep(0.02)


async def test_who_reads_a_workspaces_log_numbers_what_waits_for_it(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if whoever wrote it had died before it had its number, and nobody else had looked."""
    monkeypatch.setattr(lifeline, "ROUND_SECONDS", 600.0)
    async with on(database) as store:
        await make_workspace(store)
        await DrivenSession.begin(store)
        before = await store.read(StreamId("default"), after=0, limit=100)
        assert await store._parts.writes.connections.fetch(OUTBOX)
        page = await store.read(StreamId("default"), after=0, limit=100)
        assert len(page.events) == len(before.events) + 1
        assert page.head == before.head + 1


async def test_receipts_are_dated_by_the_clock_of_the_database(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - DAYS)
    async with on(database) as store:
        assert store._parts.writes.token() > oldest_token(now())
