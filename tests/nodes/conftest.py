"""Two nodes, the model that they ask, and a way to speak to each of them."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.nodes.stage import Stage
from tests.support.cluster import TenutoCluster
from tests.support.postgres import Server, dropped_database, fresh_database


@pytest.fixture
def settings() -> dict[str, str]:
    """Of both nodes; a test may say others."""
    return {}


@pytest.fixture
async def stage(
    postgres_url: str, tmp_path: Path, settings: dict[str, str]
) -> AsyncIterator[Stage]:
    url = await fresh_database(postgres_url, "nodes")
    async with _opened(url, tmp_path, env=settings) as stage:
        yield stage
    await dropped_database(postgres_url, "nodes")


@pytest.fixture
async def mortal_stage(crashing_postgres: Server, tmp_path: Path) -> AsyncIterator[Stage]:
    """On a PostgreSQL of its own, that may be stopped and killed."""
    url = await fresh_database(crashing_postgres.url, "nodes")
    async with _opened(url, tmp_path) as stage:
        yield stage


@asynccontextmanager
async def _opened(url: str, folder: Path, **how: Any) -> AsyncIterator[Stage]:
    async with Stage.model_of_both() as model:
        cluster = TenutoCluster(folder, database=url, model_url=model.url, **how)
        async with cluster:
            yield Stage(cluster, model)
            # Shown only if the test fails.
            sys.stdout.write(cluster.log()[-20_000:])
