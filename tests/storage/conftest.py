"""A store in a file, and how to make another."""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import make_workspace
from tests.conformance.listener import Listener


@asynccontextmanager
async def opened(path: Path, **options: Any) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, options.pop("sink", Listener()), **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tenuto.db"


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def store(path: Path, listener: Listener, anyio_backend: str) -> AsyncIterator[SqliteStore]:
    async with opened(path, sink=listener) as store:
        await make_workspace(store)
        yield store


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with four megabytes, where the tests may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)):
        pytest.skip("mounting a disk takes root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def make_read_only(disk: Path) -> None:
    assert _mount("-o", "remount,ro", str(disk)) == 0


def make_writable(disk: Path) -> None:
    assert _mount("-o", "remount,rw", str(disk)) == 0


def _mount(*arguments: str) -> int:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode
