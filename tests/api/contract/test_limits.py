"""Every run ends: by its model, or by a limit that has a name."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.api.contract.house import House, Json, open_house
from tests.support.log import assert_settled
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio

PRICED = """
[limits]
cost_usd = 0.01
[[providers]]
name = "dear"
kind = "openai"
base_url = "MODEL_URL"
api_key = "no-key"
models = [{ id = "test-model", price = { input = 1000.0, output = 2000.0 } }]
"""


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {
        "TENUTO_LIMITS_STEPS": "4",
        "TENUTO_LIMITS_LOOP_REPEATS": "3",
        "TENUTO_LIMITS_STALL_SECONDS": "1",
        "TENUTO_LIMITS_RUN_SECONDS": "4",
    }


async def look(exchange: Exchange, arguments: str = "{}") -> None:
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, arguments)
    await exchange.finish("tool_calls")


async def ended(house: House, run: Json, status: str, reason: str) -> Json:
    found = await house.ended(run["id"])
    assert (found["status"], found["reason"]) == (status, reason), found
    if status == "failed":
        assert found["error"]["code"] == reason
        assert found["error"]["message"]
    else:
        assert found["error"] is None
    await assert_settled(house.api, run["session_id"])
    return found


async def last_message(house: House, run: Json) -> Json:
    return (await house.messages(run["session_id"]))[-1]


@pytest.mark.parametrize(
    ("told", "reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "content_filter")],
)
async def test_a_model_says_why_it_stopped(
    house: House, session_id: str, told: str, reason: str
) -> None:
    # An answer that is cut at a limit that nobody set would be continued.
    run, exchange = await house.held(session_id, options={"max_output_tokens": 9})
    await exchange.text("Hello")
    await exchange.finish(told)
    await ended(house, run, "completed", reason)
    message = await last_message(house, run)
    assert message["finish_reason"] == reason


async def test_a_run_makes_so_many_steps_and_no_more(house: House, session_id: str) -> None:
    run = await house.prompt(session_id)
    for number in range(4):
        await look(await house.request(), f'{{"pattern": "*.{number}"}}')
    await ended(house, run, "completed", "step_limit")
    parts = (await last_message(house, run))["parts"]
    assert [part["state"] for part in parts] == ["done"] * 4
    assert len({part["id"] for part in parts}) == 4


async def test_the_same_call_with_the_same_result_over_and_over_is_a_loop(
    house: House, session_id: str
) -> None:
    run = await house.prompt(session_id)
    for _ in range(3):
        await look(await house.request())
    await ended(house, run, "completed", "loop")


async def test_a_run_takes_so_long_and_no_longer(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)

    async def drip() -> None:
        while exchange.ended == "open":
            await exchange.text("drip ")
            await anyio.sleep(0.25)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drip)
        await exchange.closed()
        tasks.cancel_scope.cancel()
    await ended(house, run, "completed", "time_limit")
    assert (await last_message(house, run))["parts"][0]["text"].startswith("drip drip")


@pytest.mark.failure(28)
@pytest.mark.parametrize("said", ["", "Hal"])
async def test_a_provider_that_falls_silent_has_stalled(
    house: House, session_id: str, said: str
) -> None:
    run, exchange = await house.held(session_id)
    await exchange.begin()
    if said:
        await exchange.text(said)
    await exchange.closed()
    house.model.script(_silent)
    try:
        await ended(house, run, "failed", "provider_stalled")
    finally:
        house.model.script(None)
    message = await last_message(house, run)
    assert [part["text"] for part in message["parts"]] == ([said] if said else [])
    assert message["finish_reason"] == "error"


async def _silent(exchange: Exchange) -> None:
    await exchange.begin()


@pytest.mark.failure(32)
async def test_an_answer_without_anything_is_no_answer(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)
    await exchange.finish()
    await ended(house, run, "failed", "no_response")


@pytest.mark.failure(5)
async def test_an_error_keeps_what_had_streamed_and_never_becomes_words(
    house: House, session_id: str
) -> None:
    run, exchange = await house.held(session_id)
    await exchange.reasoning("Hm.")
    await exchange.text("Hal")
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, '{"pat')
    await exchange.complain()
    found = await ended(house, run, "failed", "provider_error")
    message = await last_message(house, run)
    assert [(p["type"], p.get("text"), p.get("state")) for p in message["parts"]] == [
        ("reasoning", "Hm.", None),
        ("text", "Hal", None),
        ("tool", None, "cancelled"),
    ]
    assert message["parts"][2]["input_text"] == '{"pat'
    assert found["error"]["message"] not in str(message)
    assert found["usage"]["exact"] is False
    assert found["usage"]["output_tokens"] > 0


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [(400, "", "provider_error"), (401, "", "provider_error"), (404, "model_not_found", None)],
)
async def test_what_the_provider_says_no_to_fails_with_its_words(
    house: House, session_id: str, status: int, code: str, reason: str | None
) -> None:
    run, exchange = await house.held(session_id)
    await exchange.fail(status, "the provider said so", code=code)
    found = await ended(house, run, "failed", reason or "model_not_found")
    assert "the provider said so" in found["error"]["message"] or status == 401
    assert "no-key" not in str(found)


async def test_trouble_before_the_first_word_is_tried_again(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)
    await exchange.fail(503, "overloaded")
    await (await house.request()).say("Hello.")
    await ended(house, run, "completed", "end_turn")
    assert await house.texts(session_id) == ["hi", "Hello."]


async def test_a_tool_that_fails_does_not_end_the_run(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)
    for index, (name, arguments) in enumerate(
        [("nope", "{}"), ("read_file", "{"), ("read_file", "[]"), ("read_file", "[" * 50_000)]
    ):
        await exchange.tool_call(index, f"call_{index}", name)
        await exchange.tool_input(index, arguments)
    await exchange.finish("tool_calls")
    second = await house.request()
    results = [m for m in second.messages if m["role"] == "tool"]
    calls = [c["id"] for m in second.messages for c in m.get("tool_calls") or []]
    assert [m["tool_call_id"] for m in results] == calls
    assert len(set(calls)) == 4
    assert "nope" in results[0]["content"]
    await second.say("I see.")
    await ended(house, run, "completed", "end_turn")


@pytest.fixture(scope="module")
async def dear_house(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("dear")
    async with open_house(folder, {}, settings_file=PRICED) as house:
        yield house


async def test_a_run_costs_so_much_and_no_more(dear_house: House) -> None:
    session_id = await dear_house.session()
    run, exchange = await dear_house.held(session_id)
    await exchange.usage(8, 2)
    await look(exchange)
    found = await ended(dear_house, run, "failed", "budget")
    assert found["usage"] == {
        "input_tokens": 8,
        "output_tokens": 2,
        "reasoning_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "exact": True,
        "cost_usd": 0.012,
    }
    session = await dear_house.api.get(f"/api/sessions/{session_id}")
    assert session["usage"]["cost_usd"] == 0.012


async def test_a_run_within_its_budget_completes(dear_house: House) -> None:
    session_id = await dear_house.session()
    run, exchange = await dear_house.held(session_id)
    await exchange.usage(1, 1)
    await look(exchange)
    await (await dear_house.request()).say("Done.")
    await ended(dear_house, run, "completed", "end_turn")


async def test_usage_is_counted_when_nobody_reports_it(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)
    for _ in range(20):
        await exchange.text("a")
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        await stream.until("part.delta")
    answer = await house.api.post(f"/api/runs/{run['id']}/cancel")
    usage = answer.body["usage"]
    assert usage["exact"] is False
    assert 0 < usage["output_tokens"] <= 20
    assert usage["input_tokens"] > 0


async def test_the_settings_file_is_read(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}, settings_file=PRICED) as house:
        listed = await house.api.get("/api/models")
        assert listed["default"] == "dear/test-model"
