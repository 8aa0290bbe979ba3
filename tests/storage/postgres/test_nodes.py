"""Who is alive, and what a dead node's rescuer may do."""

import anyio
import pytest

from tenuto.core.error import Fenced
from tenuto.core.value import NodeId
from tenuto.ports.store import Store
from tenuto.storage.postgres import PostgresStore, lifeline
from tests.conformance.driven import NODE, DrivenSession, card, make_workspace
from tests.conformance.listener import Listener
from tests.storage.postgres.conftest import on

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

OTHER = NodeId("node_b")
LONG = 600.0
SOON = 30


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifeline, "ROUND_SECONDS", 0.1)
    monkeypatch.setattr(lifeline, "SETTLED_SECONDS", 0.2)
    monkeypatch.setattr(lifeline, "SILENT_SECONDS", 0.3)


async def until_gone(store: Store, node: NodeId) -> None:
    with anyio.fail_after(SOON):
        while node in await store.living():  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def until_held(store: PostgresStore, node: NodeId) -> None:
    """Its lock is known to be held."""
    with anyio.fail_after(SOON):
        sql = "SELECT 1 FROM nodes WHERE id = $1 AND pulse"
        while not await store._parts.reads.fetch(sql, node):  # noqa: ASYNC110
            await anyio.sleep(0.05)


def drop_dead(store: PostgresStore) -> None:
    """As if its process had been killed: nothing is said, and its line ends."""
    for task in store._tasks:
        task.cancel()
    store._lifeline.close()


async def test_a_node_whose_line_ends_is_gone_long_before_its_lease(database: str) -> None:
    async with on(database) as killed, on(database) as other:
        await killed.heartbeat(card(NODE), seconds=LONG)
        await other.heartbeat(card(OTHER), seconds=LONG)
        await until_held(other, NODE)
        assert set(await other.living()) == {NODE, OTHER}
        drop_dead(killed)
        await until_gone(other, NODE)
        assert list(await other.living()) == [OTHER]
        states = {node.id: node.state for node in await other.nodes()}
        assert states == {NODE: "gone", OTHER: "alive"}


