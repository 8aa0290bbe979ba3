"""One schedule, from its script to its verdict."""

import asyncio
import random
from dataclasses import dataclass
from traceback import format_exception

from tenuto.core import editing
from tenuto.core.approval import Decision, Word
from tenuto.core.comparison import Comparison, Pane
from tenuto.core.desk import Moment
from tenuto.core.error import TenutoError
from tenuto.core.principal import OWNER
from tenuto.core.question import QuestionWord
from tenuto.core.run import Mode
from tenuto.core.session import DEFAULT_WORKSPACE, Session, SessionChanges, Workspace
from tenuto.core.value import ApprovalId, ComparisonId, NodeId, QuestionId, SessionId
from tests.proof.sim.carrying import check_files
from tests.proof.sim.client import act
from tests.proof.sim.comparing import check_asked, lay_out
from tests.proof.sim.loop import Stuck
from tests.proof.sim.model import BOTH
from tests.proof.sim.node import Lost, Node
from tests.proof.sim.patches import patched
from tests.proof.sim.script import ASKS, MORE, Item, Script
from tests.proof.sim.violation import Violation, must
from tests.proof.sim.world import World

BAD_LUCK_SECONDS = 60.0
"""How long after the last action the nemesis may still strike."""
PER_RUN_SECONDS = 120.0
CATCH_UP_SECONDS = 120.0
WIND_UP_STEPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleVerdict:
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


def play(script: Script) -> ScheduleVerdict:
    """Run one schedule to its end."""
    with patched():
        return perform(script)


def perform(script: Script) -> ScheduleVerdict:
    """The same where all is patched."""
    random.seed(script.seed)
    world = World(script)
    try:
        world.loop.run(_course(world))
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


async def _course(world: World) -> None:
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
    if world.script.panes:
        await _lay_out(world)
    for _ in range(world.script.nodes):
        await world.start_node()


async def _lay_out(world: World) -> None:
    """A blind comparison, also by our own hand."""
    moment = Moment(now=world.clock.now(), node=NodeId("nobody"))
    models = [tuple(BOTH)[n % 2] for n in range(world.script.panes)]
    panes = tuple(Pane(session_id=SessionId(world.ids.new("ses")), model=m) for m in models)
    comparison = Comparison(
        id=ComparisonId(world.ids.new("cmp")),
        workspace_id=DEFAULT_WORKSPACE,
        mode=Mode.CHAT,
        blind=True,
        created_at=moment.now,
        panes=panes,
    )
    await world.store.create_comparison(comparison)
    for pane in panes:
        signed = SessionChanges(system=pane.session_id)
        await world.store.commit(
            pane.session_id,
            lambda desk, signed=signed: editing.update(desk, signed, moment),  # type: ignore[misc]
        )
    lay_out(world, comparison.id, tuple(pane.session_id for pane in panes))


async def _do(world: World, item: Item) -> None:
    await world.loop.sleep(item.at)
    if item.trigger is not None:
        await world.next_event(item.session, item.trigger)
    if item.kind in (*ASKS, *MORE, "reply"):
        await act(world, item)
    else:
        await world.nemesis.strike(item)


async def _quiet(world: World, items: list[asyncio.Task[None]], *, give_up_at: float) -> bool:
    """Wait until all is done and idle; a person answers what is asked meanwhile."""
    sessions = world.witness.sessions
    while world.loop.now < give_up_at:
        items = [item for item in items if not item.done()]
        working = [session for session in sessions.values() if not session.idle]
        under_way = items or working or world.reviving or world.landing
        if not under_way and _are_up(world.nodes):
            return True
        for session in working:
            for approval_id in list(session.pending):
                await _answer(world, approval_id)
            for question_id in list(session.asked):
                await _reply(world, question_id)
        await world.loop.sleep(0.5)
    return False


def _are_up(nodes: list[Node]) -> bool:
    return bool(nodes) and all(node.ready for node in nodes)


async def _answer(world: World, approval_id: str) -> None:
    dice = world.dice("person")
    node = await world.alive(dice)
    word = Word(decision=dice.choice((Decision.ALLOW_ONCE, Decision.DENY)))
    try:
        await node.call(lambda: node.engine.answers.answer(ApprovalId(approval_id), word, by=OWNER))
    except (Lost, TenutoError):
        return


async def _reply(world: World, question_id: str) -> None:
    node = await world.alive(world.dice("person"))
    said = QuestionWord(answers=(("yes",), ("no",)))
    try:
        await node.call(
            lambda: node.engine.answers.answer_question(QuestionId(question_id), said, by=OWNER)
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
        must(len(session.finished_at) == len(session.runs), "every run has ended", session.id)
        world.witness.compare(world.store, session.id)
        if world.script.nodes == 1 and not world.script.is_cluster and not session.deleted:
            states = [job["state"] for job in session.background.jobs.values()]
            must("running" not in states, "every job has ended", session.id, states)
        inputs = [run["input"] for run in session.runs.values()]
        if not session.deleted:
            check_files(world.store, session)
        for text in world.refused:
            must(text not in inputs, "what is refused is not stored", text)
    world.witness.blindness.check(step=world.loop.steps)
    for comparison in world.comparisons:
        check_asked(world.witness.sessions, comparison)
    must(not world.processes.left(), "no job outlasts its server", world.processes.left())
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


def _verdict(world: World) -> ScheduleVerdict:
    sessions = world.witness.sessions.values()
    return ScheduleVerdict(
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
