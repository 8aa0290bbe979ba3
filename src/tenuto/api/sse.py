"""Server-sent events: frames, and the response that sends them as they come."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import anyio
import msgspec
from starlette.types import Receive, Scope, Send

from tenuto.core.event import Stored
from tenuto.engine.tailer import Batch

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


class EventStream:
    """Sends batches until they end or the client leaves, and notices at once when it does."""

    def __init__(
        self,
        batches: AsyncGenerator[Batch, None],
        *,
        on_left: Callable[[], Awaitable[object]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._batches = batches
        self._on_left = on_left
        self._headers = [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()]
        self._left = False
        self.status_code = 200

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": HEADERS + self._headers}
        )
        if scope["method"] == "HEAD":
            await self._batches.aclose()
            await send({"type": "http.response.body", "body": b""})
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, receive, tasks.cancel_scope)
            async with aclosing(self._batches) as batches:
                async for batch in batches:
                    body = b"".join(batch.frames) or HEARTBEAT
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            tasks.cancel_scope.cancel()
        if self._left and self._on_left is not None:
            await self._on_left()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _watch(self, receive: Receive, scope: anyio.CancelScope) -> None:
        """A silent stream must notice too: waiting for the next write would be too late."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._left = True
        scope.cancel()