async def test_a_node_that_starts_again_need_not_wait_for_itself(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it take the place of another of its name that is alive."""
    monkeypatch.setattr(lifeline, "SETTLED_SECONDS", LONG)
    async with on(database) as killed, on(database) as living, on(database) as again:
        await killed.heartbeat(card(NODE, name="left"), seconds=LONG)
        await living.heartbeat(card(OTHER, name="right"), seconds=LONG)
        drop_dead(killed)
        third = NodeId("node_c")
        await again.heartbeat(card(third, name="left"), seconds=LONG)
        await until_gone(again, NODE)
        await again.heartbeat(card(NodeId("node_d"), name="right"), seconds=LONG)
        await again._lifeline._round()
        assert OTHER in await again.living()


async def test_a_node_that_beats_is_alive_also_without_its_line(database: str) -> None:
    async with on(database) as cut_off, on(database) as other:
        await cut_off.heartbeat(card(NODE), seconds=LONG)
        await other.heartbeat(card(OTHER), seconds=LONG)
        await until_held(other, NODE)
        drop_dead(cut_off)
        with anyio.fail_after(SOON):
            while NODE not in other._lifeline._silent:
                await anyio.sleep(0.02)
                await cut_off.heartbeat(card(NODE), seconds=LONG)
        for _ in range(20):
            await cut_off.heartbeat(card(NODE), seconds=LONG)
            await anyio.sleep(0.05)
            assert NODE in await other.living()


async def test_a_node_that_has_not_got_its_lock_yet_is_alive(database: str) -> None:
    """Beside one that had it and lost it, which is gone by then: both are looked at."""
    async with on(database) as other:
        await other.heartbeat(card(OTHER), seconds=LONG)
        lost = NodeId("node_lost")
        for node in (NODE, lost):
            beat = (node, "", "", 1, False, 0, "", LONG)
            await other._parts.writes.connections.fetch(other._parts.sql["beat"], *beat)
        await other._parts.reads.fetch(other._parts.sql["pulsing"], lost)
        await until_gone(other, lost)
        for _ in range(4):
            await other._lifeline._round()
            await anyio.sleep(lifeline.SILENT_SECONDS / 2)
        assert NODE in await other.living()


async def test_a_lease_ends_by_the_clock_of_the_database(database: str) -> None:
    async with on(database) as store, on(database) as other:
        pulse = await store.heartbeat(card(NODE), seconds=0.2)
        assert pulse.now is not None
        await until_gone(other, NODE)
        again = await store.heartbeat(card(NODE), seconds=LONG)
        assert NODE in again.living


async def test_a_run_is_rescued_only_while_its_owner_is_dead(database: str) -> None:
    async with on(database) as store, on(database) as rescuer:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await store.heartbeat(card(NODE), seconds=LONG)
        assert list(await rescuer.orphans(OTHER)) == []
        at_the_rescuer = DrivenSession(rescuer, driven.id)
        with pytest.raises(Fenced):
            await at_the_rescuer.accept("in its name", dead=NODE)
        assert (await store.session(driven.id)).queued == 0
        await store.farewell(NODE)
        assert [(o.run_id, o.owner) for o in await rescuer.orphans(OTHER)] == [
            (driven.fence.run_id, NODE)
        ]
        await at_the_rescuer.accept("in its name", dead=NODE)
        assert (await store.session(driven.id)).queued == 1


async def test_one_node_leads_until_it_is_gone(database: str) -> None:
    async with on(database) as one, on(database) as other:
        await one.heartbeat(card(NODE), seconds=LONG)
        await other.heartbeat(card(OTHER), seconds=LONG)
        assert await one.lead("tidy", NODE, seconds=LONG)
        assert not await other.lead("tidy", OTHER, seconds=LONG)
        assert await other.lead("something else", OTHER, seconds=LONG)
        await one.farewell(NODE)
        assert await other.lead("tidy", OTHER, seconds=LONG)
        assert not await one.lead("tidy", NODE, seconds=LONG)


async def test_a_kept_value_rings_at_other_nodes_and_not_at_its_own(database: str) -> None:
    here, there = Listener(), Listener()
    async with on(database, here) as store, on(database, there) as other:
        await store.keep("settings", b"one", rev=0)
        with anyio.fail_after(SOON):
            while not there.kept:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert (there.kept, here.kept) == (["settings"], [])
        kept = await other.kept("settings")
        assert kept is not None and kept.body == b"one"


async def test_a_line_that_has_gone_deaf_is_opened_again(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifeline, "DEAF_SECONDS", 0.5)
    there = Listener()
    async with on(database) as store, on(database, there) as deaf:
        await deaf._lifeline._line.execute("UNLISTEN *")
        with anyio.fail_after(SOON):
            while not there.resyncs:  # noqa: ASYNC110
                await anyio.sleep(0.02)
            await store.keep("settings", b"one", rev=0)
            while not there.kept:  # noqa: ASYNC110
                await anyio.sleep(0.02)


async def test_many_rings_at_once_are_all_heard(database: str) -> None:
    here, there = Listener(), Listener()
    async with on(database, here) as store, on(database, there):
        names = {f"ses_{n:030}" for n in range(2_000)}
        for name in names:
            store._parts.ringer.ring(name)  # type: ignore[arg-type]
        with anyio.fail_after(SOON):
            while not names <= set(there.rung):  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert here.rung == []


async def test_a_ring_that_could_not_be_sent_is_sent_again(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Listener()
    async with on(database) as store, on(database, there):
        ringer = store._parts.ringer
        send, refused = ringer._send, list[int]()

        async def refusing(payloads: list[str]) -> None:
            if any(" k " in line for line in payloads) and not refused:
                refused.append(1)
                raise OSError("the line broke")
            await send(payloads)

        monkeypatch.setattr(ringer, "_send", refusing)
        await store.keep("settings", b"one", rev=0)
        with anyio.fail_after(SOON):
            while not there.kept:  # noqa: ASYNC110
                await anyio.sleep(0.02)
        assert refused


async def test_a_beat_tells_of_a_kept_value_whose_ring_was_lost(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if who kept it had died before it could ring."""
    there = Listener()
    async with on(database) as store, on(database, there) as other:
        monkeypatch.setattr(store._parts.ringer, "ring_kept", lambda name: None)
        before = (await other.heartbeat(card(OTHER), seconds=LONG)).kept
        assert (await other.heartbeat(card(OTHER), seconds=LONG)).kept == before
        await store.keep("settings", b"one", rev=0)
        assert (await other.heartbeat(card(OTHER), seconds=LONG)).kept != before
        assert there.kept == []
