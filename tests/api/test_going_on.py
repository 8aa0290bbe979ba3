"""A run that its provider leaves in the lurch: it waits, says so, and goes on where it was."""

import asyncio
from datetime import datetime

import pytest

from tests.api.contract.house import House, Json
from tests.support.model_server import Exchange, ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


async def waits(house: House, run: Json) -> list[Json | None]:
    """What it said of waiting, in order."""
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        frames = await stream.to_the_end()
    return [f.data["run"]["waiting"] for f in frames if f.event == "run.updated"]


async def broken_after(exchange: Exchange, text: str) -> None:
    await exchange.text(text)
    await exchange.break_off()


@pytest.mark.failure(22)
@pytest.mark.guarantee("E6")
async def test_a_stream_that_breaks_goes_on_in_the_same_words(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Say it")
    await broken_after(exchange, "Hello wor")
    exchange = await house.request()
    assert exchange.messages[-2:][0] == {"role": "assistant", "content": "Hello wor"}
    assert "Go on from exactly where it stopped" in exchange.prompt
    await exchange.say("ld, and all.")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"], ended["waiting"]) == ("completed", "end_turn", None)
    _, answer = await house.messages(session)
    assert [part["text"] for part in answer["parts"]] == ["Hello world, and all."]


@pytest.mark.guarantee("E6")
async def test_what_a_model_says_again_after_a_break_is_not_shown_twice(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Say it")
    await broken_after(exchange, "The moon pulls at the wat")
    exchange = await house.request()
    for piece in ("The moon pu", "lls at the wat", "er."):
        await exchange.text(piece)
    await exchange.finish()
    await house.ended(run["id"])
    assert (await house.texts(session))[-1] == "The moon pulls at the water."


@pytest.mark.guarantee("E6")
async def test_a_stream_that_breaks_a_fourth_time_ends_the_run_and_keeps_all(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Say it")
    for text in ("a", "b", "c"):
        await broken_after(exchange, text)
        exchange = await house.request()
    await broken_after(exchange, "d")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("failed", "provider_error")
    assert ended["waiting"] is None
    assert (await house.texts(session))[-1] == "abcd"
    told = await waits(house, run)
    assert [wait and wait["attempt"] for wait in told] == [2, None, 3, None, 4, None]


@pytest.mark.guarantee("E6")
async def test_a_call_that_was_half_written_when_the_stream_broke_is_written_anew(
    house: House,
) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Look")
    await exchange.text("I look.")
    await exchange.tool_call(0, "c1", "list_files")
    await exchange.tool_input(0, '{"pat')
    await exchange.break_off()
    exchange = await house.request()
    call, result = exchange.messages[-2:]
    assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    assert "connection broke" in result["content"]
    await exchange.tool_call(0, "c1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.finish("tool_calls")
    await (await house.request()).say("There is nothing.")
    ended = await house.ended(run["id"])
    assert ended["status"] == "completed"
    _, answer = await house.messages(session)
    states = [part["state"] for part in answer["parts"] if part["type"] == "tool"]
    assert states == ["failed", "done"]


@pytest.mark.guarantee("E6")
async def test_a_wait_is_seen_and_a_cancel_ends_it_at_once(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session)
    await exchange.fail(429, "Slow down.", headers={"Retry-After": "200"})
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        event = (await stream.until("run.updated")).data
    waiting = event["run"]["waiting"]
    assert waiting["attempt"] == 2
    assert "Slow down" in waiting["reason"]
    waited = datetime.fromisoformat(waiting["until"]) - datetime.fromisoformat(event["at"])
    assert 199 <= waited.total_seconds() <= 201
    assert (await house.run(run["id"]))["waiting"] == waiting
    async with asyncio.timeout(100):
        await house.api.post(f"/api/runs/{run['id']}/cancel")
        ended = await house.ended(run["id"])
    assert (ended["status"], ended["waiting"]) == ("cancelled", None)
    # What was refused was not worked on.
    assert ended["usage"]["input_tokens"] == 0


async def test_a_wait_that_is_too_long_fails_at_once_and_says_until_when(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session)
    await exchange.fail(429, "Come back tomorrow.", headers={"Retry-After": "9000"})
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("failed", "provider_error")
    assert "no earlier than 20" in ended["error"]["message"]
    assert await waits(house, run) == []


async def test_an_answer_that_is_cut_is_continued_twice(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Write a book")
    await exchange.say("Once upon", finish="length")
    await (await house.request()).say(" a time", finish="length")
    await (await house.request()).say(" there was", finish="length")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("completed", "max_tokens")
    _, answer = await house.messages(session)
    assert [part["text"] for part in answer["parts"]] == ["Once upon a time there was"]


async def test_an_answer_that_was_wished_short_is_not_continued(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Short", options={"max_output_tokens": 2})
    await exchange.say("Once upon", finish="length")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("completed", "max_tokens")


async def test_a_call_that_is_cut_fails_with_words_that_help_and_the_run_goes_on(
    house: House,
) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Write a file")
    await exchange.tool_call(0, "c1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.tool_call(1, "c2", "write_file")
    await exchange.tool_input(1, '{"path": "a.txt", "content": "Once upo')
    await exchange.finish("length")
    exchange = await house.request()
    whole, cut = exchange.messages[-2:]
    assert (whole["role"], cut["role"]) == ("tool", "tool")
    assert "Write less at a time" in cut["content"]
    assert "Write less" not in whole["content"]
    await exchange.say("Then shorter.")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("completed", "end_turn")


async def test_what_a_model_does_not_take_is_left_out_and_said(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Hi", options={"temperature": 0.5})
    assert exchange.body["temperature"] == 0.5
    error = {
        "message": "Unsupported parameter: 'temperature' is not supported with this model.",
        "type": "invalid_request_error",
        "param": "temperature",
        "code": "unsupported_parameter",
    }
    await exchange.answer({"error": error}, status=400)
    exchange = await house.request()
    assert "temperature" not in exchange.body
    await exchange.say("Hello.")
    ended = await house.ended(run["id"])
    assert ended["status"] == "completed"
    (notice,) = ended["notices"]
    assert "temperature" in notice
    # It is remembered, and said no more.
    run, exchange = await house.held(session, "Again", options={"temperature": 0.5})
    assert "temperature" not in exchange.body
    await exchange.say("Hello.")
    assert (await house.ended(run["id"]))["notices"] == []
