"""What only the memory store promises: several nodes in one process."""

import pytest

from tenuto.core.error import Fenced
from tenuto.core.value import NodeId
from tenuto.ports.query import NodeState, Orphan
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import NODE, DrivenSession, card, make_workspace
from tests.conformance.listener import Listener
from tests.support.held_clock import NOON, HeldClock

pytestmark = pytest.mark.anyio

OTHER = NodeId("node_b")


async def test_a_run_is_no_orphan_while_its_owners_lease_lasts_on_the_stores_clock() -> None:
    clock = HeldClock()
    store = MemoryStore(Listener(), clock=clock)
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    orphan = Orphan(session_id=driven.id, run_id=driven.fence.run_id, owner=NODE)
    assert await store.orphans(OTHER) == (orphan,)
    pulse = await store.heartbeat(card(NODE), seconds=20.0)
    assert pulse.now == NOON
    assert pulse.living == {NODE}
    clock.at = 19.0
    assert await store.orphans(OTHER) == ()
    assert set(await store.living()) == {NODE}
    clock.at = 20.0
    assert await store.orphans(OTHER) == (orphan,)
    assert await store.orphans(NODE) == ()
    assert set(await store.living()) == set()
    await store.heartbeat(card(NODE), seconds=20.0)
    assert await store.orphans(OTHER) == ()
    await store.farewell(NODE)
    assert await store.orphans(OTHER) == (orphan,)


async def test_a_change_for_a_dead_node_is_fenced_while_it_lives() -> None:
    store = MemoryStore(Listener(), clock=HeldClock())
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await store.heartbeat(card(OTHER), seconds=20.0)
    before = await store.snapshot(driven.id)
    with pytest.raises(Fenced):
        await driven.accept("one", dead=OTHER)
    assert await store.snapshot(driven.id) == before
    await store.farewell(OTHER)
    await driven.accept("one", dead=OTHER)
    assert (await store.session(driven.id)).queued == 1


async def test_one_node_leads_until_it_no_longer_asks() -> None:
    clock = HeldClock()
    store = MemoryStore(Listener(), clock=clock)
    assert await store.lead("tidy", NODE, seconds=10.0)
    assert not await store.lead("tidy", OTHER, seconds=10.0)
    assert await store.lead("other", OTHER, seconds=10.0)
    clock.at = 9.0
    assert await store.lead("tidy", NODE, seconds=10.0)
    clock.at = 18.0
    assert not await store.lead("tidy", OTHER, seconds=10.0)
    clock.at = 19.0
    assert await store.lead("tidy", OTHER, seconds=10.0)
    assert not await store.lead("tidy", NODE, seconds=10.0)


async def test_nodes_are_alive_draining_or_gone() -> None:
    clock = HeldClock()
    store = MemoryStore(Listener(), clock=clock)
    await store.heartbeat(card(NODE, name="a"), seconds=20.0)
    await store.heartbeat(card(OTHER, name="b", active_runs=3, draining=True), seconds=40.0)
    told = [(n.id, n.name, n.state, n.active_runs) for n in await store.nodes()]
    assert told == [(NODE, "a", NodeState.ALIVE, 0), (OTHER, "b", NodeState.DRAINING, 3)]
    clock.at = 30.0
    assert [n.state for n in await store.nodes()] == [NodeState.GONE, NodeState.DRAINING]


async def test_a_commit_is_told_where_it_was_made_and_rings_beside_it() -> None:
    here, there = Listener(), Listener()
    store = MemoryStore(here)
    assert not store.shared
    beside = MemoryStore(there, beside=store)
    assert store.shared
    assert beside.shared
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "a", "b")
    assert there.heard == [] and there.changes == []
    assert there.rung == [stream for stream, _ in here.heard]
    assert there.rung_changes == here.changes == [driven.id] * 3
    assert here.rung == [] and here.rung_changes == []
    await DrivenSession(beside, driven.id).accept("two")
    assert there.changes == [driven.id]
    assert here.rung_changes == [driven.id]


async def test_a_value_that_one_node_keeps_rings_on_the_others_alone() -> None:
    here, there = Listener(), Listener()
    store = MemoryStore(here)
    MemoryStore(there, beside=store)
    await store.keep("settings", b"{}", rev=0)
    assert (here.kept, there.kept) == ([], ["settings"])
