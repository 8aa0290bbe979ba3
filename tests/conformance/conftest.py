"""The stores under test."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tenuto.ports.store import Sink, Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.postgres import Durability, PostgresStore
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.by_lot import ByLot, NodeEars, ToldInOrder
from tests.conformance.driven import make_workspace
from tests.conformance.listener import Listener
from tests.support.postgres import emptied_database


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(params=["memory", "sqlite", "postgres", "postgres-two"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, listener: Listener, anyio_backend: str
) -> AsyncIterator[Store]:
    match request.param:
        case "memory":
            opened: list[Store] = [MemoryStore(listener)]
        case "sqlite":
            opened = [SqliteStore(tmp_path / "tenuto.db", listener)]
        case "postgres":
            opened = await on_postgres(request, [listener])
        case _:
            together = ToldInOrder(listener)
            ears = [NodeEars(together), NodeEars(together)]
            opened = await on_postgres(request, ears)
    for one in opened:
        await one.open()
    lot: Any = ByLot(opened, request.node.name)
    store: Store = opened[0] if len(opened) == 1 else lot
    await make_workspace(store)
    listener.heard.clear()
    yield store
    if len(opened) == 2:
        await ears[0].heard_all_that(ears[1])
        await ears[1].heard_all_that(ears[0])
    for one in opened:
        await one.close()


async def on_postgres(request: pytest.FixtureRequest, sinks: Sequence[Sink]) -> list[Store]:
    """A store for each sink, all on one empty database."""
    server: str = request.getfixturevalue("postgres_url")
    url = await emptied_database(server, "conformance")
    return [PostgresStore(url, sink, durability=Durability.TESTS_ONLY) for sink in sinks]
