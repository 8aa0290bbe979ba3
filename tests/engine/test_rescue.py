"""What a node may rescue, and what it may not."""

import anyio
import pytest

from tenuto.core.run import OnDisconnect
from tenuto.core.value import NodeId
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.life import Life
from tests.engine.stage import Stage

pytestmark = pytest.mark.anyio


async def test_a_run_that_its_owner_works_on_is_left_alone() -> None:
    switchboard = Switchboard()
    stage = Stage(MemoryStore(switchboard), switchboard)
    life = await stage.session()
    run = await life.accept("one")
    with anyio.fail_after(10):
        await stage.worker.began.wait()
    await stage.rescuer.round()
    assert (await stage.store.run(run.id)).status == "running"
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)


async def test_a_run_of_this_node_that_nothing_here_works_on_is_ended() -> None:
    stage = Stage(MemoryStore(Switchboard()), Switchboard())
    life = await stage.session()
    run = await life.accept("one")
    # Its lane has died in a way that nobody foresaw.
    await life.start()
    await stage.rescuer.round()
    assert (await stage.store.run(run.id)).status == "interrupted"


async def test_a_run_that_found_an_owner_since_it_was_seen_alone_is_left_alone() -> None:
    stage = Stage(MemoryStore(Switchboard()), Switchboard())
    life = await stage.session()
    first = await life.accept("one")
    gone = Life(stage.store, life.id, node=NodeId("node_gone"))
    await gone.start()
    (orphan,) = await stage.store.orphans(life.node, now=life.moment().now)
    await gone.settle()
    second = await life.accept("two")
    await life.start()
    await stage.rescuer._try_to_rescue(orphan)
    assert (await stage.store.run(first.id)).status == "completed"
    assert (await stage.store.run(second.id)).status == "running"


async def test_a_waiting_run_that_belonged_to_a_connection_ends_with_the_crash() -> None:
    stage = Stage(MemoryStore(Switchboard()), Switchboard())
    life = await stage.session()
    run = await life.accept("one", on_disconnect=OnDisconnect.CANCEL)
    await stage.rescuer.recover()
    ended = await stage.store.run(run.id)
    assert (ended.status, ended.reason) == ("cancelled", "disconnect")
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)


async def test_what_waits_begins_when_the_server_starts() -> None:
    switchboard = Switchboard()
    stage = Stage(MemoryStore(switchboard), switchboard)
    life = await stage.session()
    # Nobody hears of this one: whoever accepted it is dead.
    listeners, switchboard.on_changed = switchboard.on_changed, []
    await life.accept("one")
    switchboard.on_changed = listeners
    await stage.rescuer.recover()
    with anyio.fail_after(10):
        await stage.worker.began.wait()
    await stage.coordinator.drain(0)
    await stage.coordinator.stop(1.0)


async def test_a_crashed_run_keeps_what_it_had_said_in_a_message_that_is_closed() -> None:
    stage = Stage(MemoryStore(Switchboard()), Switchboard())
    life = await stage.session()
    run = await life.accept("one")
    gone = Life(stage.store, life.id, node=NodeId("node_gone"))
    await gone.start()
    await gone.say("Hel", "lo")
    await stage.rescuer.round()
    assert (await stage.store.run(run.id)).status == "interrupted"
    answer = (await stage.store.snapshot(life.id)).messages[-1]
    assert (answer.text(), answer.finish_reason) == ("Hello", "interrupted")
