"""The processes that a measurement needs: the model server, Tenuto, and readers."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from bench.reader import TOKEN

ROOT = Path(__file__).parent.parent


@contextmanager
def upstream() -> Iterator[int]:
    """A model server; gives its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.upstream"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


class Tenuto:
    """The real server on a data folder of its own."""

    def __init__(self, model_port: int, folder: Path, **more: str) -> None:
        """`more` is for its environment."""
        self._folder = folder
        self._environment = {
            **os.environ,
            "OPENAI_API_KEY": "bench",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/v1",
            "TENUTO_TITLES": "off",
            "TENUTO_DISCOVER": "off",
            "TENUTO_TOKEN": TOKEN,
            "TENUTO_LOG_LEVEL": "warning",
            **more,
        }
        self.port = 0
        self.started_in = 0.0

    @property
    def database(self) -> Path:
        return self._folder / "tenuto.sqlite3"

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        began = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tenuto", "serve", "--port", "0", "--data", str(self._folder)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self.started_in = time.monotonic() - began
        if "ready: http" not in line:
            raise SystemExit("Tenuto did not start")
        self.port = int(line.split("://127.0.0.1:")[1].split("/")[0])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def megabytes(self) -> float:
        """Resident memory of the process."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def tenuto(model_port: int) -> Iterator[Tenuto]:
    with tempfile.TemporaryDirectory(prefix="tenuto-bench-") as folder:
        server = Tenuto(model_port, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


class Metronomes:
    """One on each core, while the block runs: how often the machine itself stood still."""

    def __enter__(self) -> Self:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "bench.metronome", str(core)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for core in sorted(os.sched_getaffinity(0))
        ]
        return self

    def __exit__(self, *_: object) -> None:
        told = [json.loads(process.communicate()[0]) for process in self._processes]
        seconds = sum(one["seconds"] for one in told)
        late = [1000 * took for one in told for took in one["late"]]
        self.share = sum(late) / 1000 / seconds
        """Of the time of a core."""
        self.longest_ms = max(late, default=0.0)
        self.note = "" if all(one["first"] for one in told) else "without priority, so ours too"


class Reader:
    """A process that reads streams; started when told."""

    def __init__(self, kind: str, port: int, *, runs: int, tokens: int, rate: float = 0) -> None:
        numbers = [str(n) for n in (port, runs, tokens, rate)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.reader", kind, *numbers],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None and self._process.stdin is not None
        self._out, self._in = self._process.stdout, self._process.stdin
        if self._out.readline() != "ready\n":
            raise SystemExit(f"the {kind} reader did not get ready")

    def go(self) -> "Reader":
        self._in.write("go\n")
        self._in.flush()
        return self

    def result(self) -> dict[str, Any]:
        line = self._out.readline()
        self._process.wait()
        if not line:
            raise SystemExit("a reader failed")
        found: dict[str, Any] = json.loads(line)
        return found
