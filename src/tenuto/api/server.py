"""The HTTP server: uvicorn, with signals and the order of stopping in our own hands."""

import asyncio
import contextlib
import functools
import resource
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from tenuto.api.connection import Connection, ConnectionLimits, Strangers

CLOSE_SECONDS = 5
BACKLOG = 2048
MOST_DESCRIPTORS = 65_536
"""Each viewer needs one. No more than this: programs that a tool starts inherit the limit, and some
go through all of it."""


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Left alone, uvicorn would close the door before runs have ended, and hang on open streams.
        yield


class Stopping:
    """Hears the signals that ask the server to stop; the second one asks it to hurry."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._hurry = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._hear)

    def _hear(self) -> None:
        if self._asked.is_set():
            self._hurry.set()
        self._asked.set()

    async def asked(self) -> None:
        await self._asked.wait()

    async def hurry(self) -> None:
        await self._hurry.wait()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; raises OSError if the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise
    found.listen(BACKLOG)
    return found


async def run_server(
    app: ASGIApp,
    listening: socket.socket,
    *,
    limits: ConnectionLimits,
    on_ready: Callable[[], None],
    until: Callable[[], Awaitable[None]],
) -> None:
    """Serve until `until` is over; it is called once the server answers."""
    strangers = Strangers(most=limits.unknown_connections, descriptors=_more_descriptors())
    protocol = functools.partial(Connection, limits=limits, strangers=strangers)
    config = uvicorn.Config(
        app,
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        # We trust no header about who is calling, and each layer costs on every token.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        backlog=BACKLOG,
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await server.ready.wait()
    on_ready()
    await until()
    server.should_exit = True
    await serving


def _more_descriptors() -> int:
    """Take as many as the system gives without being asked twice; how many there are now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_DESCRIPTORS
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
