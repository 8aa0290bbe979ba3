"""The gate: who may come in, and from where. Everything passes it before any route."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.api.door import Door, Shown, bearer
from tenuto.api.errors import Unreadable, answer_to
from tenuto.api.guesses import Guesses
from tenuto.api.page import is_page
from tenuto.core.error import Forbidden, RateLimited, Unauthorized
from tenuto.core.principal import OWNER

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/login"})
OPEN_PREFIX = "/static/"
OWN_SITE = ("same-origin", "none")
TOO_MANY = "too many wrong tokens; wait a minute"


class Gate:
    def __init__(
        self,
        app: ASGIApp,
        door: Door,
        guesses: Guesses,
        *,
        open_paths: frozenset[str] = frozenset(),
    ) -> None:
        self._app = app
        self._door = door
        self._guesses = guesses
        self._open_paths = OPEN_PATHS | open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_where_from(headers)
        except (Forbidden, Unreadable) as error:
            await answer_to(error)(scope, receive, send)
            return
        origin = headers.get("origin")
        if origin in self._door.allowed_origins:
            send = _with_cors(send, origin)
            if scope["method"] == "OPTIONS":
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
        shown = self._door.knows(headers)
        try:
            self._check_who(scope, headers, shown)
        except (Forbidden, Unauthorized, RateLimited) as error:
            await answer_to(error)(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        # Whoever knows the token is the owner; nobody, where none was asked for and none shown.
        state["who"] = OWNER if shown else None
        if shown and "on_known" in state:
            state["on_known"]()
        await self._app(scope, receive, send)

    def _check_where_from(self, headers: Headers) -> None:
        hosts, origin = headers.getlist("host"), headers.get("origin")
        if len(hosts) > 1:
            raise Unreadable("a request has one Host")
        host = hosts[0] if hosts else ""
        if not self._door.knows_host(host):
            raise Forbidden(f"this server is not {host!r}")
        try:
            foreign = origin is not None and not self._door.knows_origin(origin, host)
        except ValueError:
            foreign = True
        if foreign:
            raise Forbidden(f"the origin {origin!r} is foreign")

    def _check_who(self, scope: Scope, headers: Headers, shown: Shown | None) -> None:
        if self._is_open(scope["path"]):
            return
        if shown is None:
            if bearer(headers) is not None and self._guesses.wrong(scope):
                raise RateLimited(TOO_MANY)
            raise Unauthorized(
                "show the token as `Authorization: Bearer TOKEN`, or log in at /login"
            )
        if shown is Shown.COOKIE and scope["method"] == "POST" and _is_doubtful(headers):
            raise Forbidden("with a cookie, send JSON, or `Origin` as browsers do")

    def _is_open(self, path: str) -> bool:
        return path in self._open_paths or path.startswith(OPEN_PREFIX) or is_page(path)


def _is_doubtful(headers: Headers) -> bool:
    """Whether a page of another site could have made a browser send this POST with our cookie.

    For other methods a browser asks first, with an `Origin`.
    """
    site = headers.get("sec-fetch-site")
    if "origin" in headers or site in OWN_SITE:
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return site is not None or kind != "application/json"


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
