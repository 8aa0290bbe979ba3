"""Fetches one address over HTTP, within limits, and never from a place it must not reach."""

import asyncio
import os
import zlib
from functools import partial
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from tenuto.agent.tools.settings import ToolSettings
from tenuto.agent.tools.web.address import NotPublic, is_public, public_socket
from tenuto.core.text import cut, whole
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

REDIRECTS = 10
MOVED = frozenset({301, 302, 303, 307, 308})
PIECE_BYTES = 65_536
HEADS = 20
"""Most answers have one; a `100 Continue` or two may come first."""
WIRE = 8
"""How many bytes may come for each that may be read: a body can be all chunk heads."""
SHOWN_CHARACTERS = 100
HEADERS = {
    "User-Agent": "tenuto",
    "Accept": "text/html, text/plain, application/json, */*;q=0.5",
    # Unpacking is ours to bound: a small answer can unpack to one without end.
    "Accept-Encoding": "identity",
}


class Fetched(Value):
    url: str
    status: int
    media_type: str
    charset: str | None
    content: bytes
    cut: bool
    """There was more than may be read."""


class Connector(aiohttp.TCPConnector):
    """Connections that end when a server sends without end and says nothing."""

    def __init__(self, *, wire_bytes: int, **options: Any) -> None:
        super().__init__(**options)
        self._factory: Any = partial(_Line, asyncio.get_running_loop(), wire_bytes)


class _Line(ResponseHandler):
    def __init__(self, loop: asyncio.AbstractEventLoop, wire_bytes: int) -> None:
        super().__init__(loop)
        self._room = wire_bytes
        self._heads = HEADS

    def data_received(self, data: bytes) -> None:
        self._room -= len(data)
        if self._room >= 0 and self._heads > 0:
            super().data_received(data)
        elif self.transport is not None:
            self.transport.abort()

    def feed_data(self, data: Any, size: int = 0) -> None:
        self._heads -= 1
        if self._heads > 0:
            super().feed_data(data, size)


async def fetch(url: str, settings: ToolSettings) -> Fetched:
    """The answer at the end of all redirects. Raises ToolFailed."""
    factory = None if settings.allow_private_addresses else public_socket
    connector = Connector(
        wire_bytes=settings.fetch_bytes * WIRE + PIECE_BYTES,
        force_close=True,
        use_dns_cache=False,
        socket_factory=factory,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        target = _checked(url, settings)
        try:
            return await _follow(session, target, settings)
        except (aiohttp.ClientError, ValueError, zlib.error) as error:
            raise ToolFailed(f"{url} could not be fetched: {_why(error)}.") from error


async def _follow(session: aiohttp.ClientSession, target: URL, settings: ToolSettings) -> Fetched:
    for _ in range(REDIRECTS + 1):
        async with session.get(target, allow_redirects=False) as response:
            onward = response.headers.get("Location")
            if response.status not in MOVED or not onward:
                return await _read(response, settings.fetch_bytes)
            target = _checked(str(target.join(URL(onward))), settings)
    raise ToolFailed(f"It was redirected more than {REDIRECTS} times.")


def _checked(url: str, settings: ToolSettings) -> URL:
    """The address, if it is one that may be asked. Names are judged when they are connected to."""
    try:
        target = URL(url.strip())
        port = target.port
    except ValueError as error:
        raise ToolFailed(f"{url} is not an address that can be fetched.") from error
    if target.scheme not in ("http", "https") or not target.host or not port:
        raise ToolFailed(f"{url} cannot be fetched: only http and https addresses can.")
    if target.user is not None or target.password is not None:
        raise ToolFailed("Addresses with a user name or a password in them are not fetched.")
    if not settings.allow_private_addresses and _is_private_literal(target.host):
        raise _refusal()
    return target


def _is_private_literal(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return False


async def _read(response: aiohttp.ClientResponse, limit: int) -> Fetched:
    content = bytearray()
    unpack = _unpacker(response.headers.get("Content-Encoding", "identity").strip().lower())
    async for piece in response.content.iter_chunked(PIECE_BYTES):
        content += piece if unpack is None else unpack.decompress(piece, limit + 1 - len(content))
        # What comes behind the end of a packed answer is none of it, however much it is.
        if len(content) > limit or (unpack is not None and unpack.eof):
            break
    return Fetched(
        url=whole(str(response.url)),
        status=response.status,
        media_type=cut(response.content_type, SHOWN_CHARACTERS)
        if "Content-Type" in response.headers
        else "",
        charset=response.charset,
        content=bytes(content[:limit]),
        cut=len(content) > limit,
    )


def _unpacker(encoding: str) -> "zlib._Decompress | None":
    if encoding in ("identity", ""):
        return None
    if encoding in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(wbits=47)
    shown = cut(encoding, SHOWN_CHARACTERS)
    raise ToolFailed(f"The answer is packed as {shown}, which cannot be read.")


def status_text(status: int) -> str:
    known = {code.value: code.phrase for code in HTTPStatus}
    return f"{status} {known.get(status, '')}".strip()


def _refusal() -> ToolFailed:
    return ToolFailed(
        "That address is private: it leads to this machine or its own network, and this server "
        "does not allow that."
    )


def _why(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorError(os_error=NotPublic()):
            raise _refusal() from error
        case aiohttp.ClientConnectorDNSError():
            return "its name is not known"
        case aiohttp.ClientConnectorError():
            # asyncio puts the address into its text; the number says enough.
            number = error.os_error.errno
            return os.strerror(number) if number else "no connection"
        case aiohttp.InvalidURL():
            return "it is not a valid address"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return "the connection broke off"
        case zlib.error():
            return "its packing is broken"
        case _:
            return "it did not answer as a web server does"
