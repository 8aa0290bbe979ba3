"""A held model server, and a provider that asks it."""

from collections.abc import AsyncIterator

import pytest

from tenuto.agent.providers.provider import HttpProvider
from tests.providers.made import chat
from tests.support.model_server import ModelServer

KEY = "house-secret-1234567890"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def provider(server: ModelServer) -> AsyncIterator[HttpProvider]:
    provider = chat("house", server.url, KEY)
    yield provider
    await provider.close()
