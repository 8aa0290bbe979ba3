"""A server process: the real wiring, with points at which it dies or which it counts."""

import importlib
import mimetypes
import os
from pathlib import Path
from typing import Any

import msgspec
from starlette.routing import compile_path

from tenuto.api import app, routes
from tenuto.api.openapi import document
from tenuto.config import load
from tenuto.ports.points import NOWHERE, Points
from tenuto.storage.sqlite.file import checkpointer
from tenuto.wiring import serve
from tests.proof.crash.odd import be_odd, lose_answers
from tests.proof.crash.points import Census, CrashPoints

PASSIVE_PAGES = 60
RESTART_PAGES = 90
"""A scenario is short, so its WAL is checkpointed sooner than in use."""

LOADED_LATE = (
    "anyio._backends._asyncio",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.httptools_impl",
    "tenuto.storage.postgres",
)
"""What a server loads only when it starts."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What one process of a server is to do."""

    folder: str = ""
    port: int = 0
    env: dict[str, str] = {}
    point: str | None = None
    """Where it dies; None: nowhere."""
    passing: int = 1
    census: str | None = None
    """Where it writes down which points it passed; None: nowhere."""


def prepare() -> None:
    """Do what is the same in every process, before the first one."""
    checkpointer.PASSIVE_PAGES = PASSIVE_PAGES
    checkpointer.RESTART_PAGES = RESTART_PAGES
    be_odd()
    lose_answers()
    # Nobody here looks at the page or at the description of the API.
    described = document(routes.ALL, cookie="tenuto")
    vars(app)["document"] = lambda endpoints, *, cookie: described
    app.BUILT_PAGE = Path(os.devnull)
    for endpoint in routes.ALL:
        compile_path(endpoint.path)
    for name in LOADED_LATE:
        importlib.import_module(name)
    mimetypes.init()


def live(order: Order) -> int:
    """Be the server that was ordered, to its end; the exit code. Be prepared."""
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.env)
    flags: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": str(order.port),
        "data": f"{order.folder}/data",
    }
    return serve(load(flags, os.environ, Path(order.folder)), points=_points(order))


def _points(order: Order) -> Points:
    if order.census is not None:
        return Census(Path(order.census))
    if order.point is not None:
        return CrashPoints(order.point, order.passing)
    return NOWHERE
