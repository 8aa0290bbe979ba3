"""A server that plays what a test tells it, request by request, on a real socket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Self

import msgspec
from aiohttp import web

Play = Callable[[web.Request], Awaitable[web.StreamResponse]]

SESSION = {
    "id": "ses_1",
    "workspace_id": "default",
    "created_at": "2026-01-01T00:00:00.000Z",
    "updated_at": "2026-01-01T00:00:00.000Z",
}
RUN: dict[str, Any] = {
    "id": "run_1",
    "session_id": "ses_1",
    "status": "queued",
    "model": "openai/test-model",
    "mode": "agent",
    "when_busy": "queue",
    "on_disconnect": "continue",
    "accept_number": 1,
    "accepted_at": "2026-01-01T00:00:00.000Z",
    "input": "Hi",
}
ENDED = {**RUN, "status": "completed", "reason": "end_turn"}
SNAPSHOT: dict[str, Any] = {"session": SESSION, "messages": [], "runs": [], "approvals": []}


class Asked(msgspec.Struct, frozen=True):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def line(self) -> str:
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        return f"{self.method} {self.path}" + (f"?{query}" if query else "")


class FakeServer:
    """Answers the n-th request with the n-th play; one request too many gets a 500."""

    def __init__(self, *plays: Play) -> None:
        self._plays = list(plays)
        self.asked: list[Asked] = []
        self.hung_up = asyncio.Event()
        """Set when a client closes a connection that a play was holding."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[str]:
        return [asked.line for asked in self.asked]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.05
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked.append(
            Asked(request.method, request.path, dict(request.query), dict(request.headers), body)
        )
        if not self._plays:
            return web.Response(status=500, text="nobody expected this request")
        try:
            return await self._plays.pop(0)(request)
        except asyncio.CancelledError:
            self.hung_up.set()
            raise


def answer(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Play:
    async def play(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return play


def no(status: int, code: str, *, headers: dict[str, str] | None = None) -> Play:
    problem = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": "!"}
    return answer(problem, status=status, headers=headers)


async def lose_the_answer(request: web.Request) -> web.StreamResponse:
    """Take the request and break the connection."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def stream(*chunks: bytes) -> Play:
    """Send these chunks and end the stream properly."""

    async def play(request: web.Request) -> web.StreamResponse:
        return await _send(request, chunks)

    return play


def torn_stream(*chunks: bytes) -> Play:
    """Send these chunks and break the connection."""

    async def play(request: web.Request) -> web.StreamResponse:
        response = await _send(request, chunks)
        assert request.transport is not None
        # Not `abort`: what was sent shall arrive before the connection is gone.
        request.transport.close()
        return response

    return play


def held_stream(*chunks: bytes) -> Play:
    """Send these chunks and say nothing more."""

    async def play(request: web.Request) -> web.StreamResponse:
        await _send(request, chunks)
        await asyncio.Event().wait()
        raise AssertionError("never")

    return play


def beating_stream(*chunks: bytes, beats: int, every: float) -> Play:
    """Send only heartbeats for a while, then these chunks."""

    async def play(request: web.Request) -> web.StreamResponse:
        response = await _send(request, ())
        for _ in range(beats):
            await asyncio.sleep(every)
            await response.write(b":\n\n")
        for chunk in chunks:
            await response.write(chunk)
        return response

    return play


def frame(seq: int, type: str, **fields: Any) -> bytes:
    data = {
        "type": type,
        "seq": seq,
        "session_id": "ses_1",
        "run_id": None,
        "at": "2026-01-01T00:00:00.000Z",
        **fields,
    }
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (seq, type.encode(), msgspec.json.encode(data))


def renamed(seq: int) -> bytes:
    return frame(seq, "session.updated", changes={"title": f"title {seq}"})


def accepted(seq: int) -> bytes:
    return frame(seq, "run.accepted", run_id="run_1", run=RUN)


def finished(seq: int) -> bytes:
    return frame(seq, "run.finished", run_id="run_1", run=ENDED)


def deleted(seq: int) -> bytes:
    return frame(seq, "session.deleted")


def snapshot(seq: int, **fields: Any) -> bytes:
    return b"id: %d\nevent: snapshot\ndata: %b\n\n" % (
        seq,
        msgspec.json.encode({**SNAPSHOT, **fields}),
    )


async def _send(request: web.Request, chunks: tuple[bytes, ...]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for chunk in chunks:
        await response.write(chunk)
        # Let each chunk travel alone, so that the client sees the cut.
        await asyncio.sleep(0.01)
    return response
