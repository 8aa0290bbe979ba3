"""A model that the test holds, a real server, and the command as a real process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.support.model_server import ModelServer
from tests.support.server import TOKEN, TenutoServer

SECONDS = 30.0


class Command:
    """A `tenuto` that runs; what it has said so far, and how it ends."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.out = b""
        self.err = b""
        self._changed = asyncio.Event()
        streams = ((process.stdout, "out"), (process.stderr, "err"))
        self._readers = [
            asyncio.create_task(self._read(stream, name)) for stream, name in streams if stream
        ]

    async def says(self, text: str, where: str = "out") -> None:
        """Wait until it has written this."""
        async with asyncio.timeout(SECONDS):
            while text.encode() not in getattr(self, where):
                assert not all(reader.done() for reader in self._readers), (self.out, self.err)
                self._changed.clear()
                await self._changed.wait()

    async def ends(self) -> int:
        """Its exit code, when all that it said is there."""
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*self._readers)
            return await self.process.wait()

    async def give(self, text: str) -> None:
        """On its standard input, to the end."""
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.close()

    async def _read(self, stream: asyncio.StreamReader, name: str) -> None:
        while piece := await stream.read(65536):
            setattr(self, name, getattr(self, name) + piece)
            self._changed.set()
        self._changed.set()


class Start(Protocol):
    async def __call__(
        self, *words: str, env: dict[str, str] | None = None, **streams: Any
    ) -> Command: ...


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
async def server(model: ModelServer, tmp_path: Path) -> AsyncIterator[TenutoServer]:
    async with TenutoServer(tmp_path, model_url=model.url) as server:
        yield server
        # Shown only if the test fails.
        sys.stdout.write(server.log())


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts commands that find the server by its data folder; ends those that are left."""
    started: list[asyncio.subprocess.Process] = []
    clean = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TENUTO_DATA": str(tmp_path / "data"),
        "TENUTO_TOKEN": TOKEN,
    }

    async def begin(*words: str, env: dict[str, str] | None = None, **streams: Any) -> Command:
        program: Sequence[str] = (sys.executable, "-m", "tenuto", *words)
        pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": -1, "stderr": -1, **streams}
        process = await asyncio.create_subprocess_exec(
            *program, env=clean if env is None else env, cwd=tmp_path, **pipes
        )
        started.append(process)
        return Command(process)

    yield begin
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.wait()
