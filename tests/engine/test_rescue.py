"""What a node may rescue, and what it may not."""

from collections.abc import Sequence

import anyio
import anyio.lowlevel
import pytest

from tenuto.core.run import OnDisconnect
from tenuto.core.value import NodeId, RunId, SessionId
from tenuto.engine.engine import Switchboard
from tenuto.storage.memory import MemoryStore
from tests.conformance.driven import DrivenSession, card
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
    (orphan,) = await harness.store.orphans(driven.node)
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


class SlowToLook(MemoryStore):
    """Whoever can begin has begun before it says what waits."""

    async def waiting_sessions(self) -> Sequence[SessionId]:
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        return await super().waiting_sessions()


async def test_what_waited_behind_a_crashed_run_for_a_connection_never_begins() -> None:
    switchboard = Switchboard()
    harness = EngineHarness(SlowToLook(switchboard), switchboard)
    driven = await harness.session()
    listeners, switchboard.on_changed = switchboard.on_changed, []
    gone = DrivenSession(harness.store, driven.id, node=NodeId("node_gone"))
    first = await gone.accept("one")
    await gone.start()
    attached = await gone.accept("two", on_disconnect=OnDisconnect.CANCEL)
    free = await gone.accept("three")
    switchboard.on_changed = listeners
    await harness.rescuer.recover()
    with anyio.fail_after(10):
        await harness.worker.began.wait()
    assert (await harness.store.run(first.id)).reason == "server_crashed"
    ended = await harness.store.run(attached.id)
    assert (ended.status, ended.reason, ended.started_at) == ("cancelled", "disconnect", None)
    assert (await harness.store.run(free.id)).status == "running"
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


OTHER = NodeId("node_other")


async def attached_elsewhere(harness: EngineHarness) -> tuple[DrivenSession, RunId]:
    """A run that waits, and whose connection another node holds."""
    driven = await harness.session()
    other = DrivenSession(harness.store, driven.id, node=OTHER)
    run = await other.accept("one", on_disconnect=OnDisconnect.CANCEL)
    return driven, run.id


async def test_a_run_whose_connection_another_living_node_holds_is_not_dropped() -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    _, run_id = await attached_elsewhere(harness)
    await harness.store.heartbeat(card(OTHER), seconds=1e6)
    await harness.rescuer.recover()
    with anyio.fail_after(10):
        await harness.worker.began.wait()
    assert (await harness.store.run(run_id)).status == "running"
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


async def test_a_run_whose_connection_was_held_by_a_node_that_is_gone_is_dropped_by_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    _, run_id = await attached_elsewhere(harness)
    monkeypatch.setattr("tenuto.engine.rescuer.ROUND_SECONDS", 0.0)
    async with anyio.create_task_group() as upkeep:
        upkeep.start_soon(harness.rescuer.watch)
        with anyio.fail_after(10):
            while (await harness.store.run(run_id)).status == "queued":
                await anyio.lowlevel.checkpoint()
        upkeep.cancel_scope.cancel()
    ended = await harness.store.run(run_id)
    assert (ended.status, ended.reason) == ("cancelled", "disconnect")
    assert not harness.worker.began.is_set()
    await harness.coordinator.drain(0)
    await harness.coordinator.stop(1.0)


async def test_a_look_of_this_node_leaves_alone_what_waits_for_its_own_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = EngineHarness(MemoryStore(Switchboard()), Switchboard())
    driven = await harness.session()
    run = await driven.accept("one", on_disconnect=OnDisconnect.CANCEL)
    monkeypatch.setattr("tenuto.engine.rescuer.ROUND_SECONDS", 0.0)
    async with anyio.create_task_group() as upkeep:
        upkeep.start_soon(harness.rescuer.watch)
        with anyio.fail_after(10):
            await harness.worker.began.wait()
        upkeep.cancel_scope.cancel()
    assert (await harness.store.run(run.id)).status == "running"
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
