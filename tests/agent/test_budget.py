"""What a run costs is looked at as it is told, and what the provider had kept costs less."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tenuto.client import Client
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

PRICED = """
[limits]
cost_usd = 2.0

[[providers]]
name = "openai"
kind = "openai"

[[providers.models]]
id = "test-model"
price = { input = 2.0, output = 4.0, cache_read = 0.5 }
"""


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
async def tenuto(model: ModelServer, tmp_path: Path) -> AsyncIterator[Client]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "tenuto.toml").write_text(PRICED)
    async with TenutoServer(tmp_path, model_url=model.url) as server, server.client() as client:
        yield client


async def test_an_answer_that_goes_on_after_its_cost_limit_is_ended(
    model: ModelServer, tenuto: Client
) -> None:
    session = await tenuto.create_session()
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await exchange.chunk({"usage": {"prompt_tokens": 1_000_000, "completion_tokens": 1}})
    await exchange.text(" and more")
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("failed", "budget")
    assert ended.usage.cost_usd == 2.000004
    messages = (await session.messages()).messages
    assert messages[-1].text() == "Half and more"


async def test_an_answer_that_is_over_is_kept_whatever_it_cost(
    model: ModelServer, tenuto: Client
) -> None:
    session = await tenuto.create_session()
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.text("All")
    await exchange.chunk({"usage": {"prompt_tokens": 9_000_000, "completion_tokens": 0}})
    await exchange.finish()
    ended = await run.wait()
    assert (ended.status, ended.usage.cost_usd) == ("completed", 18.0)


async def test_input_that_the_provider_had_kept_costs_what_is_set_for_it(
    model: ModelServer, tenuto: Client
) -> None:
    session = await tenuto.create_session()
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.text("Yes")
    details = {"cached_tokens": 400_000}
    usage = {"prompt_tokens": 500_000, "completion_tokens": 0, "prompt_tokens_details": details}
    await exchange.chunk({"choices": [], "usage": usage})
    await exchange.finish()
    # 100,000 at 2 dollars a million, and 400,000 at half a dollar.
    assert (await run.wait()).usage.cost_usd == 0.4
