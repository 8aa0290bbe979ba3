"""What a node may rescue, and what it may not."""

import anyio
import pytest

from tenuto.core.run import OnDisconnect
from tenuto.core.value import NodeId
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession
from tests.engine.harness import EngineHarness

pytestmark = pytest.mark.anyio


async def test_a_run_that_its_owner_works_on_is_left_alone() -> None:
    switchboard = Switchboard()
    harness = EngineHarness(MemoryStore(switchboard), switchboard)
    driven = await harness.session()
    run = await driven.accept("one")
    with anyio.fail_after(10):
        await harness.worker.began.wait()
    await harness.rescuer.round()
    assert (await harness.store.run(run.id)).status == "running"
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


async def test_a_run_of_this_node_that_nothing_here_works_on_is_ended() -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    driven = await harness.session()
    run = await driven.accept("one")
    # Its lane has died in a way that nobody foresaw.
    await driven.start()
    await harness.rescuer.round()
    assert (await harness.store.run(run.id)).status == "interrupted"


async def test_a_run_that_found_an_owner_since_it_was_seen_alone_is_left_alone() -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    driven = await harness.session()
    first = await driven.accept("one")
    gone = DrivenSession(harness.store, driven.id, node=NodeId("node_gone"))
    await gone.start()
    (orphan,) = await harness.store.orphans(driven.node, now=driven.moment().now)
    await gone.settle()
    second = await driven.accept("two")
    await driven.start()
    await harness.rescuer._try_to_rescue(orphan)
    assert (await harness.store.run(first.id)).status == "completed"
    assert (await harness.store.run(second.id)).status == "running"


async def test_a_waiting_run_that_belonged_to_a_connection_ends_with_the_crash() -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    driven = await harness.session()
    run = await driven.accept("one", on_disconnect=OnDisconnect.CANCEL)
    await harness.rescuer.recover()
    ended = await harness.store.run(run.id)
    assert (ended.status, ended.reason) == ("cancelled", "disconnect")
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


async def test_what_waits_begins_when_the_server_starts() -> None:
    switchboard = Switchboard()
    harness = EngineHarness(MemoryStore(switchboard), switchboard)
    driven = await harness.session()
    # Nobody hears of this one: whoever accepted it is dead.
    listeners, switchboard.on_changed = switchboard.on_changed, []
    await driven.accept("one")
    switchboard.on_changed = listeners
    await harness.rescuer.recover()
    with anyio.fail_after(10):
        await harness.worker.began.wait()
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


async def test_a_crashed_run_keeps_what_it_had_said_in_a_message_that_is_closed() -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    driven = await harness.session()
    run = await driven.accept("one")
    gone = DrivenSession(harness.store, driven.id, node=NodeId("node_gone"))
    await gone.start()
    await gone.say("Hel", "lo")
    await harness.rescuer.round()
    assert (await harness.store.run(run.id)).status == "interrupted"
    answer = (await harness.store.snapshot(driven.id)).messages[-1]
    assert (answer.text(), answer.finish_reason) == ("Hello", "interrupted")
