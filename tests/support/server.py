"""The real server as a process of its own, to be started, killed and started again."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import aiohttp
import anyio
import psutil  # type: ignore[import-untyped]

from tenuto.client import Client, Patience
from tests.support.raw import RawApi

START_SECONDS = 30.0
STOP_SECONDS = 40.0
TOKEN = "test-token-of-no-value"
QUIET = {
    "TENUTO_TITLES": "off",
    "TENUTO_DISCOVER": "off",
    "TENUTO_EMBEDDED_ENABLED": "off",
}
"""No request reaches the model server but the test's own."""


class TenutoServer:
    """Listens from `async with` to its end, on one port and one data folder through restarts."""

    def __init__(
        self,
        folder: Path,
        *,
        model_url: str | None,
        env: Mapping[str, str] | None = None,
        flags: Sequence[str] = (),
        node: str = "",
    ) -> None:
        self.token = TOKEN
        self.port = free_port()
        self.data = folder / "data" / node
        self._folder = folder
        self._log = folder / f"server{node}.log"
        self._flags = list(flags)
        provider = {"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": model_url} if model_url else {}
        self.env: dict[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TENUTO_TOKEN": TOKEN,
            **QUIET,
            **provider,
            **(env or {}),
        }
        """Read at each start: a test may change it in between."""
        self.program = "tenuto"
        """The module that is run."""
        self._process: subprocess.Popen[bytes] | None = None
        self._offspring: list[psutil.Process] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def raw(self) -> RawApi:
        return RawApi(self.url, self.token)

    def client(self, *, patience: Patience | None = None) -> Client:
        return Client(self.url, self.token, patience=patience)

    def folder_of(self, path: str) -> Path:
        """The folder of a workspace with this path."""
        return Path(path)

    def log(self) -> str:
        """All that the server has written, through every start."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start and wait until it is ready. Fails with the log if it never is."""
        await self.start_nowait()
        await self.ready()

    async def start_nowait(self) -> None:
        """Start, and do not wait until it is ready."""
        assert self._process is None, "already running"
        self._process = await anyio.to_thread.run_sync(self._spawn)

    async def ready(self) -> None:
        async with aiohttp.ClientSession() as http:
            with anyio.fail_after(START_SECONDS):
                while not await self._is_ready(http):
                    code = self._process.poll() if self._process else None
                    assert code is None, f"the server ended with {code}:\n{self.log()}"
                    await anyio.sleep(0.02)

    async def kill(self) -> None:
        """SIGKILL, as a crash would."""
        self._signal(signal.SIGKILL)
        await self._ended()

    async def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.signal_stop()
        return await self.wait()

    def signal_stop(self) -> None:
        """SIGTERM, and do not wait for the end."""
        self._signal(signal.SIGTERM)

    async def wait(self) -> int:
        """The exit code, when the process has ended."""
        with anyio.fail_after(STOP_SECONDS):
            return await self._ended()

    def freeze(self) -> None:
        """SIGSTOP: the whole process stands still, as on a machine that is suspended."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def close(self) -> None:
        """End the server, and whatever its tools left behind."""
        with anyio.CancelScope(shield=True):
            if self._process is not None:
                await self.kill()
            for process in self._offspring:
                if process.is_running():
                    process.kill()

    def _spawn(self) -> subprocess.Popen[bytes]:
        self._folder.mkdir(parents=True, exist_ok=True)
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--data", str(self.data)]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", self.program, "serve", *where, *self._flags],
                env=self.env,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    async def _is_ready(self, http: aiohttp.ClientSession) -> bool:
        try:
            async with http.get(f"{self.url}/readyz") as response:
                return response.status == 200
        except aiohttp.ClientConnectionError:
            return False

    async def _ended(self) -> int:
        assert self._process is not None, "not started"
        process = self._process
        code = await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        self._process = None
        return code

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, "not started"
        try:
            self._offspring += psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return  # It has ended by itself, and took its children along.
        self._process.send_signal(number)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
