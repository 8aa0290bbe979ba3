"""One connection to a provider, and the answer that comes over it, byte for byte.

The path of a token begins here. So what came before a break is never lost with it, and a read
costs a wake-up and nothing else: one timer watches for silence, however many bytes come.
"""

import asyncio
import zlib
from collections import deque
from collections.abc import Mapping
from typing import cast

import httptools

from tenuto.core.value import Value

ENOUGH_BYTES = 256 * 1024
"""Received and not read yet: the provider has to wait."""
READ_BYTES = 16 * 1024
"""Given at once: whoever reads works through it before anyone else has a turn. Some milliseconds at
worst; a steady stream's reads are far smaller."""
DRY_BYTES = 64 * 1024
"""Without a byte of body: a head, `1xx` answers, the framing of chunks, trailers."""


class NetworkTrouble(Exception):
    """What keeps us from asking or from hearing the answer."""


class Unreachable(NetworkTrouble):
    """Nobody answers there."""


class UnknownHost(Unreachable):
    """The name leads nowhere."""


class TooSlow(NetworkTrouble):
    """There was no connection within the limit."""


class Untrusted(NetworkTrouble):
    """Whoever answers cannot show who it is."""


class Silent(NetworkTrouble):
    """No byte came within the limit."""


class BrokenOff(NetworkTrouble):
    """The connection ended before the answer did."""


class NotHttp(NetworkTrouble):
    """What came cannot be read."""


class BadAddress(NetworkTrouble):
    """The base URL, or what is to be sent there, makes no sense."""


class Head(Value):
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class _Answer:
    """What has come of one answer; the parser calls it back."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.body: deque[bytes] = deque()
        """Not read yet, as it came: perhaps compressed."""
        self.size = 0
        self.over = False
        self.last_of_line = True
        self._dry = 0
        self._delimited = False
        self._headers: dict[str, str] = {}
        self._unzip: zlib._Decompress | None = None
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Raises NotHttp for what is no answer."""
        if self.over:
            raise NotHttp("more came than was asked for")
        self._dry += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise NotHttp(str(error)) from error
        if self._dry > DRY_BYTES:
            raise NotHttp("more came around the answer than any needs")

    def end(self) -> None:
        """The connection ended. Without a length, that is the end of the answer too."""
        self.last_of_line = True
        if self.head is not None and not self._delimited:
            self.over = True

    def take(self) -> bytes:
        """Some of what came, unpacked; empty if there is nothing in it. Raises NotHttp."""
        body = self.body.popleft()
        if self._unzip is not None:
            return self._unpacked(body)
        # Joined, as a read of many small chunks is one; cut, as one read may be large.
        parts, length = [body], len(body)
        while self.body and length < READ_BYTES:
            parts.append(self.body.popleft())
            length += len(parts[-1])
        self.size -= length
        taken = body if len(parts) == 1 else b"".join(parts)
        if length <= READ_BYTES:
            return taken
        self._put_back(taken[READ_BYTES:])
        return taken[:READ_BYTES]

    def _unpacked(self, body: bytes) -> bytes:
        assert self._unzip is not None
        self.size -= len(body)
        if self._unzip.eof:
            return b""  # Whatever follows the end is nothing.
        try:
            unpacked = self._unzip.decompress(body, READ_BYTES)
        except zlib.error as error:
            raise NotHttp(str(error)) from error
        # A little can unpack to very much: the rest waits, packed, for the next read.
        if self._unzip.unconsumed_tail:
            self._put_back(self._unzip.unconsumed_tail)
        return unpacked

    def _put_back(self, body: bytes) -> None:
        self.body.appendleft(body)
        self.size += len(body)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head is None:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            return
        self.head = Head(status=status, headers=dict(self._headers))
        self.last_of_line = not self._parser.should_keep_alive()
        chunked = "chunked" in self._headers.get("transfer-encoding", "").lower()
        self._delimited = chunked or "content-length" in self._headers
        encoding = self._headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._unzip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        elif encoding != "identity":
            raise NotHttp("compressed in a way that nobody asked for")

    def on_body(self, body: bytes) -> None:
        if body:
            self._dry = 0
            self.body.append(body)
            self.size += len(body)

    def on_message_complete(self) -> None:
        if self.head is None:
            # `100 Continue` and its like: the answer is still to come.
            self._headers.clear()
        else:
            self.over = True


class Line(asyncio.Protocol):
    """Carries one request at a time. Whoever asked reads the answer, or closes the line."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._answer = _Answer()
        self._trouble: NetworkTrouble | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._stall_seconds = 0.0
        self._heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def transport(self) -> asyncio.Transport:
        return self._transport

    @property
    def free(self) -> bool:
        """The answer is over, and another request may follow."""
        return self._answer.over and not self._answer.last_of_line and self._trouble is None

    def ask(self, request: bytes, *, stall_seconds: float) -> None:
        self._answer = _Answer()
        self._stall_seconds = stall_seconds
        self._heard_at = self._loop.time()
        self._watch()
        self._transport.write(request)

    async def head(self) -> Head:
        while self._answer.head is None:
            await self._arrival()
        return self._answer.head

    async def read(self) -> bytes:
        """What came since the last time; empty at the end. Raises only after all that came."""
        answer = self._answer
        while True:
            while not answer.body and not answer.over:
                await self._arrival()
            if not answer.body:
                return b""
            if taken := self._take():
                return taken

    def _take(self) -> bytes:
        answer = self._answer
        before = answer.size
        try:
            taken = answer.take()
        except NotHttp as trouble:
            self._fail(trouble)
            raise
        if before > ENOUGH_BYTES >= answer.size and not self._transport.is_closing():
            self._heard_at = self._loop.time()
            self._transport.resume_reading()
        return taken

    def stop_watching(self) -> None:
        """Silence is no trouble any more: the answer is over, or another takes the connection."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """At once, in the middle of whatever happens: the provider stops generating."""
        self.stop_watching()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        answer = self._answer
        before = answer.size
        try:
            answer.feed(data)
        except NotHttp as trouble:
            self._fail(trouble)
            return
        if answer.over:
            self.stop_watching()
        elif before <= ENOUGH_BYTES < answer.size:
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_watching()
        if exc is None and self._trouble is None:
            self._answer.end()
        self._trouble = self._trouble or BrokenOff("the connection ended")
        self._wake()

    def _arrival(self) -> asyncio.Future[None]:
        """Done when anything has happened. Raises what broke the line."""
        if self._trouble is not None:
            raise self._trouble
        self._waiter = self._loop.create_future()
        return self._waiter

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, trouble: NetworkTrouble) -> None:
        self._trouble = self._trouble or trouble
        self.close()
        self._wake()

    def _watch(self) -> None:
        """Look again when the limit could be reached, not whenever a byte comes."""
        left = self._heard_at + self._stall_seconds - self._loop.time()
        if left <= 0 and self._answer.size > ENOUGH_BYTES:
            # It is we who keep the provider waiting.
            left = self._stall_seconds
        if left > 0:
            self._timer = self._loop.call_later(left, self._watch)
        else:
            self._fail(Silent("no byte came within the limit"))
