"""The nodes of a history: real servers, each with its own bad way to one PostgreSQL."""

import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.support.cluster import NAMES, TenutoCluster
from tests.support.postgres import Server, database_url, folder_for_all, fresh_database, started
from tests.support.proxy import Proxy

LEASE_SECONDS = 10.0


class Nodes(NamedTuple):
    cluster: TenutoCluster
    postgres: Server
    ways: Mapping[str, Proxy]
    """By the name of the node that goes there."""


@asynccontextmanager
async def nodes(
    folder: Path, count: int, random: Random, *, model_url: str, env: Mapping[str, str]
) -> AsyncGenerator[Nodes, None]:
    async with AsyncExitStack() as stack:
        place = folder_for_all()
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        postgres = started(place, crashes=True)
        stack.callback(postgres.stop)
        url = await fresh_database(postgres.url, "history")
        ways = {
            name: await stack.enter_async_context(Proxy([postgres.port], Random(random.random())))
            for name in NAMES[:count]
        }
        cluster = TenutoCluster(
            folder,
            database=url,
            nodes=count,
            model_url=model_url,
            lease_seconds=LEASE_SECONDS,
            env=env,
            ways={name: _through(way) for name, way in ways.items()},
        )
        await stack.enter_async_context(cluster)
        yield Nodes(cluster, postgres, ways)


def _through(way: Proxy) -> str:
    return database_url(f"postgresql://postgres@127.0.0.1:{way.port}/any", "history")
