"""Makes a history: the real server, a model, a bad network, many clients, and a nemesis."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.proof.history.nemesis import Nemesis
from tests.proof.history.proxy import Proxy
from tests.proof.history.record import FORMAT, History, Record, now
from tests.support.server import TenutoServer

PROCESSES = 2
TELL = {"PYTHONFAULTHANDLER": "1"}
"""Should the process die by a signal that we did not send, its log says where it was."""
AFTERWARDS_SECONDS = 240.0
"""How long what was begun may take to end, and to be read once more."""


class Plan(NamedTuple):
    seed: int
    seconds: float
    """At least; what is under way then is seen to its end."""
    sessions: int
    """Sessions at a time in each process of clients."""
    events: int = 0
    """At least so many must have been seen."""


async def make_history(path: Path, plan: Plan) -> None:
    """Write the record of a history."""
    with tempfile.TemporaryDirectory(prefix="tenuto-history-") as folder:
        parts = [Path(folder) / f"part{n}" for n in range(PROCESSES + 1)]
        await _play(Path(folder), parts, plan)
        _join(parts, path)


async def _play(folder: Path, parts: Sequence[Path], plan: Plan) -> None:
    random = Random(plan.seed)
    record = Record(parts[0])
    record.write(History(format=FORMAT, seed=plan.seed, seconds=plan.seconds))
    async with AsyncExitStack() as stack:
        model_url = await stack.enter_async_context(_model())
        server = TenutoServer(folder / "server", model_url=model_url, env=TELL)
        await stack.enter_async_context(server)
        proxy = await stack.enter_async_context(Proxy(server.port, Random(random.random())))
        processes = [
            await stack.enter_async_context(_clients(n, part, proxy.port, plan))
            for n, part in enumerate(parts[1:])
        ]
        until = now() + plan.seconds

        def enough() -> bool:
            return now() > until and sum(clients.seen for clients in processes) >= plan.events

        await Nemesis(server, proxy, record, random).rage(enough)
        async with asyncio.timeout(AFTERWARDS_SECONDS):
            codes = [await clients.end() for clients in processes]
    record.close()
    if any(codes):
        raise RuntimeError(f"the clients ended with {codes}")


@asynccontextmanager
async def _model() -> AsyncGenerator[str, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.proof.history.model", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        await _end(process)


class ClientProcess:
    """A process of clients, and how many events they have seen."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._counting = asyncio.create_task(self._count())
        self.seen = 0

    async def end(self) -> int:
        """Say that it is over; the exit code, when all was seen to its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._counting
        return await self._process.wait()

    async def _count(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.seen = int(line)


@asynccontextmanager
async def _clients(
    number: int, part: Path, port: int, plan: Plan
) -> AsyncGenerator[ClientProcess, None]:
    options = {
        "name": f"clients{number}",
        "url": f"http://127.0.0.1:{port}",
        "record": str(part),
        "seed": str(plan.seed + 1 + number),
        "sessions": str(plan.sessions),
    }
    command = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.proof.history.clients",
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield ClientProcess(process)
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.wait()


def _join(parts: Sequence[Path], path: Path) -> None:
    with path.open("wb") as whole:
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, whole)
