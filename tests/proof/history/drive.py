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
from tests.proof.history.node_nemesis import NodeNemesis
from tests.proof.history.nodes import LEASE_SECONDS, nodes
from tests.proof.history.record import FORMAT, History, Record, now
from tests.support.proxy import Proxy
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
    nodes: int = 0
    """So many on one PostgreSQL; 0: one server without."""


async def make_history(path: Path, plan: Plan) -> None:
    """Write the record of a history, and beside it what the servers said."""
    with tempfile.TemporaryDirectory(prefix="tenuto-history-") as folder:
        parts = [Path(folder) / f"part{n}" for n in range(PROCESSES + 1)]
        await _play(Path(folder), parts, plan)
        _join(parts, path)
        for log in (Path(folder) / "server").glob("*.log"):
            shutil.copy(log, path.with_name(f"{path.name}.{log.name}"))


async def _play(folder: Path, parts: Sequence[Path], plan: Plan) -> None:
    random = Random(plan.seed)
    record = Record(parts[0])
    lease = LEASE_SECONDS if plan.nodes else None
    record.write(History(format=FORMAT, seed=plan.seed, seconds=plan.seconds, lease=lease))
    async with AsyncExitStack() as stack:
        model_url = await stack.enter_async_context(_model())
        nemesis = await stack.enter_async_context(
            _mistreated(folder / "server", plan, record, random, model_url)
        )
        processes = [
            await stack.enter_async_context(_clients(n, part, nemesis.proxy.port, plan))
            for n, part in enumerate(parts[1:])
        ]
        until = now() + plan.seconds

        def enough() -> bool:
            return now() > until and sum(clients.seen for clients in processes) >= plan.events

        await nemesis.rage(enough)
        async with asyncio.timeout(AFTERWARDS_SECONDS):
            codes = [await clients.end() for clients in processes]
    record.close()
    if any(codes):
        raise RuntimeError(f"the clients ended with {codes}")


@asynccontextmanager
async def _mistreated(
    folder: Path, plan: Plan, record: Record, random: Random, model_url: str
) -> AsyncGenerator[Nemesis, None]:
    """The server or the nodes, the bad network before them, and who spoils both."""
    if not plan.nodes:
        server = TenutoServer(folder, model_url=model_url, env=TELL)
        async with server, Proxy([server.port], Random(random.random())) as proxy:
            yield Nemesis(server, proxy, record, random)
        return
    async with (
        nodes(folder, plan.nodes, random, model_url=model_url, env=TELL) as all_of_them,
        Proxy([n.port for n in all_of_them.cluster.nodes], Random(random.random())) as proxy,
    ):
        yield NodeNemesis(
            all_of_them.cluster,
            proxy,
            record,
            random,
            postgres=all_of_them.postgres,
            ways=all_of_them.ways,
            lease_seconds=LEASE_SECONDS,
        )


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
