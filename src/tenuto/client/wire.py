"""Requests to one server, sent again until they are answered, where that is safe."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any
from uuid import uuid4

import aiohttp
import anyio
import msgspec
from msgspec import UNSET

from tenuto.client.patience import Backoff, ConnectionLost, Patience
from tenuto.core.value import Value

CONNECT_SECONDS = 10.0
LOST = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)
"""What a connection that breaks off looks like; the server may have done what was asked."""


class ServerUnreachable(aiohttp.ClientConnectionError):
    """The connection was never made, so the server has done nothing."""


class ApiError(Exception):
    """The server's no: its status, its code, and a sentence for people."""

    def __init__(
        self, status: int, code: str, detail: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        """Seconds after which the server wants to be asked again; None: it said nothing of it."""

    @property
    def passing(self) -> bool:
        """True if the server did nothing and the same request may go through later."""
        return self.status == 503


class Again(StrEnum):
    """When a request may be sent a second time."""

    ALWAYS = "always"
    """It changes nothing, or doing it twice is doing it once."""
    IF_UNSENT = "if_unsent"
    """Only if the server cannot have seen it."""


class Request(Value):
    method: str
    path: str
    params: Mapping[str, str] = {}
    body: bytes | None = None
    key: str | None = None
    """The Idempotency-Key; None where the server needs none."""
    media_type: str = "application/json"
    again: Again = Again.ALWAYS
    silence_seconds: float | None = None
    """How long the answer may take; None: as long as the patience says."""


class ServerLink:
    """A pool of connections to one server, with its token."""

    def __init__(self, url: str, token: str, *, patience: Patience) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self.patience = patience
        self._http: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        self._http = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._token}"},
            # Streams stay open for hours: no limit on their number, nor on their length.
            connector=aiohttp.TCPConnector(limit=0),
            middlewares=(_try_once,),
        )

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()

    async def ask(self, request: Request) -> bytes:
        """The answer's body. Raises ApiError for a no and ConnectionLost for no answer."""
        backoff = Backoff(self.patience)
        sent = False
        while True:
            try:
                return await self._ask_once(request)
            except ApiError as error:
                # Our first try, whose answer was lost, may have removed it.
                if sent and request.method == "DELETE" and error.status == 404:
                    return b""
                delay = backoff.next_delay(at_least=error.retry_after or 0.0)
                if delay is None or not error.passing:
                    raise
            except LOST as lost:
                sent = sent or not isinstance(lost, ServerUnreachable)
                delay = backoff.next_delay()
                if delay is None or (sent and request.again is Again.IF_UNSENT):
                    raise ConnectionLost(f"no answer to {request.path}: {lost!r}") from lost
            await anyio.sleep(delay)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[aiohttp.StreamReader, None]:
        """An open event stream. Raises ApiError for a no, one of LOST for a broken connection."""
        async with self._send(request, accept="text/event-stream") as response:
            await _raise_for(response)
            try:
                yield response.content
            finally:
                # Never back into the pool: whoever stops reading wants the server to know.
                response.close()

    async def _ask_once(self, request: Request) -> bytes:
        async with self._send(request, accept="application/json") as response:
            await _raise_for(response)
            return await response.read()

    def _send(self, request: Request, *, accept: str) -> "aiohttp.client._RequestContextManager":
        if self._http is None:
            raise RuntimeError("use the client in `async with`")
        headers = {"Accept": accept}
        if request.body is not None:
            headers["Content-Type"] = request.media_type
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        silence = request.silence_seconds or self.patience.silence_seconds
        return self._http.request(
            request.method,
            self._url + request.path,
            params=dict(request.params),
            data=request.body,
            headers=headers,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=CONNECT_SECONDS, sock_read=silence
            ),
        )


def new_key() -> str:
    return str(uuid4())


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def creation(path: str, body: Any, key: str | None) -> Request:
    # With its key a creation may be sent again and again: it is done once.
    return Request(method="POST", path=path, body=encode(body), key=key or new_key())


def set_only(changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value is not UNSET}


async def _try_once(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # The library sends a GET or DELETE again by itself after these; here `Again` decides.
    try:
        return await send(request)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise ServerUnreachable(str(error)) from error
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise aiohttp.ClientConnectionError(str(error)) from error


async def _raise_for(response: aiohttp.ClientResponse) -> None:
    if response.status < 400:
        return
    body = await response.read()
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        # Not our server's words: a proxy in between.
        problem = _Problem(detail=body[:200].decode(errors="replace"))
    again = _seconds(response.headers.get("Retry-After", ""))
    raise ApiError(response.status, problem.code, problem.detail, retry_after=again)


def _seconds(header: str) -> float | None:
    return float(header) if header.isdigit() else None


class _Problem(Value):
    code: str = "unknown"
    detail: str = ""
