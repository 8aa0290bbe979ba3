"""The process around the server: what it tells the kernel, what it prints, how it ends."""

import ctypes
import gc
import logging
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass

import click
import uvloop

from tenuto import logs
from tenuto.config import (
    ConfigError,
    RunningServer,
    Settings,
    announce,
    ensure_token,
    node_name,
    withdraw,
)
from tenuto.core.error import StorageTrouble
from tenuto.ports.points import NOWHERE, Points
from tenuto.wiring.server import Process, run
from tenuto.wiring.workers import serve_many

log = logging.getLogger(__name__)

CANNOT_START = 1
BAD_SETTINGS = 2
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
SWITCH_SECONDS = 0.0005
COLLECT_AFTER = (10_000, 20, 50)
"""Objects, and rounds of the younger generation: nearly all of ours go without the collector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A worker among several on one socket."""

    number: int
    listening: socket.socket
    on_ready: Callable[[], None]


def serve(settings: Settings, *, points: Points = NOWHERE) -> int:
    """Run the server until it is told to stop; return the process's exit code."""
    try:
        if settings.workers == 1:
            return serve_one(settings, points=points)
        hide_environment()
        return serve_many(
            settings,
            lambda number, listening, on_ready: serve_one(
                settings,
                points=points,
                seat=Seat(number=number, listening=listening, on_ready=on_ready),
            ),
        )
    except OSError as error:
        return _cannot_listen(settings, error)
    finally:
        withdraw(settings.data, os.getpid())


def serve_one(settings: Settings, *, points: Points = NOWHERE, seat: Seat | None = None) -> int:
    """One node, on its own socket or at its seat among others."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = None if settings.is_shared else ensure_token(settings)
        name = node_name(settings)
    except ConfigError as error:
        for line in error.lines:
            click.echo(f"tenuto: {line}", err=True)
        return BAD_SETTINGS
    except OSError as error:
        click.echo(f"tenuto: the data folder cannot be used: {error}", err=True)
        return CANNOT_START
    hide_environment()
    take_in_orphans()
    mask = logs.configure(settings, [*([token] if token else []), *settings.keys])

    def ready(url: str) -> None:
        settle_memory()
        _tell_where(settings, RunningServer(url=url, pid=os.getppid() if seat else os.getpid()))
        if seat is not None:
            seat.on_ready()

    process = Process(
        name=name if seat is None else f"{name}-{seat.number}",
        token=token,
        mask=mask,
        points=points,
        listening=seat.listening if seat else None,
        is_told=seat is None or seat.number == 1,
        on_ready=ready,
    )
    try:
        # The writer's thread hands each commit to the event loop and back; at the usual 5 ms a
        # busy loop would keep every token waiting that long.
        sys.setswitchinterval(SWITCH_SECONDS)
        uvloop.run(run(settings, process))
    except StorageTrouble as trouble:
        click.echo(f"tenuto: {trouble}", err=True)
        return CANNOT_START
    except OSError as error:
        return _cannot_listen(settings, error)
    return 0


def _tell_where(settings: Settings, server: RunningServer) -> None:
    try:
        announce(settings.data, server)
    except OSError as error:
        # Commands can still be told where it is.
        log.warning("server.json cannot be written: %s", error)


def _cannot_listen(settings: Settings, error: OSError) -> int:
    click.echo(
        f"tenuto: cannot listen on {settings.host}:{settings.port}: {error.strerror}", err=True
    )
    return CANNOT_START


def hide_environment() -> None:
    """Keep programs of the same user, such as an agent's shell, from reading our keys."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def take_in_orphans() -> None:
    """Let what a command started come to us if its runner is killed: then it can be found."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def settle_memory() -> None:
    """Spare the garbage collector what stays for ever: looking through it stops every stream."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
