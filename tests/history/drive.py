"""Makes a history: the real server, a model, a bad network, many clients, and a nemesis."""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random

from tests.history.nemesis import Nemesis
from tests.history.proxy import Proxy
from tests.history.record import FORMAT, History, Record, now
from tests.support.server import TenutoServer

CREWS = 2
AFTERWARDS_SECONDS = 240.0
"""How long what was begun may take to end, and to be read once more."""


async def make_history(path: Path, *, seed: int, seconds: float, stages: int) -> None:
    """Write the record of a history of this many seconds; its end takes a little longer."""
    with tempfile.TemporaryDirectory(prefix="tenuto-history-") as folder:
        parts = [Path(folder) / f"part{n}" for n in range(CREWS + 1)]
        await _play(Path(folder), parts, seed=seed, seconds=seconds, stages=stages)
        _join(parts, path)


async def _play(
    folder: Path, parts: Sequence[Path], *, seed: int, seconds: float, stages: int
) -> None:
    random = Random(seed)
    record = Record(parts[0])
    record.write(History(format=FORMAT, seed=seed, seconds=seconds))
    async with AsyncExitStack() as stack:
        model_url = await stack.enter_async_context(_model())
        server = TenutoServer(folder / "server", model_url=model_url)
        await stack.enter_async_context(server)
        proxy = await stack.enter_async_context(Proxy(server.port, Random(random.random())))
        crews = [
            await stack.enter_async_context(
                _crew(n, part, proxy.port, seed=seed, stages=stages, until=now() + seconds)
            )
            for n, part in enumerate(parts[1:])
        ]
        await Nemesis(server, proxy, record, random).rage(seconds)
        async with asyncio.timeout(AFTERWARDS_SECONDS):
            codes = [await crew.wait() for crew in crews]
    record.close()
    if any(codes):
        raise RuntimeError(f"the clients ended with {codes}")


@asynccontextmanager
async def _model() -> AsyncGenerator[str, None]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.history.model", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        yield (await process.stdout.readline()).decode().strip()
    finally:
        await _end(process)


@asynccontextmanager
async def _crew(
    number: int, part: Path, port: int, *, seed: int, stages: int, until: float
) -> AsyncGenerator[asyncio.subprocess.Process, None]:
    options = {
        "name": f"crew{number}",
        "url": f"http://127.0.0.1:{port}",
        "record": str(part),
        "seed": str(seed + 1 + number),
        "stages": str(stages),
        "until": str(until),
    }
    command = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.history.crew", *command
    )
    try:
        yield process
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
