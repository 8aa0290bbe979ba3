"""The HTTP side of every provider: one attempt, streamed, with limits, closed at once."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tenuto import __version__
from tenuto.agent.providers.catalogue.setting import ProviderLimits
from tenuto.agent.providers.connection.dial import Route
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.foreign import UNREADABLE
from tenuto.agent.providers.connection.line import READ_BYTES, Line, NetworkTrouble
from tenuto.agent.providers.connection.ndjson import MEDIA_TYPES, JsonLines
from tenuto.agent.providers.connection.sse import EventLines, EventTooLong
from tenuto.ports.model import Piece, ProviderError

AFTER_FINISH_SECONDS = 5.0
"""How long the usage may take to follow the end of the answer, whatever else comes."""
ERROR_BODY_BYTES = 64 * 1024
ERROR_BODY_SECONDS = 5.0
WHOLE_BODY_BYTES = 4 * 1024 * 1024
"""Of a list of models, or of an answer in one piece: it is read in one go, and all others wait."""
ANSWER_BYTES = 256 * 1024 * 1024
"""Of a stream. The longest answers of today are a sixth of it, with all that is around a token."""
KEEP_SECONDS = 15.0
"""How long a line waits for the next request."""


class Reply(Protocol):
    """Understands one answer of a wire, event by event."""

    finished: bool
    """The provider said why it stopped: what may still come is its usage."""
    over: bool
    """Nothing more will come."""
    error: ProviderError | None
    """What ended the answer, after the pieces that were given."""

    def feed(self, events: list[bytes]) -> list[Piece]: ...

    def whole(self, body: bytes) -> list[Piece]:
        """An answer that came in one JSON body, though a stream was asked for."""

    def end(self) -> list[Piece]:
        """What is still owed, `Finished` last. Raises ProviderError if it was not finished."""


class Exchange:
    """Asks one base URL. Redirects are not followed: they could carry the key to another host."""

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str], limits: ProviderLimits, border: Border
    ) -> None:
        self._route = Route(base_url)
        self._headers = {"User-Agent": f"tenuto/{__version__}", **headers}
        self._limits = limits
        self._border = border
        self._kept: list[Line] = []

    async def get(self, path: str) -> Any:
        """The JSON at this path. Raises ProviderError."""
        return await self._json(self._route.request("GET", path, self._headers))

    async def post(self, path: str, body: Any) -> Any:
        """The JSON that a question has for its answer. Raises ProviderError."""
        headers = {"Content-Type": "application/json", **self._headers}
        return await self._json(
            self._route.request("POST", path, headers, msgspec.json.encode(body))
        )

    async def _json(self, request: bytes) -> Any:
        line: Line | None = None
        try:
            async with asyncio.timeout(self._limits.list_seconds):
                line = await self._line(self._limits.list_connect_seconds)
                self._ask(line, request)
                if (await line.head()).status != 200:
                    raise await self._refusal(line)
                return msgspec.json.decode(await self._whole(line))
        except (NetworkTrouble, TimeoutError) as error:
            raise self._border.failed(error) from error
        except UNREADABLE as error:
            raise self._border.unreadable(error) from None
        finally:
            self._hang_up(line)

    async def stream(
        self, path: str, body: Any, answer: Reply
    ) -> AsyncGenerator[Sequence[Piece], None]:
        """Send `body` and give what `answer` makes of each network read.

        Closing the generator closes the connection, in the middle of whatever it does.
        """
        line: Line | None = None
        try:
            line = await self._line(self._limits.connect_seconds)
            self._post(line, path, body)
            head = await line.head()
            if head.status != 200:
                raise await self._refusal(line)
            if head.content_type == "text/html":
                raise self._border.unreadable("a web page, so check the base URL")
            if head.content_type == "application/json":
                yield answer.whole(await self._whole(line))
            lines = JsonLines() if head.content_type in MEDIA_TYPES else EventLines()
            reading = _Reading(line, answer, self._border)
            while not answer.over:
                chunk = await reading.next()
                pieces = answer.feed(lines.feed(chunk) if chunk else _end(lines))
                if pieces:
                    yield pieces
                if answer.error is not None:
                    raise answer.error
                if not chunk:
                    break
            yield answer.end()
        except NetworkTrouble as error:
            raise self._border.failed(error) from error
        except EventTooLong as error:
            raise self._border.too_large(str(error)) from error
        finally:
            self._hang_up(line)

    async def close(self) -> None:
        while self._kept:
            self._kept.pop().close()

    async def _line(self, connect_seconds: float) -> Line:
        """The one that was used last, or a new one."""
        while self._kept:
            line = self._kept.pop()
            if line.free:
                return line
            line.close()
        return await self._route.dial(seconds=connect_seconds)

    def _hang_up(self, line: Line | None) -> None:
        """Keep the line if the answer is over; else close it, and the provider stops generating."""
        if line is None:
            return
        # A kept line can be closed by the server just as we use it again. On the loopback a new
        # one costs nothing; elsewhere it costs a handshake.
        if line.free and not self._route.local:
            self._kept.append(line)
            asyncio.get_running_loop().call_later(KEEP_SECONDS, self._let_go, line)
        else:
            line.close()

    def _let_go(self, line: Line) -> None:
        if line in self._kept:
            self._kept.remove(line)
            line.close()

    def _post(self, line: Line, path: str, body: Any) -> None:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            # A compressed stream comes in blocks, not in tokens.
            "Accept-Encoding": "identity",
            **self._headers,
        }
        self._ask(line, self._route.request("POST", path, headers, msgspec.json.encode(body)))

    def _ask(self, line: Line, request: bytes) -> None:
        line.ask(request, stall_seconds=self._limits.stall_seconds)

    async def _refusal(self, line: Line) -> ProviderError:
        head, body = await line.head(), bytearray()
        try:
            async with asyncio.timeout(ERROR_BODY_SECONDS):
                while len(body) < ERROR_BODY_BYTES and (chunk := await line.read()):
                    body += chunk
        except (NetworkTrouble, TimeoutError):
            body.clear()  # The status says enough.
        return self._border.refused(head.status, head.headers, bytes(body))

    async def _whole(self, line: Line) -> bytes:
        body = bytearray()
        while chunk := await line.read():
            body += chunk
            if len(body) > WHOLE_BODY_BYTES:
                raise self._border.too_large("sent more in one piece than can be read")
        return bytes(body)


class _Reading:
    """Reads an answer's stream within its limits: of bytes, and of time once it has finished."""

    def __init__(self, line: Line, answer: Reply, border: Border) -> None:
        self._line = line
        self._answer = answer
        self._border = border
        self._size = 0
        self._more = False
        self._until = 0.0

    async def next(self) -> bytes:
        """Empty at the end. Raises NetworkTrouble, and ProviderError for a stream without end."""
        if self._more:
            # It is here already: others must have their turn before it.
            await asyncio.sleep(0)
        chunk = await (self._last_words() if self._answer.finished else self._line.read())
        self._more = len(chunk) >= READ_BYTES
        self._size += len(chunk)
        if self._size > ANSWER_BYTES:
            raise self._border.too_large("sent an answer without end")
        return chunk

    async def _last_words(self) -> bytes:
        """What comes after the answer. It is complete already, so nothing can break it."""
        now = asyncio.get_running_loop().time()
        # From the finish on: a provider that goes on and on must not keep the run open.
        self._until = self._until or now + AFTER_FINISH_SECONDS
        if now >= self._until:
            return b""
        try:
            async with asyncio.timeout_at(self._until):
                return await self._line.read()
        except (NetworkTrouble, TimeoutError):
            return b""


def _end(lines: EventLines | JsonLines) -> list[bytes]:
    # Half an event at the end is no event: the answer broke off.
    return [event for event in lines.end() if event.endswith((b"}", b"]"))]
