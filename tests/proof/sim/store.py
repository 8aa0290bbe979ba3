"""A node's way to the store: it is slow, it fails, it stalls, and it ends with the node."""

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from tenuto.core.error import InDoubt, StorageTrouble, TenutoError
from tenuto.core.event import Stored
from tenuto.core.principal import Principal
from tenuto.core.value import SessionId, StreamId
from tenuto.ports.query import Pulse
from tenuto.storage.memory import MemoryStore
from tests.proof.sim.loop import NODE, turn
from tests.proof.sim.script import DOUBTS

if TYPE_CHECKING:
    from tests.proof.sim.node import Node
    from tests.proof.sim.world import World

Work = Callable[..., Awaitable[Any]]

WRITES = (
    "append",
    "commit",
    "create_session",
    "create_comparison",
    "judge",
    "put_file",
    "keep",
    "keep_output",
    "commit_together",
)
RING_SECONDS = 0.05
LATEST_SECONDS = 3.0
LINGERS = 0.6
"""How often a way to the store or back takes a turn, or longer."""


UNTOLD: ContextVar[bool] = ContextVar("untold", default=False)
"""Whether nobody is told of what is committed: the node does not know of it itself."""


class Dead(BaseException):
    """The process is gone; nothing in it may go on."""


class SimDisk:
    """Every method of the store, between two moments in which anything may happen."""

    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node
        self._loop = world.loop
        self._nemesis = world.nemesis
        self._dice = world.dice("store")
        self._slow = 0.08 + 0.15 * world.script.temper
        self._hurry = world.script.hurry
        self._alone = world.script.nodes == 1 and not world.script.is_cluster
        self.stalled_until = 0.0
        self.cut_until = 0.0

    @property
    def shared(self) -> bool:
        return not self._alone

    def seen_by(self, who: Principal) -> "SimDisk":
        """Everything, by the same way."""
        return self

    def _way(self, chance: float) -> Awaitable[None]:
        """The way to the store, or back, where it takes any time."""
        if chance < self._slow:
            return self._loop.sleep(self._dice.random() * self._hurry)
        return turn()

    async def _stall(self) -> None:
        while (left := self.stalled_until - self._loop.now) > 0.0:
            await self._loop.sleep(min(1.0, left))

    async def _later(self, work: Work, args: Any, options: Any) -> Any:
        chance = self._dice.random()
        if chance < LINGERS:
            await self._way(chance)
        if self._loop.now < self.stalled_until:
            await self._stall()
        if self._node.dead:
            raise Dead
        return await work(self._world.store, *args, **options)

    def _suffer(self, fate: str) -> None:
        if fate == "trouble":
            self._world.ledger.troubles += 1
            raise StorageTrouble("the store cannot be used now")
        if fate == "crash before":
            self._die()

    async def _doubted(self, fate: str, work: Work, args: Any, options: Any) -> None:
        """The answer is lost: whether it was stored is for nobody to know."""
        self._world.ledger.troubles += 1
        told = UNTOLD.set(True)
        try:
            if fate.startswith("stored"):
                await work(self._world.store, *args, **options)
            elif fate.endswith("later"):
                delay = self._dice.random() * LATEST_SECONDS
                self._world.landing += 1
                landing = self._land(delay, self._seen(work, args), work, args, options)
                task = self._loop.create_task(landing, context=copy_context())
                task.add_done_callback(self._landed)
        finally:
            UNTOLD.reset(told)
        self._node.ring.lost(0.0)
        raise InDoubt("the connection to the store broke")

    def _seen(self, work: Work, args: Any) -> Any:
        """What the write found: it is under a guard, and does nothing once that has changed."""
        if work is MemoryStore.commit_together:
            return [self._seen(MemoryStore.commit, (one,)) for one in args[0]]
        rows = self._world.store._state.by_session.get(args[0]) if args else None
        if work is not MemoryStore.commit or rows is None:
            return None
        return rows.control, self._world.store._state.tape(args[0]).head

    async def _land(self, delay: float, seen: Any, work: Work, args: Any, options: Any) -> None:
        await self._loop.sleep(delay)
        if not self._node.dead and self._seen(work, args) == seen:
            with suppress(TenutoError):
                await work(self._world.store, *args, **options)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._world.landing -= 1

    def _die(self) -> None:
        self._world.crash(self._node)
        raise Dead


