"""A node's way to the store: it is slow, it fails, it stalls, and it ends with the node."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tests.sim.loop import NODE

if TYPE_CHECKING:
    from tests.sim.node import Node
    from tests.sim.world import World

WRITES = ("append", "commit", "create_session")
RING_SECONDS = 0.05


class Dead(BaseException):
    """The process is gone; nothing in it may go on."""


class Disk:
    """Every method of the store, between two moments in which anything may happen."""

    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node
        self._dice = world.dice("store")
        self._slow = 0.08 + 0.15 * world.script.temper
        self.stalled_until = 0.0

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        work = getattr(self._world.store, name)

        async def call(*args: Any, **options: Any) -> Any:
            return await self._call(name, lambda: work(*args, **options))

        setattr(self, name, call)
        return call

    async def heartbeat(self, *args: Any, **options: Any) -> None:
        # Where only one node can be, a heartbeat writes nothing, and whoever is gone is gone.
        if self._world.script.nodes > 1:
            await self._call("heartbeat", lambda: self._world.store.heartbeat(*args, **options))

    async def _call(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        self._must_live()
        await self._travel()
        self._must_live()
        fate = self._world.nemesis.fate(self._node)
        if fate == "trouble":
            self._world.ledger.troubles += 1
            raise StorageTrouble("the store cannot be used now")
        if fate == "crash before":
            self._die()
        if name in WRITES and self._dice.random() < 0.15:
            # As a writer of its own would: the caller may leave, what it asked for is done.
            result = await asyncio.shield(asyncio.ensure_future(self._later(work)))
        else:
            result = await work()
        if fate == "crash after" and not self._world.nemesis.is_calm:
            self._die()
        await self._travel()
        self._must_live()
        self._node.ring.drain()
        return result

    async def _later(self, work: Callable[[], Awaitable[Any]]) -> Any:
        await self._travel()
        self._must_live()
        return await work()

    async def _travel(self) -> None:
        loop = self._world.loop
        chance = self._dice.random()
        if chance < self._slow:
            await asyncio.sleep(self._dice.random() * self._world.script.hurry)
        elif chance < 0.6:
            await asyncio.sleep(0)
        while loop.time() < self.stalled_until:  # noqa: ASYNC110  time is virtual
            await asyncio.sleep(min(1.0, self.stalled_until - loop.time()))

    def _die(self) -> None:
        self._world.crash(self._node)
        raise Dead

    def _must_live(self) -> None:
        if self._node.dead:
            raise Dead


class Ring:
    """Tells a node of commits: of its own soon and in order, of others' later or not at all."""

    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node
        self._dice = world.dice("ring")
        self._own: deque[Callable[[], None]] = deque()

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        if self._node.is_here():
            self._soon(lambda: self._node.switchboard.committed(stream, events))
        else:
            self._from_afar(lambda: self._node.engine.tailer.rung_from_afar(stream))

    def changed(self, session_id: SessionId) -> None:
        if self._node.is_here():
            self._soon(lambda: self._node.switchboard.changed(session_id))
        else:
            self._from_afar(lambda: self._node.switchboard.changed(session_id))

    def drain(self) -> None:
        while self._own:
            self._own.popleft()()

    def _soon(self, tell: Callable[[], None]) -> None:
        # Readers may see a commit before the sink is told; the writer is answered after it.
        self._own.append(tell)
        if self._dice.random() < 0.5:
            self.drain()
        elif len(self._own) == 1:
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


def here() -> str | None:
    return NODE.get()
