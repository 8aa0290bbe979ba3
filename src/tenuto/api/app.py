"""The ASGI application: every route behind one gate, every error answered in one place."""

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.api import routes
from tenuto.api.call import Call
from tenuto.api.door import Door
from tenuto.api.endpoint import Endpoint
from tenuto.api.errors import answer_to, problem
from tenuto.api.gate import Gate
from tenuto.api.guesses import Guesses
from tenuto.api.login import Login
from tenuto.api.metrics import Metrics
from tenuto.api.openapi import document
from tenuto.api.page import BuiltPage
from tenuto.api.services import Services
from tenuto.ports.points import NOWHERE, Points, Step

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
BUILT_PAGE = Path(__file__).parent / "page"
DOCS_CSP = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    # Not no-referrer: browsers then send the login form with `Origin: null`, which is foreign.
    (b"referrer-policy", b"same-origin"),
]
NOT_KEPT = (b"cache-control", b"no-store")


def build_app(
    services: Services, door: Door, guesses: Guesses, *, points: Points = NOWHERE
) -> ASGIApp:
    api = document(routes.ALL, cookie=door.cookie_name)
    described = msgspec.json.encode(api)

    async def openapi(request: Request) -> Response:
        return Response(described, media_type="application/json")

    async def docs(request: Request) -> Response:
        return FileResponse(STATIC / "docs.html", headers={"Content-Security-Policy": DOCS_CSP})

    page = BuiltPage(BUILT_PAGE)
    router = Router(
        [
            *_routes(services, points),
            Route("/login", Login(door, guesses).__call__, methods=["GET", "POST", "DELETE"]),
            Route("/openapi.json", openapi),
            Route("/docs", docs),
            *page.routes(),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        redirect_slashes=False,
        default=_nothing_here,
    )
    gate = Gate(router, door, guesses, open_paths=page.open_paths())
    return Outside(gate, services.metrics)


def _routes(services: Services, points: Points) -> list[Route]:
    """One for each path, in order: so a method that it does not have is told those that it has."""
    by_path: dict[str, dict[str, _Answering]] = {}
    for endpoint in routes.ALL:
        answering = _Answering(endpoint, services, points)
        by_path.setdefault(endpoint.path, {})[endpoint.method] = answering
    return [Route(path, _Resource(calls), methods=list(calls)) for path, calls in by_path.items()]


class _Resource:
    """All calls of one path."""

    def __init__(self, calls: Mapping[str, "_Answering"]) -> None:
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._calls[method](scope, receive, send)


class _Answering:
    """Runs a handler and answers whatever comes of it."""

    def __init__(self, endpoint: Endpoint, services: Services, points: Points) -> None:
        self._handler = endpoint.handler
        self._services = services
        self._points = points
        self._name = f"{endpoint.method} {endpoint.path}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call(Request(scope, receive), self._services)
        try:
            response = await self._handler(call)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - answered and, if it is ours, logged there
            response = answer_to(error)
        if self._points.armed:
            send = _pointing(send, self._points, self._name)
        await response(scope, receive, send)


def _pointing(send: Send, points: Points, name: str) -> Send:
    """Sends, and says so before and after: answers to what changes something, and streams."""

    async def sending(message: Message) -> None:
        if message.get("more_body"):
            points.reach(Step.SHOWING, name)
            await send(message)
            points.reach(Step.SHOWN, name)
        elif name.startswith("GET "):
            await send(message)
        elif message["type"] == "http.response.start":
            points.reach(Step.ANSWERING, name)
            await send(message)
        else:
            points.reach(Step.ANSWER_BEGUN, name)
            await send(message)
            points.reach(Step.ANSWERED, name)

    return sending


class Outside:
    """The last resort: nothing that goes wrong shows a stack trace, and every answer counts."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Makes the router raise, not write, when a path is asked with a method it does not know.
        scope["app"] = self
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._metrics.answered(message["status"])
                message["headers"] = _made_safe(message.get("headers", []))
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            # It hung up in the middle of what it asked: nobody is there to be answered.
            return
        except Exception as error:
            if started:
                log.exception("an answer broke off")
                raise
            await answer_to(error)(scope, receive, sending)


def _made_safe(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What does not say for how long it may be kept is not to be kept."""
    kept = any(name == b"cache-control" for name, _ in headers)
    return [*headers, *SAFE_HEADERS, *([] if kept else [NOT_KEPT])]


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    await problem("not_found", f"there is no {scope['method']} {scope['path']}")(
        scope, receive, send
    )
