"""The way to a provider: its address, the proxy before it if there is one, and who it must be."""

import asyncio
import base64
import functools
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohappyeyeballs

from tenuto.agent.providers.connection.line import (
    BadAddress,
    Line,
    TooSlow,
    UnknownHost,
    Unreachable,
    Untrusted,
)

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORTS = {"http": 80, "https": 443}
NEXT_ADDRESS_SECONDS = 0.25
"""A host has several addresses, and the first may lead nowhere."""
URL_CHARACTERS = "/%:?&=+,;@!$'()*~-._"


class Route:
    """To one base URL, straight or through the proxy that the environment names."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._url = urlsplit(base_url.rstrip("/"))
        # A local server is never behind the proxy.
        self.local = self._url.hostname in LOOPBACK

    def request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> bytes:
        """Raises BadAddress for what cannot be sent."""
        url, proxy = self._url, self._proxy()
        target = quote(url.path + path, safe=URL_CHARACTERS)
        said = {"Host": _host(url), **_basic("Authorization", url), **headers}
        if proxy is not None and url.scheme == "http":
            target = f"http://{_host(url)}{target}"
            said |= _basic("Proxy-Authorization", proxy)
        if body or method == "POST":
            said["Content-Length"] = str(len(body))
        return _head(f"{method} {target}", said) + body

    async def dial(self, *, seconds: float) -> Line:
        """A new line. Raises NetworkTrouble."""
        try:
            async with asyncio.timeout(seconds):
                return await self._dial()
        except TimeoutError as error:
            raise TooSlow(f"no connection within {seconds:g} s") from error
        except ssl.SSLError as error:
            raise Untrusted(str(error)) from error
        except socket.gaierror as error:
            raise UnknownHost(str(error)) from error
        except OSError as error:
            raise Unreachable(str(error)) from error

    async def _dial(self) -> Line:
        host, port = _place(self._url)
        tls = _tls() if self._url.scheme == "https" else None
        proxy = self._proxy()
        if proxy is None:
            return await _connect(host, port, tls)
        line = await _connect(*_place(proxy), None)
        if tls is None:
            return line
        try:
            return await self._tunnel(line, proxy, tls)
        except BaseException:
            line.close()
            raise

    async def _tunnel(self, line: Line, proxy: SplitResult, tls: ssl.SSLContext) -> Line:
        """Through the proxy to the provider itself, unread by the proxy."""
        host, port = _place(self._url)
        there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        said = {"Host": there, **_basic("Proxy-Authorization", proxy)}
        line.ask(_head(f"CONNECT {there}", said), stall_seconds=60.0)
        head = await line.head()
        if head.status != 200:
            raise Unreachable(f"the proxy answered {head.status}")
        line.stop_watching()
        inner = Line()
        transport = await asyncio.get_running_loop().start_tls(
            line.transport, inner, tls, server_hostname=host
        )
        if transport is None:
            raise Unreachable("the proxy closed the tunnel")
        inner.connection_made(transport)
        return inner

    def _proxy(self) -> SplitResult | None:
        host = self._url.hostname or ""
        if self.local or proxy_bypass(host):
            return None
        named = getproxies().get(self._url.scheme)
        if not named:
            return None
        proxy = urlsplit(named if "://" in named else f"http://{named}")
        if proxy.scheme != "http":
            raise BadAddress(f"a proxy that speaks {proxy.scheme} is not supported")
        return proxy


def _head(first: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{first} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if any(not line.isprintable() for line in lines):
        raise BadAddress("the address or a header has characters that cannot be sent")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _place(url: SplitResult) -> tuple[str, int]:
    try:
        host = (url.hostname or "").encode("idna").decode()
        port = url.port or PORTS[url.scheme]
    except (ValueError, KeyError) as error:
        raise BadAddress(str(error)) from error
    if not host:
        raise BadAddress("the address names no host")
    return host, port


def _host(url: SplitResult) -> str:
    host, port = _place(url)
    shown = f"[{host}]" if ":" in host else host
    return shown if port == PORTS.get(url.scheme) else f"{shown}:{port}"


def _basic(name: str, url: SplitResult) -> dict[str, str]:
    if url.username is None:
        return {}
    pair = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return {name: f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def _connect(host: str, port: int, tls: ssl.SSLContext | None) -> Line:
    loop = asyncio.get_running_loop()
    if tls is None and _is_one_address(host):
        _, line = await loop.create_connection(Line, host, port)
        return line
    places = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    connected = await aiohappyeyeballs.start_connection(
        places, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS
    )
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _, line = await loop.create_connection(
            Line, sock=connected, ssl=tls, server_hostname=host if tls else None
        )
    except BaseException:
        connected.close()
        raise
    return line


def _is_one_address(host: str) -> bool:
    """Not a name, so there is nothing to look up and nothing to choose from."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@functools.cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
