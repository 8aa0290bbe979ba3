"""What nodes ask of every store: to be counted, to read many logs at once, to lead."""

import pytest

from tenuto.core.value import NodeId, StreamId
from tenuto.ports.store import Store
from tests.conformance.driven import NODE, START, DrivenSession, card
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

SUCCESSOR = NodeId("node_next")


async def test_who_has_no_lease_is_not_among_the_living(store: Store) -> None:
    pulse = await store.heartbeat(card(SUCCESSOR), seconds=30.0)
    assert NODE not in pulse.living
    assert NODE not in await store.living()
    await store.farewell(SUCCESSOR)
    assert list(await store.living()) == []


async def test_a_node_is_told_of_as_it_said_itself(store: Store) -> None:
    said = card(NODE, name="left", version="1.2", active_runs=2)
    await store.heartbeat(said, seconds=30.0)
    (node,) = await store.nodes()
    assert (node.id, node.name, node.version, node.active_runs) == (NODE, "left", "1.2", 2)
    assert (node.state, node.started_at) == ("alive", START)
    await store.heartbeat(card(NODE, draining=True), seconds=30.0)
    (node,) = await store.nodes()
    assert node.state == "draining"


async def test_a_node_that_is_alone_leads(store: Store) -> None:
    assert await store.lead("tidy", NODE, seconds=30.0)
    assert await store.lead("tidy", NODE, seconds=30.0)


async def test_the_run_of_a_dead_node_can_be_ended_in_its_name(store: Store) -> None:
    driven = await DrivenSession.begin(store)
    await driven.accept("one", dead=NodeId("node_gone"))
    assert (await store.session(driven.id)).queued == 1


async def test_many_logs_are_read_at_once_each_from_its_cursor(store: Store) -> None:
    one, two = await DrivenSession.begin(store, "one"), await DrivenSession.begin(store, "two")
    await one.turn("hello", "a", "b")
    await two.turn("hello", "c")
    streams = [StreamId(one.id), StreamId(two.id)]
    pages = await store.read_many({streams[0]: 2, streams[1]: 0, StreamId("ses_none"): 0}, limit=3)
    assert pages == {
        streams[0]: await store.read(streams[0], after=2, limit=3),
        streams[1]: await store.read(streams[1], after=0, limit=3),
    }
    assert [e.seq for e in pages[streams[0]].events] == [3, 4, 5]
    head = pages[streams[1]].head
    pages = await store.read_many({streams[1]: head}, limit=3)
    assert pages[streams[1]].events == ()
    assert await store.read_many({}, limit=3) == {}


async def test_own_commits_ring_nowhere_here(store: Store, listener: Listener) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "a")
    assert listener.heard
    assert listener.rung == []
    assert listener.rung_changes == []
