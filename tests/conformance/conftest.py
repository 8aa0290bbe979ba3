"""The stores under test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import make_workspace
from tests.conformance.listener import Listener


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, listener: Listener, anyio_backend: str
) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "memory":
        opened = MemoryStore(listener)
    else:
        opened = SqliteStore(tmp_path / "tenuto.db", listener)
    await opened.open()
    await make_workspace(opened)
    listener.heard.clear()
    yield opened
    await opened.close()
