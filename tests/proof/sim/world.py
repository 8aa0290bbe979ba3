"""The world of one schedule: its time, its chance, its nodes, and what is known of it all."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextvars import copy_context
from random import Random
from typing import Protocol

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.session import DEFAULT_WORKSPACE
from tenuto.core.value import NodeId, SessionId, StreamId
from tenuto.engine.agreed_clock import AgreedClock
from tenuto.ports.clock import Clock
from tenuto.storage.memory import MemoryStore
from tests.oracle.rule import Json
from tests.proof.sim.clock import CountingIds, NodeClock, VirtualClock, moment_of
from tests.proof.sim.comparing import SimComparison
from tests.proof.sim.job import SimProcesses
from tests.proof.sim.ledger import Ledger
from tests.proof.sim.loop import NODE, NumberedTask, SimLoop
from tests.proof.sim.nemesis import SimNemesis
from tests.proof.sim.node import Lost, Node
from tests.proof.sim.promptness import Promptness
from tests.proof.sim.reader import SimReader
from tests.proof.sim.script import Script
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.setting import KeptSettings
from tests.proof.sim.violation import Violation, must
from tests.proof.sim.witness import Witness, now

TRIGGER_SECONDS = 5.0
NOTICED_SECONDS = 2.5
"""How long it takes at most until a connection that was closed counts."""
AGREED_SECONDS = 1.5
PURPOSES = ("loop", "store", "ring", "model", "tool", "person", "job")


class Hearer(Protocol):
    """Who hears of every commit, and knows whose it is."""

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None: ...

    def changed(self, session_id: SessionId) -> None: ...


class Hub:
    """The store's one sink: the witness first, then the nodes."""

    def __init__(self) -> None:
        self.sinks: list[Hearer] = []

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        for sink in self.sinks:
            sink.committed(stream, events)

    def changed(self, session_id: SessionId) -> None:
        for sink in self.sinks:
            sink.changed(session_id)

    def rang(self, streams: Collection[StreamId]) -> None:
        """The store knows no nodes: its sinks tell their own commits from those of others."""

    def rang_changed(self, session_ids: Collection[SessionId]) -> None: ...

    def rang_kept(self, name: str) -> None: ...

    def resync(self) -> None: ...


def _loop(dice: Random, *, width: int, tick: float) -> SimLoop:
    # The base class only looks abstract: what is not there has no place here.
    return SimLoop(dice, width=width, tick=tick)  # type: ignore[abstract]


