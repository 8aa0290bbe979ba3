"""A server process: the real wiring, with points at which it dies or which it counts.

`python -m tests.crash.server_process` takes one order as JSON on its standard input.
"""

import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from tenuto.config import load
from tenuto.ports.points import NOWHERE, Points
from tenuto.storage.sqlite import checkpointer
from tenuto.wiring import serve
from tests.crash.points import Census, CrashPoints

PASSIVE_PAGES = 60
RESTART_PAGES = 90
"""A scenario is short, so its WAL is checkpointed sooner than in use."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What one life of a server is to be."""

    folder: str = ""
    port: int = 0
    env: dict[str, str] = {}
    point: str | None = None
    """Where it dies; None: nowhere."""
    passing: int = 1
    census: str | None = None
    """Where it writes down which points it passed; None: nowhere."""


def live(order: Order) -> int:
    """Be the server that was ordered, to its end; the exit code."""
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.env)
    checkpointer.PASSIVE_PAGES = PASSIVE_PAGES
    checkpointer.RESTART_PAGES = RESTART_PAGES
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


if __name__ == "__main__":
    raise SystemExit(live(msgspec.json.decode(sys.stdin.buffer.read(), type=Order)))
