"""The bill: by day and model, and nothing vanishes from it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.api.contract.house import Api, House, Json, open_house, refused
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

PRICED = """
[[providers]]
name = "lab"
kind = "openai"
base_url = "MODEL_URL"
models = [{ id = "test-model", price = { input = 1000.0, output = 2000.0 } }]
"""


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


async def usage(api: Api, query: str = "") -> list[Json]:
    days: list[Json] = (await api.get(f"/api/usage{query}"))["days"]
    return days


async def test_every_run_is_on_the_bill_of_its_day(house: House) -> None:
    assert await usage(house.api) == []
    session = await house.session()
    run, exchange = await house.held(session, "one two")
    await exchange.usage(100, 20, 5)
    await exchange.text("x")
    await exchange.finish()
    ended = await house.ended(run["id"])
    await house.answered(session, "a b c", "four words of answer")
    (row,) = await usage(house.api)
    assert row == {
        "day": ended["finished_at"][:10],
        "model": "openai/test-model",
        "kind": "run",
        "runs": 2,
        "input_tokens": 103,
        "output_tokens": 24,
        "reasoning_tokens": 5,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "exact": True,
        "cost_usd": None,
    }
    assert row["day"] in (datetime.now(UTC).date().isoformat(), ended["accepted_at"][:10])
    assert await usage(house.api, "?days=1") == [row]


async def test_a_deleted_session_stays_on_the_bill_also_after_a_crash(house: House) -> None:
    session = await house.session()
    await house.answered(session, "hi", "Hello.")
    before = await usage(house.api)
    run, exchange = await house.held(session, "more")
    await exchange.text("Some words that cost something")
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        await stream.until("part.delta")
    assert (await house.api.call("DELETE", f"/api/sessions/{session}")).status == 204
    (after,) = await usage(house.api)
    assert (before[0]["runs"], after["runs"]) == (1, 2)
    assert after["output_tokens"] > before[0]["output_tokens"]
    assert after["exact"] is False
    await house.server.kill()
    await house.server.start()
    assert await usage(house.api) == [after]


async def test_a_prompt_that_never_ran_is_not_on_it(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "first")
    waiting = await house.prompt(session, "second")
    assert (await house.api.call("DELETE", f"/api/runs/{waiting['id']}")).status == 204
    await exchange.say("Hello.")
    await house.ended(run["id"])
    assert [row["runs"] for row in await usage(house.api)] == [1]


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_a_workspace_has_a_bill_of_its_own(house: House, tmp_path: Path) -> None:
    made = await house.api.post("/api/workspaces", {"name": "Two", "path": str(tmp_path)})
    workspace = made.body["id"]
    await house.answered(await house.session(), "hi", "Hello.")
    assert await usage(house.api, f"?workspace={workspace}") == []
    session = (await house.api.post("/api/sessions", {"workspace": workspace})).body["id"]
    await house.answered(session, "hi", "Hello.")
    assert [row["runs"] for row in await usage(house.api, f"?workspace={workspace}")] == [1]
    assert [row["runs"] for row in await usage(house.api)] == [2]
    await house.api.call("DELETE", f"/api/workspaces/{workspace}")
    assert [row["runs"] for row in await usage(house.api)] == [2]


async def test_costs_add_up(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}, settings_file=PRICED) as house:
        session = await house.session()
        for _ in range(2):
            run, exchange = await house.held(session, "hi")
            await exchange.usage(100, 10)
            await exchange.text("x")
            await exchange.finish()
            await house.ended(run["id"])
        (row,) = await usage(house.api)
        assert row["cost_usd"] == pytest.approx(0.24)


@pytest.mark.parametrize("days", ["0", "367", "-1", "x", "1.5", "9999999"])
async def test_a_strange_number_of_days_is_refused(house: House, days: str) -> None:
    refused(await house.api.call("GET", f"/api/usage?days={days}"), 422, "invalid_input")


async def test_a_blind_pane_is_on_the_bill_without_its_model_until_the_vote(house: House) -> None:
    models = ["openai/test-model", "openai/test-model"]
    made = await house.api.post("/api/comparisons", {"models": models})
    assert made.status == 201, made
    panes = [pane["session_id"] for pane in made.body["panes"]]
    for pane in panes:
        await house.answered(pane, "hi", "Hello.")
    (hidden,) = await usage(house.api)
    assert (hidden["model"], hidden["runs"], hidden["cost_usd"]) == (None, 2, None)
    path = f"/api/comparisons/{made.body['id']}/vote"
    assert (await house.api.post(path, {"winner": "tie"})).status == 200
    (shown,) = await usage(house.api)
    assert shown == {**hidden, "model": "openai/test-model"}
