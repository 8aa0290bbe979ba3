"""A server that is started again, on the same port and folder, whenever it dies."""

import asyncio
import os
import random
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import aiohttp
import anyio
import msgspec

from tests.proof.crash.forking import Notice
from tests.proof.crash.server_process import Order

ROOT = Path(__file__).parents[3]
TOKEN = "test-token-of-no-value"
READY_SECONDS = 20.0
LOOK_SECONDS = 0.004
KILLED = -signal.SIGKILL
PORTS = (15_000, 32_000)


class ServerProcesses:
    """The process that servers are forked from; shared by all who want some."""

    async def __aenter__(self) -> Self:
        self._births: deque[asyncio.Future[int]] = deque()
        self._deaths: dict[int, asyncio.Future[int]] = {}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.proof.crash.forking",
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._hearing = asyncio.create_task(self._hear())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        with anyio.CancelScope(shield=True):
            await self._process.wait()
            await self._hearing

    async def order(self, order: Order) -> tuple[int, asyncio.Future[int]]:
        """A new server: its pid, and how it will have ended."""
        assert self._process.stdin is not None
        birth: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._births.append(birth)
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        pid = await birth
        return pid, self._deaths[pid]

    async def _hear(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            notice = msgspec.json.decode(line, type=Notice)
            if notice.code is None:
                self._deaths[notice.pid] = asyncio.get_running_loop().create_future()
                self._births.popleft().set_result(notice.pid)
            else:
                self._deaths.pop(notice.pid).set_result(notice.code)


@dataclass(slots=True)
class Span:
    """One process of a server."""

    born: datetime
    ready: datetime | None = None
    """When it answered that it was ready; None if it did not live so long."""


class CrashingServer:
    """Keeps a server alive from `async with` to its end; says when it is up."""

    def __init__(
        self,
        processes: ServerProcesses,
        folder: Path,
        *,
        model_url: str,
        orders: Sequence[Order],
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`orders` are the first processes; each further one is a plain one."""
        self._processes = processes
        self._orders = list(orders)
        self.folder = folder
        self.model_url = model_url
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.codes: list[int] = []
        """How each process so far has ended."""
        self.crashes = 0
        """Processes that ended without our doing: at a point."""
        self._killing = False
        self.trouble: str | None = None
        """Why there will be no other process; None: all is well."""
        self.spans: list[Span] = []
        self._up = anyio.Event()
        self._pid = 0
        self._closing = False
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TENUTO_TOKEN": TOKEN,
            "TENUTO_DISCOVER": "off",
            "TENUTO_EMBEDDED_ENABLED": "off",
            # Its tools write what they did into a file of the campaign's own.
            "TENUTO_TOOLS_SANDBOX": "off",
            "OPENAI_API_KEY": "no-key",
            "OPENAI_BASE_URL": model_url,
            **(env or {}),
        }

    @property
    def deaths(self) -> int:
        return len(self.codes)

    async def __aenter__(self) -> Self:
        self._living = asyncio.create_task(self._live())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        with anyio.CancelScope(shield=True):
            self.kill()
            await self._living

    async def up(self) -> None:
        """Wait until a server answers."""
        await self._up.wait()
        if self.trouble is not None:
            raise RuntimeError(self.trouble)

    def kill(self) -> None:
        # It may just have died by itself.
        self._killing = True
        with suppress(ProcessLookupError):
            if self._pid:
                os.kill(self._pid, signal.SIGKILL)

    async def kill_and_wait(self) -> None:
        """Kill it, and wait until the next one is up."""
        deaths = self.deaths
        self.kill()
        while self.deaths == deaths:  # noqa: ASYNC110 (a process is waited for)
            await anyio.sleep(LOOK_SECONDS)
        await self.up()

    def log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text(errors="replace") if path.exists() else ""

    async def _live(self) -> None:
        while not self._closing and self.trouble is None:
            self.spans.append(Span(datetime.now(UTC)))
            self._pid, death = await self._processes.order(self._next_order())
            if self._closing:
                self.kill()
            ready = asyncio.create_task(self._wait_until_ready(self.spans[-1]))
            code = await death
            self._pid = 0
            ready.cancel()
            self.codes.append(code)
            self.crashes += 0 if self._killing else 1
            self._killing = False
            if self._up.is_set():
                self._up = anyio.Event()
            if code != KILLED:
                self.trouble = f"the server ended by itself with {code}:\n{self.log()[-3000:]}"
                self._up.set()

    def _next_order(self) -> Order:
        order = self._orders.pop(0) if self._orders else None
        return Order(
            folder=str(self.folder),
            port=self.port,
            env=self._env | (order.env if order else {}),
            point=order.point if order else None,
            passing=order.passing if order else 1,
            census=order.census if order else None,
        )

    async def _wait_until_ready(self, span: "Span") -> None:
        async with aiohttp.ClientSession() as http:
            try:
                async with asyncio.timeout(READY_SECONDS):
                    while not await self._is_ready(http):  # noqa: ASYNC110 (a process)
                        await anyio.sleep(LOOK_SECONDS)
            except TimeoutError:
                self.trouble = f"the server is not ready:\n{self.log()[-3000:]}"
                self.kill()
        span.ready = datetime.now(UTC)
        self._up.set()

    async def _is_ready(self, http: aiohttp.ClientSession) -> bool:
        try:
            async with http.get(f"{self.url}/readyz") as response:
                return response.status == 200
        except (aiohttp.ClientConnectionError, OSError):
            return False


def _free_port() -> int:
    """A port that stays ours between two processes: no outgoing connection is given one so low."""
    while True:
        port = random.SystemRandom().randrange(*PORTS)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
