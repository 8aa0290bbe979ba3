"""A newer book of models, from an address of its own."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest
from aiohttp import web

from tenuto.agent.providers.catalogue import dataset, refresh
from tenuto.agent.providers.catalogue.almanac import Almanac
from tenuto.agent.providers.catalogue.catalogue import Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.refresh import NotFetched, Refresher

pytestmark = pytest.mark.anyio

OPENAI = "https://api.openai.com/v1"
ROW = {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 4321}
TABLE = json.dumps({f"new-{n}": ROW for n in range(dataset.FEWEST)}).encode()


class TableServer:
    """Gives the table as the test set it."""

    def __init__(self) -> None:
        self.body = TABLE
        self.status = 200
        self.asked = asyncio.Event()
        self.times = 0
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.times += 1
        self.asked.set()
        return web.Response(body=self.body, status=self.status)


@pytest.fixture
async def server() -> AsyncIterator[TableServer]:
    table, app = TableServer(), web.Application()
    app.router.add_get("/main/table.json", table.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    table.url = f"http://127.0.0.1:{runner.addresses[0][1]}/main/table.json"
    yield table
    await runner.cleanup()


class Tomorrow(datetime):
    """The shipped book may be of today: then one of today would be no newer."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2999, 1, 1, tzinfo=tz)


async def test_what_was_fetched_counts_from_then_on(
    server: TableServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "not-there-yet"
    almanac = Almanac(folder)
    seller = almanac.seller(OPENAI)
    assert seller.facts("new-7") is None
    monkeypatch.setattr(refresh, "datetime", Tomorrow)
    await Refresher(server.url, folder, almanac).refresh()
    facts = seller.facts("new-7")
    assert facts is not None and facts.window == 4321
    assert os.listdir(folder) == ["models.json"]


@pytest.mark.parametrize(
    ("status", "body"), [(404, TABLE), (200, b""), (200, b"{}"), (200, TABLE[:-9])]
)
async def test_what_is_no_table_changes_nothing(
    server: TableServer, tmp_path: Path, status: int, body: bytes
) -> None:
    (tmp_path / "models.json").write_bytes(b"before")
    server.status, server.body = status, body
    with pytest.raises(NotFetched):
        await Refresher(server.url, tmp_path, Almanac(tmp_path)).refresh()
    assert (tmp_path / "models.json").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["models.json"]


async def test_a_table_without_end_is_left(
    server: TableServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "MOST_BYTES", len(TABLE) - 1)
    with pytest.raises(NotFetched, match="larger"):
        await Refresher(server.url, tmp_path, Almanac(tmp_path)).refresh()


async def test_nobody_is_asked_twice_a_day(server: TableServer, tmp_path: Path) -> None:
    kept = tmp_path / "models.json"
    kept.write_bytes(b"young")
    refresher = Refresher(server.url, tmp_path, Almanac(tmp_path))
    refresher.begin_if_due()
    await refresher.close()
    assert server.times == 0
    yesterday = time.time() - refresh.DAY_SECONDS - 1
    os.utime(kept, (yesterday, yesterday))
    refresher.begin_if_due()
    refresher.begin_if_due()
    await server.asked.wait()
    await refresher.close()
    refresher.begin_if_due()
    await refresher.close()
    assert server.times == 1


async def test_a_server_fetches_only_if_it_may_and_when_models_are_asked_for(
    server: TableServer, tmp_path: Path
) -> None:
    forbidden = Catalogue(CatalogueConfig(models_dir=tmp_path / "a", local=()))
    allowed = Catalogue(
        CatalogueConfig(models_dir=tmp_path / "b", local=(), refresh_from=server.url)
    )
    await forbidden.list()
    await forbidden.close()
    assert server.times == 0
    await allowed.list()
    await server.asked.wait()
    await allowed.close()
