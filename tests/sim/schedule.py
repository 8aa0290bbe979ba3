"""One schedule, from its script to its verdict."""

import asyncio
import random
from dataclasses import dataclass
from traceback import format_exception

from tenuto.core.approval import Decision
from tenuto.core.error import TenutoError
from tenuto.core.principal import OWNER
from tenuto.core.session import DEFAULT_WORKSPACE, Session, Workspace
from tenuto.core.value import ApprovalId, SessionId
from tests.sim.client import act
from tests.sim.loop import Stuck
from tests.sim.node import Lost, Node
from tests.sim.script import ASKS, Item, Script
from tests.sim.stage import stage
from tests.sim.violation import Violation, must
from tests.sim.world import World

BAD_LUCK_SECONDS = 60.0
"""How long after the last action the nemesis may still strike."""
PER_RUN_SECONDS = 120.0
CATCH_UP_SECONDS = 120.0
WIND_UP_STEPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    violation: str | None
    """None: every promise was kept."""
    digest: int
    """Of all that was committed: the same script gives the same."""
    steps: int
    events: int
    runs: int
    nodes: int
    """How often an engine was started."""
    crashes: int


def play(script: Script) -> Verdict:
    """Run one schedule to its end."""
    with stage():
        return perform(script)


def perform(script: Script) -> Verdict:
    """The same where the stage is set."""
    random.seed(script.seed)
    world = World(script)
    try:
        world.loop.run(_life(world))
    except Stuck as stuck:
        world.fail(Violation(f"{stuck}: {_whereabouts(world)}"))
    except Violation as violation:
        world.fail(violation)
    except Exception as error:  # noqa: BLE001  a mistake of ours must not hide behind a seed
        world.fail(Violation("the simulation stumbled: " + "".join(format_exception(error))))
    _end(world)
    verdict = _verdict(world)
    world.forget()
    return verdict


async def _life(world: World) -> None:
    await _begin(world)
    items = [world.loop.create_task(_do(world, item)) for item in world.script.items]
    await world.loop.sleep(max(item.at for item in world.script.items))
    await _quiet(world, items, give_up_at=world.loop.now + BAD_LUCK_SECONDS)
    world.nemesis.calm()
    runs = sum(len(session.runs) for session in world.witness.sessions.values())
    limit = world.loop.now + PER_RUN_SECONDS * (runs + 2)
    if not await _quiet(world, items, give_up_at=limit):
        must(False, "every run ends", _whereabouts(world))
    await _catch_up(world)
    for node in list(world.nodes):
        await world.stop(node, 1.0)
    await world.loop.sleep(6.0)
    _check_the_end(world)


async def _begin(world: World) -> None:
    # By our own hand: no bad luck yet, and no node is there to hear of it.
    now = world.clock.now()
    here = Workspace(id=DEFAULT_WORKSPACE, name="", path="/", created_at=now)
    await world.store.put_workspace(here)
    for _ in range(world.script.sessions):
        session_id = SessionId(world.ids.new("ses"))
        session = Session(
            id=session_id,
            workspace_id=here.id,
            # A session names itself here, so that requests tell whose they are.
            system=session_id,
            created_at=now,
            updated_at=now,
        )
        await world.store.create_session(session)
        world.sessions.append(session_id)
    for _ in range(world.script.nodes):
        await world.start_node()


async def _do(world: World, item: Item) -> None:
    await world.loop.sleep(item.at)
    if item.trigger is not None:
        await world.next_event(item.session, item.trigger)
    if item.kind in ASKS:
        await act(world, item)
    else:
        await world.nemesis.strike(item)


async def _quiet(world: World, items: list[asyncio.Task[None]], *, give_up_at: float) -> bool:
    """Wait until all is done and idle; a person answers what is asked meanwhile."""
    sessions = world.witness.sessions
    while world.loop.now < give_up_at:
        items = [item for item in items if not item.done()]
        working = [session for session in sessions.values() if not session.idle]
        if not (items or working or world.reviving) and _are_up(world.nodes):
            return True
        for session in working:
            for approval_id in list(session.pending):
                await _answer(world, approval_id)
        await world.loop.sleep(0.5)
    return False


def _are_up(nodes: list[Node]) -> bool:
    return bool(nodes) and all(node.ready for node in nodes)


async def _answer(world: World, approval_id: str) -> None:
    dice = world.dice("person")
    node = await world.alive(dice)
    decision = dice.choice((Decision.ALLOW_ONCE, Decision.DENY))
    try:
        await node.call(
            lambda: node.engine.answers.answer(ApprovalId(approval_id), decision, None, by=OWNER)
        )
    except (Lost, TenutoError):
        return


async def _catch_up(world: World) -> None:
    """Every reader that stayed sees everything; then all leave."""
    give_up_at = world.loop.now + CATCH_UP_SECONDS
    while behind := [reader for reader in world.readers if not reader.over and reader.behind]:
        seen = [(reader.at, reader.last) for reader in behind]
        must(world.loop.now < give_up_at, "every reader gets everything", seen)
        await world.loop.sleep(1.0)
    for reader in world.readers:
        reader.left.set()
    give_up_at = world.loop.now + CATCH_UP_SECONDS
    while not all(reader.over for reader in world.readers):
        must(world.loop.now < give_up_at, "who leaves is let go")
        await world.loop.sleep(0.2)


def _check_the_end(world: World) -> None:
    for session in world.witness.sessions.values():
        must(session.idle, "everything has ended", session.id)
        must(all(view.ended for view in session.runs.values()), "every run has ended", session.id)
        world.witness.compare(world.store, session.id)
        inputs = [view.run["input"] for view in session.runs.values()]
        for text in world.refused:
            must(text not in inputs, "what is refused is not stored", text)
    must(not world.ledger.at_work, "nothing works for nobody", world.ledger.at_work)
    main = asyncio.current_task()
    left = [task for task in world.loop.tasks if not task.done() and task is not main]
    must(not left, "no task is left", left)
    for task in world.loop.tasks:
        if task.done() and not task.cancelled() and task._log_traceback:
            must(task.node in {node.name for node in world.past}, "no task dies unheard", task)
            task.exception()


def _end(world: World) -> None:
    for node in list(world.nodes):
        node.die()
    for task in world.loop.tasks:
        if not task.done():
            task.cancel()
    world.loop.wind_up(WIND_UP_STEPS)
    for task in world.loop.tasks:
        if task.done() and not task.cancelled():
            task.exception()


def _verdict(world: World) -> Verdict:
    sessions = world.witness.sessions.values()
    return Verdict(
        violation=None if world.violation is None else str(world.violation),
        digest=world.witness.digest,
        steps=world.loop.steps,
        events=sum(session.head for session in sessions),
        runs=sum(len(session.runs) for session in sessions),
        nodes=world.started,
        crashes=world.crashes,
    )


def _whereabouts(world: World) -> str:
    sessions = [
        f"{s.id} active {s.active} queue {s.queue} pending {list(s.pending)}"
        for s in world.witness.sessions.values()
    ]
    tasks = [repr(task) for task in world.loop.tasks if not task.done()]
    return "\n".join((f"at {world.loop.now:.1f} s", *sessions, *tasks))
