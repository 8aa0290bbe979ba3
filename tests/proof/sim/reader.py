"""Readers: they follow a stream with any cursor, come back after a break, and miss nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from tenuto.api.call import Call
from tenuto.api.sse import Batches, EventStream
from tenuto.api.streams import Viewing
from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.principal import OWNER
from tests.proof.sim.node import Lost, Node
from tests.proof.sim.violation import Violation, must

if TYPE_CHECKING:
    from tests.proof.sim.world import World

Open = Callable[[Viewing], Awaitable[Batches]]


class SimReader:
    """Follows one stream; `bodies` is what the witness has of it."""

    def __init__(
        self, world: "World", bodies: list[bytes], open_: Open, *, cursor: str | None, dice: Random
    ) -> None:
        self._world = world
        self._bodies = bodies
        self._open = open_
        self._dice = dice
        self.cursor = cursor
        self.at: int | None = 0 if cursor is None else None
        """The last seq it has seen; None: it has none that the server must accept."""
        if cursor is not None and cursor.isdecimal() and int(cursor) <= len(bodies):
            self.at = int(cursor)
        self.left = asyncio.Event()
        self.last = ""
        self.over = False
        self.may_jump = world.script.fold_after == 0.0
        """Whether what it has not read may have been folded away."""

    @property
    def behind(self) -> bool:
        return self.at != len(self._bodies)

    async def follow(self) -> None:
        """Read until it leaves or there is nothing more to come."""
        while not self.left.is_set() and not self.over:
            node = await self._world.alive(self._dice)
            try:
                await node.call(lambda node=node: self._read(node))  # type: ignore[misc]
                self.over = not node.engine.draining
            except (Lost, StorageTrouble):
                await self._world.loop.sleep(self._dice.random())
            except NotFound:
                self.over = True
        self.over = True
        self._world.check(self.check_end)

    async def _read(self, node: Node) -> None:
        stream = EventStream(await self._open(viewing(node, self.cursor)))
        await serve(stream, self)

    def check_end(self) -> None:
        """A stream ends by itself only with its session."""

    async def leaves(self) -> dict[str, str]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def takes(self, message: Any) -> None:
        body: bytes = message.get("body", b"")
        try:
            for frame in body.split(b"\n\n"):
                if frame and not frame.startswith(b":"):
                    self._take(frame)
        except Violation as violation:
            self._world.fail(violation)
        if self._dice.random() < 0.3:
            await self._world.loop.sleep(self._dice.random() * self._world.script.hurry)

    def _take(self, frame: bytes) -> None:
        first, second, data = frame.split(b"\n", 2)
        seq, kind = int(first[4:]), second[7:].decode()
        self.last = kind
        self.cursor = str(seq)
        if kind == "snapshot":
            self._take_snapshot(seq)
            return
        must(self.at is not None and seq == self.at + 1, "a reader misses nothing", self.at, seq)
        must(seq <= len(self._bodies), "what is seen is stored", frame)
        must(data[6:] == self._bodies[seq - 1], "all see the same", frame, self._bodies[seq - 1])
        self.at = seq

    def _take_snapshot(self, seq: int) -> None:
        must(seq <= len(self._bodies), "a snapshot is of the log", seq)
        asked = self.at is None
        must(asked or self.may_jump, "a snapshot has a cause", seq)
        must(self.at is None or seq >= self.at, "a snapshot goes forward", self.at, seq)
        self.at = seq


class RunReader(SimReader):
    """Follows one run: only what is of it, to its end."""

    def __init__(self, world: "World", run_id: str, open_: Open, *, dice: Random) -> None:
        super().__init__(world, [], open_, cursor=None, dice=dice)
        self._run_id = run_id
        self.at = 0

    @property
    def behind(self) -> bool:
        return True

    def check_end(self) -> None:
        known = self._world.witness.run(self._run_id)
        if not self.left.is_set() and known is not None and not known[0].deleted:
            must(self.last == "run.finished", "a run's stream ends with it", self._run_id)

    def _take(self, frame: bytes) -> None:
        first, second, data = frame.split(b"\n", 2)
        seq, kind = int(first[4:]), second[7:].decode()
        self.last = kind
        self.cursor = str(seq)
        must(self.at is not None and seq > self.at, "a reader goes forward", self.at, seq)
        event = msgspec.json.decode(data[6:])
        if kind == "session.deleted":
            return
        must(event["run_id"] == self._run_id, "a run's stream is the run's", event)
        known = self._world.witness.run(self._run_id)
        must(known is not None and seq <= known[0].head, "what is seen is stored", frame)
        assert known is not None
        if self._world.script.fold_after:
            bodies = known[0].bodies
            must(data[6:] == bodies[seq - 1], "all see the same", frame)
            mark = f'"run_id":"{self._run_id}"'.encode()
            missed = [body for body in bodies[self.at or 0 : seq - 1] if _is_of(body, mark)]
            must(not missed, "a run's reader misses nothing", missed)
        self.at = seq


def _is_of(body: bytes, mark: bytes) -> bool:
    return mark in body and msgspec.json.decode(body)["run_id"] == mark.decode()[10:-1]


def viewing(node: Node, cursor: str | None) -> Viewing:
    """The streams of a node as a request with this cursor would open them."""
    call = SimpleNamespace(
        to=SimpleNamespace(engine=node.engine),
        sees=node.store.seen_by(OWNER),
        request=SimpleNamespace(headers={} if cursor is None else {"last-event-id": cursor}),
        ask=lambda parameter: parameter.usual,
    )
    return Viewing(cast("Call", call))


async def serve(stream: EventStream, reader: SimReader) -> None:
    """Send the stream to the reader as a web server would."""
    try:
        await stream({"method": "GET"}, cast("Any", reader.leaves), reader.takes)
    except ExceptionGroup as group:
        # The connection breaks off; a client comes back with its cursor.
        only, other = group.split(StorageTrouble)
        if only is None or other is not None:
            raise
        raise StorageTrouble("the stream broke off") from group
