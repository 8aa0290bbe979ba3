"""One schedule, from its script to its verdict."""

import asyncio
import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import format_exception

from tenuto.core.approval import Decision
from tenuto.core.error import TenutoError
from tenuto.core.session import DEFAULT_WORKSPACE, Session, Workspace
from tenuto.core.value import ApprovalId, SessionId
from tests.sim.client import act
from tests.sim.loop import Stuck
from tests.sim.node import Lost
from tests.sim.script import ASKS, Item, Script
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


def play(script: Script) -> Verdict:
    """Run one schedule to its end."""
    random.seed(script.seed)
    world = World(script)
    with _listening(_Mistakes(world)):
        try:
            world.loop.run(_life(world))
        except Stuck as stuck:
            world.fail(Violation(f"{stuck}: {_whereabouts(world)}"))
        except Violation as violation:
            world.fail(violation)
        except Exception as error:  # noqa: BLE001  a mistake of ours must not hide behind a seed
            world.fail(Violation("the simulation stumbled: " + "".join(format_exception(error))))
        _end(world)
    said = None if world.violation is None else str(world.violation)
    events = sum(session.head for session in world.witness.sessions.values())
    return Verdict(
        violation=said, digest=world.witness.digest, steps=world.loop.steps, events=events
    )


async def _life(world: World) -> None:
    await _begin(world)
    items = [world.loop.create_task(_do(world, item)) for item in world.script.items]
    await asyncio.sleep(max(item.at for item in world.script.items))
    await _quiet(world, items, give_up_at=world.loop.time() + BAD_LUCK_SECONDS)
    world.nemesis.calm()
    runs = sum(len(session.runs) for session in world.witness.sessions.values())
    limit = world.loop.time() + PER_RUN_SECONDS * (runs + 2)
    must(await _quiet(world, items, give_up_at=limit), "every run ends", _whereabouts(world))
    await _catch_up(world)
    for node in list(world.nodes):
        await world.stop(node, 1.0)
    await asyncio.sleep(6.0)
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
    await asyncio.sleep(item.at)
    if item.trigger is not None:
        await world.next_event(item.session, item.trigger)
    if item.kind in ASKS:
        await act(world, item)
    else:
        await world.nemesis.strike(item)


async def _quiet(world: World, items: list[asyncio.Task[None]], *, give_up_at: float) -> bool:
    """Wait until all is done and idle; a person answers what is asked meanwhile."""
    while world.loop.time() < give_up_at:
        sessions = list(world.witness.sessions.values())
        ready = [node for node in world.nodes if node.ready]
        if (
            all(session.idle for session in sessions)
            and all(item.done() for item in items)
            and len(ready) == len(world.nodes) > 0
            and not world.reviving
        ):
            return True
        for session in sessions:
            for approval_id in list(session.pending):
                await _answer(world, approval_id)
        await asyncio.sleep(0.5)
    return False


async def _answer(world: World, approval_id: str) -> None:
    dice = world.dice("person")
    node = await world.alive(dice)
    decision = dice.choice((Decision.ALLOW_ONCE, Decision.DENY))
    try:
        await node.call(lambda: node.engine.inbox.answer(ApprovalId(approval_id), decision, None))
    except (Lost, TenutoError):
        return


async def _catch_up(world: World) -> None:
    """Every reader that stayed sees everything; then all leave."""
    give_up_at = world.loop.time() + CATCH_UP_SECONDS
    while behind := [reader for reader in world.readers if not reader.over and reader.behind]:
        seen = [(reader.at, reader.last) for reader in behind]
        must(world.loop.time() < give_up_at, "every reader gets everything", seen)
        await asyncio.sleep(1.0)
    for reader in world.readers:
        reader.left.set()
    give_up_at = world.loop.time() + CATCH_UP_SECONDS
    while not all(reader.over for reader in world.readers):
        must(world.loop.time() < give_up_at, "who leaves is let go")
        await asyncio.sleep(0.2)


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


def _whereabouts(world: World) -> str:
    sessions = [
        f"{s.id} active {s.active} queue {s.queue} pending {list(s.pending)}"
        for s in world.witness.sessions.values()
    ]
    tasks = [repr(task) for task in world.loop.tasks if not task.done()]
    return "\n".join((f"at {world.loop.time():.1f} s", *sessions, *tasks))


class _Mistakes(logging.Handler):
    """An error in the log is a mistake, unless it tells of a store that refused."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if type(error).__name__ not in ("StorageTrouble", "Dead"):
            said = logging.Formatter().format(record)
            self._world.fail(Violation(f"an error was logged: {said}"))


@contextmanager
def _listening(ear: logging.Handler) -> Iterator[None]:
    logger = logging.getLogger("tenuto")
    level, propagate = logger.level, logger.propagate
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    logger.addHandler(ear)
    try:
        # A task that is killed before its first step leaves a coroutine that nobody awaits.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
            yield
    finally:
        logger.removeHandler(ear)
        logger.setLevel(level)
        logger.propagate = propagate
