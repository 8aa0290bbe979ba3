"""Many logs in one answer: a browser may open only six connections to a host."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

import anyio
import msgspec

from tenuto.api.sse import Batches, LiveAnswer, Pipe
from tenuto.core.value import StreamId
from tenuto.engine.tailer import HEARTBEAT_SECONDS, Tailer

DELETED = b"\nevent: session.deleted\n"


class ManyLogs(LiveAnswer):
    """Every frame says whose it is. A log that ends leaves the others alone; None: not there."""

    def __init__(
        self,
        logs: Mapping[StreamId, Batches | None],
        tailer: Tailer,
        *,
        on_left: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        super().__init__(on_left=on_left)
        self._logs = logs
        self._tailer = tailer

    async def pour(self, pipe: Pipe) -> None:
        outlet = _Outlet(pipe)
        async with anyio.create_task_group() as heart:
            heart.start_soon(outlet.beat)
            async with anyio.create_task_group() as feeds:
                for log, batches in self._logs.items():
                    feeds.start_soon(self._feed, log, batches, outlet)
            heart.cancel_scope.cancel()

    async def _feed(self, log: StreamId, open_batches: Batches | None, outlet: "_Outlet") -> None:
        whole = False
        if open_batches is not None:
            feed = _Feed(log, outlet)
            async with aclosing(open_batches(push=feed.push)) as batches:
                async for batch in batches:
                    whole = any(DELETED in frame for frame in batch.frames)
                    await feed.send(batch.frames)
        if not whole and not self._tailer.closed:
            await self._over(log, outlet)

    async def _over(self, log: StreamId, outlet: "_Outlet") -> None:
        await outlet.send(_gone(log))


class ManyRuns(ManyLogs):
    """Of each log the events of one run, whose `run.finished` is end enough."""

    async def _over(self, log: StreamId, outlet: "_Outlet") -> None:
        pass


class _Outlet:
    """The one pipe that all logs share; each waits for its turn only while the client is slow."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._turn = anyio.Lock()
        # The loop's own clock: pushes come from commits, in no task.
        self._now = asyncio.get_running_loop().time
        self._sent_at = self._now()

    def push(self, body: bytes) -> bool | None:
        """As the pipe does it; None: it could not be taken now, as another is on its way."""
        if self._pipe.stuck or self._turn.locked():
            return None
        self._sent_at = self._now()
        return self._pipe.push(body)

    async def send(self, body: bytes) -> None:
        async with self._turn:
            if body or self._pipe.stuck:
                await self._pipe.send(body)
                self._sent_at = self._now()

    async def beat(self) -> None:
        """One heart for all: each log beating alone would make many."""
        while True:
            silent = self._now() - self._sent_at
            await anyio.sleep(max(0.0, HEARTBEAT_SECONDS - silent))
            async with self._turn:
                if self._now() - self._sent_at >= HEARTBEAT_SECONDS:
                    await self._pipe.send(b"")
                    self._sent_at = self._now()


class _Feed:
    """One log's way to the outlet. Holds at most what was pushed at once: then it waits."""

    def __init__(self, log: StreamId, outlet: _Outlet) -> None:
        self._label = b"log: %b\n" % log.encode()
        self._between = b"\n\n" + self._label + b"id: "
        self._outlet = outlet
        self._held = b""

    def push(self, body: bytes) -> bool:
        # A frame's data is one line, so only its end has an empty one.
        labelled = self._label + body.replace(b"\n\nid: ", self._between)
        taken = self._outlet.push(labelled)
        if taken is None:
            self._held += labelled
        return taken is True

    async def send(self, frames: tuple[bytes, ...]) -> None:
        held, self._held = self._held, b""
        await self._outlet.send(held + b"".join(self._label + frame for frame in frames))


def _gone(log: StreamId) -> bytes:
    data = msgspec.json.encode({"log": log})
    return b"log: %b\nevent: gone\ndata: %b\n\n" % (log.encode(), data)
