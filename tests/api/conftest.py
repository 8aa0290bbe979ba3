"""A model server, a real Tenuto server that asks it, and a client."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenuto.client import Client, SessionHandle
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
def server_env() -> dict[str, str]:
    """Settings of the server under test; a test module may say others."""
    return {}


@pytest.fixture
async def server(
    model: ModelServer, tmp_path: Path, server_env: dict[str, str]
) -> AsyncIterator[TenutoServer]:
    """Its own process and data for each test, so that a test may kill it."""
    async with TenutoServer(tmp_path, model_url=model.url, env=server_env) as server:
        yield server
        # Shown only if the test fails.
        sys.stdout.write(server.log())


@pytest.fixture
async def tenuto(server: TenutoServer) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


@pytest.fixture
def raw(server: TenutoServer) -> RawApi:
    return server.raw


@pytest.fixture
async def session(tenuto: Client) -> SessionHandle:
    return await tenuto.create_session()
