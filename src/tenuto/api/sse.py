"""Server-sent events: frames, and the response that sends them as they come."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing
from typing import Any, Protocol, cast

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from tenuto.core.error import NotFound
from tenuto.core.event import Stored
from tenuto.engine.tailer import Batch, Push

HEARTBEAT = b": still here\n\n"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    # Proxies that buffer would hold tokens back.
    (b"x-accel-buffering", b"no"),
]


def frame(stored: Stored) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (stored.seq, stored.type.encode(), stored.json())


def snapshot_frame(seq: int, data: dict[str, object]) -> bytes:
    body = msgspec.json.encode({"type": "snapshot", "seq": seq, **data})
    return b"id: %d\nevent: snapshot\ndata: %b\n\n" % (seq, body)


class Batches(Protocol):
    """Begins to follow a stream; what comes while the viewer waits is pushed."""

    def __call__(self, *, push: Push) -> AsyncGenerator[Batch, None]: ...


class LiveAnswer(ABC):
    """Pours until there is no more or the client leaves, and notices at once when it does."""

    def __init__(
        self,
        *,
        on_left: Callable[[], Awaitable[object]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._on_left = on_left
        self._headers = [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()]
        self._left = False

    @abstractmethod
    async def pour(self, pipe: "Pipe") -> None:
        """Send all there is to send, as it comes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": HEADERS + self._headers}
        )
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, receive, tasks.cancel_scope)
            await self.pour(Pipe(send))
            tasks.cancel_scope.cancel()
        if self._left and self._on_left is not None:
            try:
                await self._on_left()
            except* NotFound:
                # Its session was deleted meanwhile, and with it all that could be stopped.
                pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _watch(self, receive: Receive, scope: anyio.CancelScope) -> None:
        """A silent stream must notice too: waiting for the next write would be too late."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        scope.cancel()


class EventStream(LiveAnswer):
    """The events of one log."""

    def __init__(
        self,
        open_batches: Batches,
        *,
        on_left: Callable[[], Awaitable[object]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(on_left=on_left, headers=headers)
        self._open = open_batches

    async def pour(self, pipe: "Pipe") -> None:
        async with aclosing(self._open(push=pipe.push)) as batches:
            async for batch in batches:
                await pipe.send(b"".join(batch.frames))


class Pipe:
    """Sends bytes, if possible without waking anyone: a task switch costs more than a token."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._stuck: _Stuck | None = None

    @property
    def stuck(self) -> bool:
        """Whether something was taken that only `send` can get out."""
        return self._stuck is not None

    def push(self, body: bytes) -> bool:
        """Send now; False if the client is slow, and `send` has to wait for it."""
        sending = self._sending(body)
        try:
            waits_for = sending.send(None)
        except StopIteration:
            return True
        self._stuck = _Stuck(sending, waits_for)
        return False

    async def send(self, body: bytes) -> None:
        """Send, and wait while the client is slow. Nothing to send: show that we are here."""
        stuck, self._stuck = self._stuck, None
        if stuck is not None:
            await stuck
        if body or stuck is None:
            await self._sending(body or HEARTBEAT)

    def _sending(self, body: bytes) -> Coroutine[Any, Any, None]:
        message = {"type": "http.response.body", "body": body, "more_body": True}
        return cast("Coroutine[Any, Any, None]", self._send(message))


class _Stuck:
    """A coroutine that was begun outside a task and now waits: to be awaited to its end."""

    def __init__(self, begun: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._begun = begun
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, None]:
        try:
            got = yield self._waits_for
        except BaseException as error:
            # Whoever waits was cancelled: so is what it waits for.
            self._begun.throw(error)
            raise
        while True:
            try:
                waits_for = self._begun.send(got)
            except StopIteration:
                return
            got = yield waits_for
