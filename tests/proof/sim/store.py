"""A node's way to the store: it is slow, it fails, it stalls, and it ends with the node."""

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.principal import Principal
from tenuto.core.value import SessionId, StreamId
from tenuto.storage.memory import MemoryStore
from tests.proof.sim.loop import NODE, turn

if TYPE_CHECKING:
    from tests.proof.sim.node import Node
    from tests.proof.sim.world import World

Work = Callable[..., Awaitable[Any]]

WRITES = ("append", "commit", "create_session", "create_comparison", "judge", "put_file")
RING_SECONDS = 0.05
LINGERS = 0.6
"""How often a way to the store or back takes a turn, or longer."""


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
        self._alone = world.script.nodes == 1
        self.stalled_until = 0.0

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

    def _die(self) -> None:
        self._world.crash(self._node)
        raise Dead


def _method(work: Work, *, is_write: bool, is_lease: bool) -> Work:
    # Nothing is called as often: all of it is one frame, and a way that takes no time is none.
    async def call(self: SimDisk, *args: Any, **options: Any) -> Any:
        if is_lease and self._alone:
            # Where only one node can be, a heartbeat writes nothing, and whoever is gone is gone.
            return
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
        fate = nemesis.fate() if nemesis.is_up_to_something else ""
        if fate:
            self._suffer(fate)
        if nemesis.odd is not None:
            if work is MemoryStore.commit:
                args = (args[0], nemesis.odd.picky(args[1]))
            elif work is MemoryStore.append:
                nemesis.odd.appends()
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
        if NODE.get() == self._node.name:
            self._soon(lambda: self._node.switchboard.committed(stream, events))
        else:
            self._from_afar(lambda: self._node.engine.tailer.rung_from_afar(stream))

    def changed(self, session_id: SessionId) -> None:
        if NODE.get() == self._node.name:
            self._soon(lambda: self._node.switchboard.changed(session_id))
        else:
            self._from_afar(lambda: self._node.switchboard.changed(session_id))

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

    def _from_afar(self, tell: Callable[[], None]) -> None:
        # A node that has not started yet holds no lease: it must not begin anything.
        if self._node.ready and self._dice.random() < 0.7:
            delay = self._dice.random() * RING_SECONDS
            self._world.loop.call_later(delay, self._if_alive(tell), context=self._node.home)

    def _if_alive(self, tell: Callable[[], None]) -> Callable[[], None]:
        def told() -> None:
            if not self._node.dead:
                tell()

        return told
