"""A model server, a real Tenuto server that asks it, and a seed that a failing storm prints."""

import os
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenuto.client import Client
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer


@pytest.fixture
def seed() -> int:
    """Told in the report of a test that fails; STORM_SEED makes the same choices again."""
    seed = int(os.environ.get("STORM_SEED") or random.SystemRandom().randrange(2**32))
    sys.stdout.write(f"STORM_SEED={seed}\n")
    return seed


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
