"""The HTTP side of every provider: one attempt, streamed, with limits, closed at once."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

import aiohttp
import msgspec

from tenuto import __version__
from tenuto.agent.providers.border import Border
from tenuto.agent.providers.setting import Limits
from tenuto.agent.providers.sse import EventLines, EventTooLong
from tenuto.ports.model import Piece, ProviderError

AFTER_FINISH_SECONDS = 5.0
"""How long the usage may take to follow the end of the answer."""
ERROR_BODY_BYTES = 64 * 1024
ERROR_BODY_SECONDS = 5.0
WHOLE_BODY_BYTES = 64 * 1024 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")


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
    """Connections to one base URL."""

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str], limits: Limits, border: Border
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"User-Agent": f"tenuto/{__version__}", **headers}
        self._limits = limits
        self._border = border
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str) -> Any:
        """The JSON at this path. Raises ProviderError."""
        limit = aiohttp.ClientTimeout(
            total=self._limits.list_seconds, connect=self._limits.list_connect_seconds
        )
        try:
            # A redirect could carry the key to another host.
            async with self._open().get(
                self._base_url + path, timeout=limit, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                return msgspec.json.decode(await self._whole(response))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._border.failed(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._border.unreadable(str(error)) from error

    async def stream(
        self, path: str, body: Any, answer: Answer
    ) -> AsyncGenerator[Sequence[Piece], None]:
        """Send `body` and give what `answer` makes of each network read.

        Closing the generator closes the connection, in the middle of whatever it does.
        """
        response = await self._post(path, body)
        try:
            if response.content_type == "text/html":
                raise self._border.unreadable("a web page, so check the base URL")
            if response.content_type == "application/json":
                yield answer.whole(await self._whole(response))
            lines = EventLines()
            while not answer.over:
                chunk, failure = await self._read(response, answer)
                pieces = answer.feed(self._events(lines, chunk))
                if pieces:
                    yield pieces
                if answer.error is not None:
                    raise answer.error
                if failure is not None:
                    raise failure
                if not chunk:
                    break
            yield answer.end()
        finally:
            # After the last byte the connection is back in the pool already; before it, this
            # closes the socket, and the provider stops generating.
            response.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            timeout = aiohttp.ClientTimeout(
                total=None,
                connect=self._limits.connect_seconds,
                sock_read=self._limits.stall_seconds,
            )
            local = urlsplit(self._base_url).hostname in LOOPBACK
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=timeout,
                # A kept connection can be closed by the server just as we use it again. On the
                # loopback a new one costs nothing; elsewhere it costs a handshake.
                connector=aiohttp.TCPConnector(limit=0, force_close=local),
                # A local server is never behind the proxy that the environment names.
                trust_env=not local,
            )
        return self._session

    async def _post(self, path: str, body: Any) -> aiohttp.ClientResponse:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            # A compressed stream comes in blocks, not in tokens.
            "Accept-Encoding": "identity",
        }
        try:
            response = await self._open().post(
                self._base_url + path,
                data=msgspec.json.encode(body),
                headers=headers,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._border.failed(error) from error
        if response.status == 200:
            return response
        try:
            raise await self._refusal(response)
        finally:
            response.close()

    async def _refusal(self, response: aiohttp.ClientResponse) -> ProviderError:
        body = b""
        try:
            async with asyncio.timeout(ERROR_BODY_SECONDS):
                while len(body) < ERROR_BODY_BYTES and (chunk := await response.content.readany()):
                    body += chunk
        except (aiohttp.ClientError, TimeoutError, OSError):
            body = b""  # The status says enough.
        return self._border.refused(response.status, response.headers, body)

    async def _read(
        self, response: aiohttp.ClientResponse, answer: Answer
    ) -> tuple[bytes, ProviderError | None]:
        """What came, and what broke after it. Empty at the end."""
        try:
            if not answer.finished:
                return await response.content.readany(), None
            async with asyncio.timeout(AFTER_FINISH_SECONDS):
                return await response.content.readany(), None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if answer.finished:
                return b"", None
            return _left_over(response.content), self._border.failed(error)

    def _events(self, lines: EventLines, chunk: bytes) -> list[bytes]:
        try:
            if chunk:
                return lines.feed(chunk)
        except EventTooLong as error:
            raise self._border.unreadable(str(error)) from error
        # Half an event at the end is no event: the answer broke off.
        return [event for event in lines.end() if event.endswith((b"}", b"]"))]

    async def _whole(self, response: aiohttp.ClientResponse) -> bytes:
        body = b""
        try:
            while chunk := await response.content.readany():
                body += chunk
                if len(body) > WHOLE_BODY_BYTES:
                    raise self._border.unreadable("the answer is too long")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._border.failed(error) from error
        return body


def _left_over(content: aiohttp.StreamReader) -> bytes:
    """Bytes that had arrived before the connection broke.

    The reader raises before it hands them out, and has no public way to ask for them; but a
    broken answer keeps all that was received.
    """
    data = b"".join(content._buffer)
    return data[content._buffer_offset :]
