"""A model server, a real Tenuto server that asks it, and a client."""

import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any

import anyio
import pytest

from tenuto.client import Client, SessionHandle
from tests.support.cluster import serving
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer

TEST_SECONDS = 50.0
"""Under the limit of pytest itself, which cannot clean up after an async test that hangs."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Give each async test a limit within which its servers are still closed."""
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = _limited(pyfuncitem.obj)


@pytest.fixture
def model_list() -> list[Any]:
    """What the model server lists; a test may say others."""
    return ["test-model"]


@pytest.fixture
async def model(model_list: list[Any]) -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        model.models = model_list
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
    async with serving(tmp_path, model_url=model.url, env=server_env) as server:
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


def _limited(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(test)
    async def limited(**fixtures: Any) -> None:
        with anyio.fail_after(TEST_SECONDS):
            await test(**fixtures)

    return limited
