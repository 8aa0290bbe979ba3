"""The process around the server: what it tells the kernel, what it prints, how it ends."""

import ctypes
import gc
import sys

import click
import uvloop

from tenuto import logs
from tenuto.config import ConfigError, Settings, ensure_token
from tenuto.core.error import StorageTrouble
from tenuto.ports.points import NOWHERE, Points
from tenuto.wiring.server import run

CANNOT_START = 1
BAD_SETTINGS = 2
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
SWITCH_SECONDS = 0.0005
COLLECT_AFTER = (10_000, 20, 50)
"""Objects, and rounds of the younger generation: nearly all of ours go without the collector."""


def serve(settings: Settings, *, points: Points = NOWHERE) -> int:
    """Run the server until it is told to stop; return the process's exit code."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = ensure_token(settings)
    except ConfigError as error:
        for line in error.lines:
            click.echo(f"tenuto: {line}", err=True)
        return BAD_SETTINGS
    except OSError as error:
        click.echo(f"tenuto: the data folder cannot be used: {error}", err=True)
        return CANNOT_START
    hide_environment()
    take_in_orphans()
    mask = logs.configure(settings, [token, *settings.keys])
    try:
        # The writer's thread hands each commit to the event loop and back; at the usual 5 ms a
        # busy loop would keep every token waiting that long.
        sys.setswitchinterval(SWITCH_SECONDS)
        uvloop.run(run(settings, token, mask, points, on_ready=settle_memory))
    except StorageTrouble as trouble:
        click.echo(f"tenuto: {trouble}", err=True)
        return CANNOT_START
    except OSError as error:
        click.echo(
            f"tenuto: cannot listen on {settings.host}:{settings.port}: {error.strerror}", err=True
        )
        return CANNOT_START
    return 0


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
