"""One server for each module: these tests do not kill it."""

import sys
from collections.abc import AsyncIterator

import pytest

from tests.api.contract.house import Api, House, open_house
from tests.support.model_server import ModelServer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    """Of the module's server; a module may say others."""
    return {}


@pytest.fixture(scope="module")
async def shared_house(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("house"), settings) as house:
        yield house


@pytest.fixture
async def house(shared_house: House) -> AsyncIterator[House]:
    yield shared_house
    # Shown only if the test fails.
    sys.stdout.write(shared_house.server.log()[-5000:])
    await shared_house.tidy()


@pytest.fixture
def api(house: House) -> Api:
    return house.api


@pytest.fixture
def model(house: House) -> ModelServer:
    return house.model


@pytest.fixture
async def session_id(house: House) -> str:
    return await house.session()