def _method(work: Work, *, is_write: bool, is_lease: bool) -> Work:
    # Nothing is called as often: all of it is one frame, and a way that takes no time is none.
    async def call(self: SimDisk, *args: Any, **options: Any) -> Any:
        if is_lease and self._alone:
            # Where only one node can be, a heartbeat writes nothing, and whoever is gone is gone.
            return Pulse()
        node, dice, nemesis, loop = self._node, self._dice, self._nemesis, self._loop
        if node.dead:
            raise Dead
        chance = dice.random()
        if chance < LINGERS:
            await self._way(chance)
        if loop.now < self.stalled_until:
            await self._stall()
        if node.dead:
            raise Dead
        fate = nemesis.fate(is_write=is_write) if nemesis.is_up_to_something else ""
        if loop.now < self.cut_until:
            fate = "in doubt" if is_write and dice.random() < 0.2 else "trouble"
        if fate:
            self._suffer(fate)
        if nemesis.odd is not None:
            if work is MemoryStore.commit:
                args = (args[0], nemesis.odd.picky(args[1]))
            elif work is MemoryStore.append:
                nemesis.odd.appends()
        if fate in DOUBTS:
            await self._doubted(fate, work, args, options)
        if is_write and dice.random() < 0.15:
            # As a writer of its own would: the caller may leave, what it asked for is done.
            later = self._later(work, args, options)
            result = await asyncio.shield(asyncio.ensure_future(later))
        else:
            result = await work(self._world.store, *args, **options)
        if fate == "crash after" and not nemesis.is_calm:
            self._die()
        chance = dice.random()
        if chance < LINGERS:
            await self._way(chance)
        if loop.now < self.stalled_until:
            await self._stall()
        if node.dead:
            raise Dead
        if node.ring.untold:
            node.ring.drain()
        return result

    call.__qualname__ = f"SimDisk.{work.__name__}"
    return call


def _at_once(call: Work) -> Callable[..., asyncio.Future[Any]]:
    """Goes on whether or not it is awaited, as the port says of `append`."""
    return lambda *args, **options: asyncio.ensure_future(call(*args, **options))


for _name, _work in inspect.getmembers(MemoryStore, inspect.isfunction):
    if not _name.startswith("_") and _name != "seen_by":
        _call = _method(_work, is_write=_name in WRITES, is_lease=_name == "heartbeat")
        setattr(SimDisk, _name, _at_once(_call) if _name == "append" else _call)


class Ring:
    """Tells a node of commits: of its own soon and in order, of others' later or not at all."""

    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node
        self._dice = world.dice("ring")
        self.untold: deque[Callable[[], None]] = deque()
        """Of its own commits."""

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        if UNTOLD.get():
            return
        if NODE.get() == self._node.name:
            self._soon(lambda: self._node.switchboard.committed(stream, events))
        else:
            self._from_afar(lambda: self._node.switchboard.rang((stream,)))

    def changed(self, session_id: SessionId) -> None:
        if UNTOLD.get():
            return
        if NODE.get() == self._node.name:
            self._soon(lambda: self._node.switchboard.changed(session_id))
        else:
            self._from_afar(lambda: self._node.switchboard.rang_changed((session_id,)))

    def drain(self) -> None:
        while self.untold:
            self.untold.popleft()()

    def _soon(self, tell: Callable[[], None]) -> None:
        # Readers may see a commit before the sink is told; the writer is answered after it.
        self.untold.append(tell)
        if self._dice.random() < 0.5:
            self.drain()
        elif len(self.untold) == 1:
            delay = self._dice.random() * RING_SECONDS
            self._world.loop.call_later(delay, self._if_alive(self.drain), context=self._node.home)

    def lost(self, seconds: float) -> None:
        """Rings may be lost for so long; the store says so as soon as it can."""
        if self._world.script.is_cluster:
            self._later(seconds + self._dice.random(), self._node.switchboard.resync)

    def _from_afar(self, tell: Callable[[], None]) -> None:
        # A node that has not started yet holds no lease: it must not begin anything.
        if not self._node.ready or self._world.loop.now < self._node.disk.cut_until:
            return
        chance = self._dice.random()
        if chance < 0.7:
            self._later(self._dice.random() * RING_SECONDS, tell)
        elif self._world.script.is_cluster and chance < 0.9:
            # Late and twice; or lost, which the store notices, and who died before it rang.
            self._later(self._dice.random() * LATEST_SECONDS, tell)
            if chance < 0.8:
                self._later(self._dice.random() * LATEST_SECONDS, tell)
        elif not self._world.crashes or chance < 0.95:
            self.lost(self._dice.random())

    def _later(self, delay: float, tell: Callable[[], None]) -> None:
        self._world.loop.call_later(delay, self._if_alive(tell), context=self._node.home)

    def _if_alive(self, tell: Callable[[], None]) -> Callable[[], None]:
        def told() -> None:
            if not self._node.dead:
                tell()

        return told
