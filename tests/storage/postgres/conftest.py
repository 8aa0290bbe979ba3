"""Stores on a PostgreSQL of the tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tenuto.ports.store import Sink
from tenuto.storage.postgres import Durability, PostgresStore
from tests.conformance.listener import Listener
from tests.support.postgres import emptied_database


@pytest.fixture
async def database(postgres_url: str, anyio_backend: str) -> str:
    """The address of an empty database."""
    return await emptied_database(postgres_url, "alone")


@asynccontextmanager
async def on(url: str, sink: Sink | None = None, **options: Any) -> AsyncIterator[PostgresStore]:
    """A store that is open."""
    known = {"durability": Durability.TESTS_ONLY, **options}
    store = PostgresStore(url, sink or Listener(), **known)
    await store.open()
    try:
        yield store
    finally:
        await store.close()
