"""A connection: anyone may open one, so each has its bounds in bytes, in time and in number."""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from tenuto.api.errors import problem
from tenuto.core.value import Value

MOST_HEAD_BYTES = 64 * 1024
"""Address and headers of a request. Servers that share a host's name share its cookies too, and
those alone may be some kilobytes."""
GRACE_SECONDS = 1.0
"""So long a connection may stay whoever else comes: many are often accepted before any is read."""


class ConnectionLimits(Value):
    head_seconds: float
    body_seconds: float
    unknown_connections: int


class Strangers:
    """The connections that have shown no token, oldest first; the oldest make room for new ones."""

    def __init__(self, *, most: int, descriptors: int) -> None:
        # Half of all descriptors stay for those who are known, and for files.
        self._at_once = descriptors // 2
        self._most = min(most, self._at_once)
        self._since: dict[Connection, float] = {}

    def add(self, connection: "Connection", *, now: float) -> None:
        self._since[connection] = now
        while len(self._since) > self._most:
            oldest, since = next(iter(self._since.items()))
            if now - since < GRACE_SECONDS and len(self._since) <= self._at_once:
                return
            self.discard(oldest)
            oldest.transport.abort()

    def discard(self, connection: "Connection") -> None:
        self._since.pop(connection, None)


class TooLarge(Exception):
    """Raised in the parser, which takes it for a request that cannot be read."""


class Connection(HttpToolsProtocol):
    """Waits only so long for a head and for each piece of a body, and never for an answer's end."""

    def __init__(self, *, limits: ConnectionLimits, strangers: Strangers, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._strangers = strangers
        self._clock: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._head_bytes = 0
        self._idle_bytes = 0
        """Since something came of what was sent: a part of a body, or the begin or end of a head."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers.add(self, now=self.loop.time())
        self._wait(self._limits.head_seconds, self._close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._strangers.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._heard_at = self.loop.time()
        self._idle_bytes += len(data)
        super().data_received(data)
        if self._idle_bytes > MOST_HEAD_BYTES:
            self._refuse(431)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._idle_bytes = self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Also what comes after a body in chunks: that is kept beside the head.
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._idle_bytes = 0
        self.scope.setdefault("state", {})["on_known"] = self._known
        self._wait(self._limits.body_seconds, self._look_at_body)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._idle_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # An answer may come before the end of what was asked: the rest of that has no more time
        # than the next head.
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait(self._limits.head_seconds, self._close)

    def send_400_response(self, msg: str) -> None:
        self._refuse(431 if self._head_bytes > MOST_HEAD_BYTES else 400)

    def _known(self) -> None:
        self._strangers.discard(self)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MOST_HEAD_BYTES:
            raise TooLarge

    def _look_at_body(self) -> None:
        """While it is we who do not read, the client is not to blame for its silence."""
        now = self.loop.time()
        if self.flow.read_paused:
            self._heard_at = now
        left = self._heard_at + self._limits.body_seconds - now
        if left > 0:
            self._wait(left, self._look_at_body)
        else:
            self._close()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop_waiting()
        self._clock = self.loop.call_later(seconds, then)

    def _stop_waiting(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _close(self) -> None:
        # Not `abort`: the end of an answer may still be on its way to a slow client.
        self.transport.close()

    def _refuse(self, status: int) -> None:
        if self.transport.is_closing():
            return
        detail = "this is not HTTP as it should be" if status == 400 else "the head is too large"
        answer = problem("invalid_input", detail, status=status)
        lines = [STATUS_LINE[status], b"connection: close\r\n"]
        lines += [b"%b: %b\r\n" % header for header in answer.raw_headers]
        self.transport.write(b"".join([*lines, b"\r\n", bytes(answer.body)]))
        self.transport.close()
