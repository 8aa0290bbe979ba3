"""Looking at files and starting children, outside of any coroutine."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def size_of(path: Path) -> int:
    return path.stat().st_size


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def wal_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def child(code: str, path: Path) -> subprocess.Popen[bytes]:
    """A Python process of its own with the database's path as its argument."""
    return subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does; fail if it does not come."""
    with anyio.fail_after(20):
        while not condition():  # noqa: ASYNC110  a thread or a file cannot set our event
            await anyio.sleep(0.002)