class World:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.violation: Violation | None = None
        self._dice: dict[str, Random] = {}
        self.outside = copy_context()
        self.loop: SimLoop = _loop(self.dice("loop"), width=script.width, tick=script.tick)
        self.loop.on_mistake = lambda said: self.fail(Violation(said))
        self.clock = VirtualClock(self.loop)
        self.ids = CountingIds()
        self.ledger = Ledger(script, self.loop)
        self.witness = Witness(DEFAULT_WORKSPACE, self.loop, self.fail)
        self.witness.on_finished += [self.ledger.judge, self._check_steer]
        self.witness.on_changed = self._changed
        self.promptness = Promptness(script, self.loop)
        if self.promptness.is_due:
            self.witness.on_committed.append(self.promptness.look)
        self.witness.on_committed += [self._note, self._wake]
        self._hub = Hub()
        self._hub.sinks.append(self.witness)
        self.store = MemoryStore(self._hub, clock=self.clock)
        self.nemesis = SimNemesis(self)
        self.nodes: list[Node] = []
        """Those that are up, or will be soon."""
        self.past: list[Node] = []
        self.readers: list[SimReader] = []
        self.comparisons: list[SimComparison] = []
        self.settings = KeptSettings()
        self.processes = SimProcesses()
        self.sessions: list[str] = []
        self.refused: list[str] = []
        self.callers: dict[str, str] = {}
        """Tool calls by their word: the run that made them."""
        self.reviving = 0
        self.landing = 0
        """Writes in doubt that are still on their way."""
        self._waiting: list[tuple[str, str, asyncio.Future[None]]] = []
        self._words = 0
        self.started = 0
        self.crashes = 0
        """How many nodes were started, and how many killed."""

    def dice(self, purpose: str) -> Random:
        """The chance of one purpose: what one actor draws does not change what others draw."""
        dice = self._dice.get(purpose)
        if dice is None:
            number = (self.script.seed * 64 + self.script.spin) * 8 + PURPOSES.index(purpose)
            dice = self._dice[purpose] = Random(number)
        return dice

    def fail(self, violation: Violation) -> None:
        if self.violation is None:
            self.violation = violation
        self.loop.broken = True

    def check(self, promise: Callable[[], None]) -> None:
        try:
            promise()
        except Violation as violation:
            self.fail(violation)

    def word(self) -> str:
        """A word that was never said before."""
        self._words += 1
        return f"w{self._words} "

    def pick_node(self, dice: Random) -> Node | None:
        return dice.choice(self.nodes) if self.nodes else None

    async def alive(self, dice: Random) -> Node:
        """A node that answers, once there is one."""
        while True:
            ready = [node for node in self.nodes if node.ready]
            if ready:
                return dice.choice(ready)
            await self.loop.sleep(0.2)

    async def next_event(self, session: int, kind: str) -> None:
        """Wait for the session's next event of this type, but not for ever."""
        happened: asyncio.Future[None] = self.loop.create_future()
        wanted = (self.sessions[session % len(self.sessions)], kind, happened)
        self._waiting.append(wanted)
        timer = self.loop.call_later(TRIGGER_SECONDS, _set, happened)
        await happened
        timer.cancel()
        self._waiting.remove(wanted)

    def _note(self, session: WitnessedLog, event: Json) -> None:
        if event["type"] == "run.accepted":
            if "parent_run" in event["run"]:
                above = self.witness.run(event["run"]["parent_run"])
                must(above is not None, "a sub-agent has a parent", event)
                assert above is not None
                self.ledger.families[session.id] = above[0].id
            self.ledger.holders[event["run_id"]] = NODE.get()
        elif event["type"] == "run.started":
            self.ledger.owners[event["run_id"]] = NODE.get()
        if self.ledger.is_quick:
            off = abs((moment_of(event["at"]) - moment_of(self.clock.now())).total_seconds())
            must(off <= AGREED_SECONDS, "nodes agree on the time", off, event)

    def _wake(self, session: WitnessedLog, event: Json) -> None:
        for session_id, kind, happened in self._waiting:
            if session_id == session.id and kind == event["type"]:
                _set(happened)

    def _check_steer(self, session: WitnessedLog, run: Json) -> None:
        """A run that a cancel covers takes no more prompts: each would be lost with it."""
        taker = session.runs.get(run["steered_into"] or "")
        if taker is not None:
            must(not self._is_covered(session, taker), "a cancelled run takes no prompt", run)

    def _is_covered(self, session: WitnessedLog, run: Json) -> bool:
        cancels = now(self.store.control(SessionId(session.id))).cancels
        return bool(cancels.mark >= run["accept_number"] or run["id"] in cancels.reasons)

    def _changed(self, session: WitnessedLog) -> None:
        if not self.promptness.is_kind or session.active is None or session.deleted:
            return
        if self._is_covered(session, session.runs[session.active]):
            self.promptness.covers(session.active)

    async def start_node(self) -> None:
        """Bring a node up; one that cannot start is replaced, as a supervisor would."""
        while True:
            self.started += 1
            node = Node(self, f"node_{self.started}")
            self.nodes.append(node)
            self._hub.sinks.append(node.ring)
            try:
                await node.start()
                if len(self.nodes) == 1:
                    self.ledger.revived_at = self.loop.now
                return
            except Lost:
                return
            except StorageTrouble:
                self.lost_node(node)
                self._bury(node)
                await self.loop.sleep(0.5)

    def crash(self, node: Node) -> None:
        """Kill a node. Another comes up soon after, or those that are left must do."""
        if node not in self.nodes:
            return
        self.crashes += 1
        self.ledger.died[node.name] = self.loop.now
        self.lost_node(node)
        self._bury(node)
        if self.script.is_cluster:
            # Its connection is closed: the store notices.
            seconds = NOTICED_SECONDS * (0.4 + 0.6 * self.dice("person").random())
            self.loop.call_later(seconds, self._noticed, node, context=self.outside)
        if not self.nodes or self.dice("person").random() < 0.5:
            self.revive(0.5)

    def revive(self, seconds: float) -> None:
        self.reviving += 1
        self.loop.create_task(self._revive(seconds), context=self.outside.copy())

    async def stop(self, node: Node, seconds: float) -> None:
        """Stop a node as on SIGTERM; whatever it leaves running is a leak. Lost if it crashes."""
        await node.stop(seconds)
        if node not in self.nodes:
            raise Lost
        left = [task for task in self.loop.tasks if task.node == node.name and not task.done()]
        leaks = [task for task in left if not task.cancelling() and not _is_outside(task)]
        if leaks:
            self.fail(Violation(f"a stopped engine leaves nothing running: {leaks}"))
        self.check(self._check_stopped)
        self._bury(node)

    def _check_stopped(self) -> None:
        """Who stops in peace leaves nothing running but what only waits for a person: the next
        start has nothing to rescue."""
        script = self.script
        if script.temper or script.hurry >= 1.0 or self.ledger.troubles or script.is_cluster:
            return
        # A delete that was under way has taken the run from its driver; the next start ends it.
        running = [
            session.active
            for session in self.witness.sessions.values()
            if session.active
            and not self.ledger.is_deleting(session)
            and not session.only_waits(session.active)
        ]
        must(script.nodes > 1 or not running, "a stop ends every run", running)

    def lost_node(self, node: Node) -> None:
        self.ledger.lose(node.name, self.loop.steps)

    def _noticed(self, node: Node) -> None:
        now(self.store.farewell(NodeId(node.name)))

    def node_clock(self) -> Clock:
        if not self.script.is_cluster:
            return self.clock
        dice = Random(self.script.seed * 64 + self.started)
        ahead = dice.choice((0.0, 40.0, -40.0, 80.0 * dice.random() - 40.0))
        pace = dice.choice((1.0, 0.98, 1.02))
        return AgreedClock(NodeClock(self.loop, ahead=ahead, pace=pace))

    def forget(self) -> None:
        """It is over: let go of everything, so that it does not have to be collected."""
        self.loop.forget()
        for node in (*self.nodes, *self.past):
            vars(node).clear()
        vars(self).clear()

    async def _revive(self, seconds: float) -> None:
        await self.loop.sleep(seconds)
        await self.start_node()
        self.reviving -= 1

    def _bury(self, node: Node) -> None:
        if node not in self.nodes:
            return
        self.nodes.remove(node)
        self.past.append(node)
        self._hub.sinks.remove(node.ring)
        node.die()
        self.loop.thaw(node.name)
        self.loop.create_task(self._reap(node), context=self.outside.copy())

    async def _reap(self, node: Node) -> None:
        """Some ignore the first cancel."""
        for _ in range(100):
            if not node.cancel_tasks():
                return
            await self.loop.sleep(0.05)
        self.fail(Violation(f"the tasks of {node.name} do not end"))


def _is_outside(task: NumberedTask) -> bool:
    """Requests are the web server's, and what is on its way to the disk is the disk's."""
    work = repr(task.get_coro())
    return task.get_name().startswith("tenuto.api") or any(
        name in work for name in ("_serve", "MemoryStore", "SimDisk", "Saved._write")
    )


def _set(happened: "asyncio.Future[None]") -> None:
    if not happened.done():
        happened.set_result(None)
