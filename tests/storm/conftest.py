"""A model server, a real Tenuto server that asks it, and a seed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenuto.client import Client
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.seed import seed_of
from tests.support.server import TenutoServer


@pytest.fixture
def seed() -> int:
    return seed_of("storm")


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
async def server(model: ModelServer, tmp_path: Path) -> AsyncIterator[TenutoServer]:
    async with TenutoServer(tmp_path, model_url=model.url) as server:
        yield server


@pytest.fixture
async def tenuto(server: TenutoServer) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


@pytest.fixture
def raw(server: TenutoServer) -> RawApi:
    return server.raw
