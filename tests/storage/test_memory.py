"""What only the memory store promises: several nodes in one process."""

import pytest

from tenuto.core.value import NodeId
from tenuto.ports.query import Orphan
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import NODE, DrivenSession, instant, make_workspace
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio

OTHER = NodeId("node_b")


async def test_a_run_is_no_orphan_while_its_owners_lease_lasts() -> None:
    store = MemoryStore(Listener())
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    await driven.accept("hello")
    await driven.start()
    orphan = Orphan(session_id=driven.id, run_id=driven.fence.run_id)
    assert await store.orphans(OTHER, now=instant(10)) == (orphan,)
    await store.heartbeat(NODE, until=instant(20))
    assert await store.orphans(OTHER, now=instant(19)) == ()
    assert set(await store.living(now=instant(19))) == {NODE}
    assert await store.orphans(OTHER, now=instant(20)) == (orphan,)
    assert await store.orphans(NODE, now=instant(20)) == ()
    await store.heartbeat(NODE, until=instant(40))
    assert await store.orphans(OTHER, now=instant(20)) == ()


async def test_every_sink_hears_every_commit() -> None:
    first, second = Listener(), Listener()
    store = MemoryStore(first)
    await make_workspace(store)
    store.add_sink(second)
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "a", "b")
    assert first.heard == second.heard
    assert first.changes == second.changes == [driven.id] * 3
