"""Whatever a run grows to, its next request fits into the window of its model."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.contract.house import House, Json, open_house
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio

WINDOW = 8_000
SETTINGS = f"""
[[providers]]
name = "lab"
kind = "openai"
base_url = "MODEL_URL"
models = [{{ id = "test-model", context_window = {WINDOW}, capabilities = ["tools"] }}]
"""


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[House]:
    (tmp_path / "data").mkdir(mode=0o700)
    env = {"TENUTO_TITLES": "off", "TENUTO_PERMISSIONS": "allow"}
    async with open_house(tmp_path / "data", env, settings_file=SETTINGS) as house:
        yield house


def told(exchange: Exchange) -> int:
    """Bytes of all that is said in the request."""
    return len(json.dumps(exchange.body["messages"]))


def is_summary(exchange: Exchange) -> bool:
    return "tools" not in exchange.body


async def look(exchange: Exchange, n: int) -> None:
    """Call a tool that gives much."""
    await exchange.text(f"I look, for the {n}th time.")
    await exchange.tool_call(0, f"c{n}", "shell")
    command = f"python3 -c \"print('{n} ' * 2500)\""
    await exchange.tool_input(0, json.dumps({"command": command}))
    await exchange.finish("tool_calls")


async def compactions(house: House, session_id: str) -> list[Json]:
    found: list[Json] = (await house.api.get(f"/api/sessions/{session_id}"))["compactions"]
    return found


async def test_a_long_run_is_summed_up_in_the_middle_of_its_answer(small: House) -> None:
    session = await small.session()
    run, exchange = await small.held(session, "Count all the sheep")
    summaries = 0
    for n in range(40):
        while is_summary(exchange):
            summaries += 1
            # However long the run, what is to be summed up fits as well.
            assert told(exchange) < WINDOW * 4
            await exchange.say(f"Goal: sheep. Looked {n} times.")
            exchange = await small.request()
        assert told(exchange) < WINDOW * 4
        await look(exchange, n)
        exchange = await small.request()
        if summaries:
            break
    assert summaries, "it was never summed up"
    # What the user wants is known word for word, though the prompt is far behind.
    assert "Count all the sheep" in str(exchange.messages[0])
    assert "Goal: sheep" in str(exchange.messages[0])
    await exchange.say("There are none.")
    ended = await small.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("completed", "end_turn")
    row = await _compacted(small, run)
    _, answer = await small.messages(session)
    assert row["through_message_id"] == answer["id"]
    assert row["through_part_id"] in [part["id"] for part in answer["parts"]]
    # People still see everything.
    assert len([p for p in answer["parts"] if p["type"] == "tool"]) == n + 1


async def _compacted(house: House, run: Json) -> Json:
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        return (await stream.until("session.compacted")).data


async def test_what_is_refused_for_its_length_is_asked_again_with_less(small: House) -> None:
    session = await small.session()
    for n in range(3):
        run, exchange = await small.held(session, f"{n} " * 2_000)
        await exchange.say("Yes.")
        await small.ended(run["id"])
    run, exchange = await small.held(session, "And now?")
    words = "This model's maximum context length is 4096 tokens."
    before = told(exchange)
    await exchange.fail(400, words, code="context_length_exceeded")
    exchange = await small.request()
    assert is_summary(exchange)
    await exchange.say("They counted.")
    exchange = await small.request()
    assert told(exchange) < 0.7 * before
    assert "They counted." in str(exchange.messages[0])
    assert exchange.prompt == "And now?"
    await exchange.fail(400, words, code="context_length_exceeded")
    exchange = await small.request()
    await exchange.say("Now it fits.")
    ended = await small.ended(run["id"])
    assert ended["status"] == "completed"


async def test_a_summary_that_fails_ends_nothing(small: House) -> None:
    session = await small.session()
    for n in range(4):
        run, exchange = await small.held(session, f"{n} " * 3_500)
        while is_summary(exchange) and "sum up conversations" in str(exchange.messages[0]):
            await exchange.fail(400, "no summaries today")
            exchange = await small.request()
        assert told(exchange) < WINDOW * 4
        await exchange.say("Yes.")
        ended = await small.ended(run["id"])
        assert ended["status"] == "completed"


async def test_one_prompt_that_is_larger_than_the_window_is_cut(small: House) -> None:
    session = await small.session()
    run, exchange = await small.held(session, "long " * 20_000)
    assert told(exchange) < WINDOW * 4
    assert "left out to save space" in exchange.prompt
    await exchange.say("That was long.")
    ended = await small.ended(run["id"])
    assert ended["status"] == "completed"


async def test_without_a_price_a_cost_limit_is_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    text = "[limits]\ncost_usd = 1.0\n" + SETTINGS
    async with open_house(tmp_path / "data", {}, settings_file=text) as house:
        session = await house.session()
        ended = await house.ended((await house.prompt(session, "Hi"))["id"])
    assert (ended["status"], ended["reason"]) == ("failed", "budget")
    assert "price of this model is not known" in ended["error"]["message"]
    assert not house.model.exchanges
