"""The gate: who may come in, and from where. Everything passes it before any route."""

import hashlib
import hmac
import ipaddress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.api.errors import problem
from tenuto.api.page import is_page
from tenuto.core.value import Value

COOKIE = "tenuto"
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/login"})
OPEN_PREFIX = "/static/"
CORS_HEADERS = b"authorization, content-type, idempotency-key, last-event-id"


class Door(Value):
    """What the gate goes by."""

    token: str
    host: str
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    def cookie(self) -> str:
        """What a browser shows instead of the token, so that the token is not kept there."""
        return hmac.new(self.token.encode(), b"login cookie", hashlib.sha256).hexdigest()

    def knows_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    def knows_host(self, given: str) -> bool:
        """Names are refused unless known: a foreign name may have been made to point at us."""
        host = (urlsplit(f"//{given}").hostname or "").lower().rstrip(".")
        if host == "localhost" or host in {name.lower() for name in self.allowed_hosts}:
            return True
        address = _address(host)
        if address is None:
            return host == self.host.lower()
        return address.is_loopback or not _is_loopback(self.host)

    def knows_origin(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        same = parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()
        return same or origin in self.allowed_origins


class Gate:
    def __init__(
        self, app: ASGIApp, door: Door, *, open_paths: frozenset[str] = frozenset()
    ) -> None:
        self._app = app
        self._door = door
        self._open_paths = OPEN_PATHS | open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        try:
            known = self._door.knows_host(host)
            welcome = origin is None or self._door.knows_origin(origin, host)
        except ValueError:
            known = welcome = False
        if not known:
            await problem("forbidden", f"this server is not {host!r}")(scope, receive, send)
            return
        if not welcome:
            await problem("forbidden", f"the origin {origin!r} is foreign")(scope, receive, send)
            return
        if origin in self._door.allowed_origins:
            send = _with_cors(send, origin)
            if scope["method"] == "OPTIONS":
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        known = self._is_allowed(headers)
        if not known and not self._is_open(scope["path"]):
            detail = "show the token as `Authorization: Bearer TOKEN`, or log in at /login"
            await problem("unauthorized", detail)(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["known"] = known
        if known and "on_known" in state:
            state["on_known"]()
        await self._app(scope, receive, send)

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or path.startswith(OPEN_PREFIX) or is_page(path)

    def _is_allowed(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._door.knows_token(given.strip()):
            return True
        cookie = _cookie(headers.get("cookie", ""))
        return hmac.compare_digest(cookie.encode(), self._door.cookie().encode())


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _with_cors(send: Send, origin: str) -> Send:
    extra = [
        (b"access-control-allow-origin", origin.encode()),
        (b"access-control-allow-credentials", b"true"),
        (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
        (
            b"access-control-allow-headers",
            b"authorization, content-type, idempotency-key, last-event-id",
        ),
        (b"access-control-expose-headers", b"location, retry-after"),
        (b"vary", b"origin"),
    ]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *extra]
        await send(message)

    return sending


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback
