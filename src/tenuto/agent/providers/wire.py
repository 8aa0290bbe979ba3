"""The HTTP side of every provider: one attempt, streamed, with limits, closed at once."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from tenuto import __version__
from tenuto.agent.providers.border import Border
from tenuto.agent.providers.line import Line, NetworkTrouble
from tenuto.agent.providers.route import Route
from tenuto.agent.providers.setting import Limits
from tenuto.agent.providers.sse import EventLines, EventTooLong
from tenuto.ports.model import Piece, ProviderError

AFTER_FINISH_SECONDS = 5.0
"""How long the usage may take to follow the end of the answer."""
ERROR_BODY_BYTES = 64 * 1024
ERROR_BODY_SECONDS = 5.0
WHOLE_BODY_BYTES = 64 * 1024 * 1024
KEEP_SECONDS = 15.0
"""How long a line waits for the next request."""


class Answer(Protocol):
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


class Wire:
    """Asks one base URL. Redirects are not followed: they could carry the key to another host."""

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str], limits: Limits, border: Border
    ) -> None:
        self._route = Route(base_url)
        self._headers = {"User-Agent": f"tenuto/{__version__}", **headers}
        self._limits = limits
        self._border = border
        self._kept: list[Line] = []

    async def get(self, path: str) -> Any:
        """The JSON at this path. Raises ProviderError."""
        line: Line | None = None
        try:
            async with asyncio.timeout(self._limits.list_seconds):
                line = await self._line(self._limits.list_connect_seconds)
                self._ask(line, self._route.request("GET", path, self._headers))
                if (await line.head()).status != 200:
                    raise await self._refusal(line)
                return msgspec.json.decode(await self._whole(line))
        except (NetworkTrouble, TimeoutError) as error:
            raise self._border.failed(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._border.unreadable(str(error)) from error
        finally:
            self._hang_up(line)

    async def stream(
        self, path: str, body: Any, answer: Answer
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
            lines = EventLines()
            while not answer.over:
                chunk = await (self._last_words(line) if answer.finished else line.read())
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
            raise self._border.unreadable(str(error)) from error
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
        head, body = await line.head(), b""
        try:
            async with asyncio.timeout(ERROR_BODY_SECONDS):
                while len(body) < ERROR_BODY_BYTES and (chunk := await line.read()):
                    body += chunk
        except (NetworkTrouble, TimeoutError):
            body = b""  # The status says enough.
        return self._border.refused(head.status, head.headers, body)

    async def _last_words(self, line: Line) -> bytes:
        """What comes after the answer. It is complete already, so nothing can break it."""
        try:
            async with asyncio.timeout(AFTER_FINISH_SECONDS):
                return await line.read()
        except (NetworkTrouble, TimeoutError):
            return b""

    async def _whole(self, line: Line) -> bytes:
        body = b""
        while chunk := await line.read():
            body += chunk
            if len(body) > WHOLE_BODY_BYTES:
                raise self._border.unreadable("the answer is too long")
        return body


def _end(lines: EventLines) -> list[bytes]:
    # Half an event at the end is no event: the answer broke off.
    return [event for event in lines.end() if event.endswith((b"}", b"]"))]
