"""`tenuto run`: the answer on standard output, and an exit code that tells the run's ending."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer
from tests.support.talk import call_tool
from tests.support.watch import until
from tests.terminal.conftest import Start

pytestmark = pytest.mark.anyio
Json = dict[str, Any]


async def last_run(server: TenutoServer) -> Json:
    found: list[Json] = (await server.raw.get("/api/runs"))["runs"]
    return found[0]


@pytest.mark.guarantee("E13")
async def test_the_answer_alone_is_on_standard_output(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Say", "hello")
    exchange = await model.next_request()
    assert exchange.prompt == "Say hello"
    await exchange.text("Hel")
    await command.says("Hel")
    await exchange.text("lo")
    await exchange.finish()
    assert await command.ends() == 0
    assert command.out == b"Hello\n"
    assert (await last_run(server))["id"] in command.err.decode()


async def test_quiet_says_nothing_beside_the_answer(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "-q", "Hi")
    await (await model.next_request()).say("Hello")
    assert (await command.ends(), command.out, command.err) == (0, b"Hello\n", b"")


@pytest.mark.guarantee("E13")
async def test_a_failed_run_is_exit_code_1_with_its_reason(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "-q", "Hi")
    exchange = await model.next_request()
    await exchange.fail(400, "the model is ill")
    assert await command.ends() == 1
    assert command.out == b""
    assert "the model is ill" in command.err.decode()


@pytest.mark.guarantee("E13")
async def test_an_answer_cut_short_is_exit_code_3_with_its_text(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Hi")
    await (await model.next_request()).say("Half of it", finish="content_filter")
    assert (await command.ends(), command.out) == (3, b"Half of it\n")
    assert "content_filter" in command.err.decode()


@pytest.mark.guarantee("E13")
@pytest.mark.failure(59)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_signal_cancels_the_run_and_keeps_what_came(
    server: TenutoServer, model: ModelServer, start: Start, number: signal.Signals, code: int
) -> None:
    command = await start("run", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await command.says("Half")
    command.process.send_signal(number)
    assert (await command.ends(), command.out) == (code, b"Half\n")
    run = await last_run(server)
    assert (run["status"], run["reason"]) == ("cancelled", "user")
    path = f"/api/sessions/{run['session_id']}/messages"
    assert (await server.raw.get(path))["messages"][1]["parts"][0]["text"] == "Half"


@pytest.mark.guarantee("E13")
async def test_a_second_ctrl_c_leaves_at_once(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await command.says("Half")
    server.freeze()
    try:
        command.process.send_signal(signal.SIGINT)
        await command.says("stopping", "err")
        command.process.send_signal(signal.SIGINT)
        assert await command.ends() == 130
    finally:
        server.thaw()


@pytest.mark.failure(59)
async def test_closed_standard_output_cancels_also_while_the_model_is_silent(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    reading, writing = os.pipe()
    command = await start("run", "Hi", stdout=writing)
    os.close(writing)
    exchange = await model.next_request()
    await exchange.text("Half")
    assert os.read(reading, 100) == b"Half"
    os.close(reading)
    assert await command.ends() == 130
    assert (await last_run(server))["status"] == "cancelled"


async def test_a_hang_up_leaves_the_run_to_the_server(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await command.says("Half")
    command.process.send_signal(signal.SIGHUP)
    assert await command.ends() == 6
    run = await last_run(server)
    assert run["id"] in command.err.decode()
    await exchange.text(" and half")
    await exchange.finish()

    async def is_done() -> bool:
        return bool((await last_run(server))["status"] == "completed")

    await until(is_done)


@pytest.mark.guarantee("E13")
async def test_a_timeout_cancels_the_run(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--timeout", "0.5", "Hi")
    await (await model.next_request()).text("Half")
    assert (await command.ends(), command.out) == (143, b"Half\n")
    assert "--timeout" in command.err.decode()


@pytest.mark.guarantee("E13")
async def test_a_cancel_from_elsewhere_is_exit_code_130(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await command.says("Half")
    stop = await start("stop")
    assert await stop.ends() == 0
    assert (await command.ends(), command.out) == (130, b"Half\n")


@pytest.mark.failure(59)
@pytest.mark.guarantee("E13")
async def test_a_server_that_is_killed_and_returns_is_survived(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--mode", "chat", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half ")
    await command.says("Half ")
    await server.kill()
    await server.start()
    await (await model.next_request()).say("and the rest.")
    assert (await command.ends(), command.out) == (0, b"Half and the rest.\n")


@pytest.mark.failure(59)
@pytest.mark.guarantee("E13")
async def test_a_server_that_stays_away_is_exit_code_6(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--patience", "1", "Hi")
    exchange = await model.next_request()
    await exchange.text("Half")
    await command.says("Half")
    await server.kill()
    assert (await command.ends(), command.out) == (6, b"Half")
    await server.start()
    assert (await last_run(server))["id"].removesuffix("_on") in command.err.decode()


async def test_json_is_one_object(server: TenutoServer, model: ModelServer, start: Start) -> None:
    command = await start("run", "-o", "json", "Hi")
    await (await model.next_request()).say("Hello")
    assert await command.ends() == 0
    said = json.loads(command.out)
    run = await last_run(server)
    assert said == {
        "type": "result",
        "run": run,
        "session_id": run["session_id"],
        "text": "Hello",
        "usage": run["usage"],
        "denied": [],
        "head": said["head"],
    }


async def test_jsonl_is_the_wires_own_events_and_then_the_result(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "-o", "jsonl", "Hi")
    await (await model.next_request()).say("Hello")
    assert await command.ends() == 0
    *lines, last = command.out.decode().splitlines()
    run = await last_run(server)
    async with server.raw.sse(f"/api/runs/{run['id']}/events") as stream:
        frames = await stream.to_the_end()
    assert [json.loads(line) for line in lines] == [frame.data for frame in frames]
    assert json.loads(last)["head"] == json.loads(lines[-1])["seq"]


async def test_the_first_code_block_and_the_last_message(
    server: TenutoServer, model: ModelServer, start: Start, tmp_path: Path
) -> None:
    text = "Try:\n```sh\nls -l\n```\nor\n```\nno\n```"
    command = await start("run", "-x", "--last-message", "last.md", "Hi")
    await (await model.next_request()).say(text)
    assert (await command.ends(), command.out) == (0, b"ls -l\n")
    assert (tmp_path / "last.md").read_text() == text


async def test_reasoning_goes_to_standard_error(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "-q", "--reasoning", "Hi")
    exchange = await model.next_request()
    await exchange.reasoning("Let me ")
    await exchange.reasoning("think")
    await exchange.say("Hello")
    assert (await command.ends(), command.out) == (0, b"Hello\n")
    assert command.err == b"Let me think\n"


async def test_a_session_goes_on(server: TenutoServer, model: ModelServer, start: Start) -> None:
    first = await start("run", "--title", "One", "--system", "Be brief", "Hi")
    exchange = await model.next_request()
    assert "Be brief" in json.dumps(exchange.messages)
    await exchange.say("Hello")
    assert await first.ends() == 0
    session = (await last_run(server))["session_id"]
    assert (await server.raw.get(f"/api/sessions/{session}"))["title"] == "One"
    for words in (("-c",), ("-s", session)):
        again = await start("run", *words, "-m", "openai/test-model", "Again")
        exchange = await model.next_request()
        assert "Hello" in json.dumps(exchange.messages)
        await exchange.say("Yes")
        assert await again.ends() == 0
        assert (await last_run(server))["session_id"] == session


async def test_detach_prints_the_id_and_the_run_goes_on(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--detach", "Hi")
    exchange = await model.next_request()
    assert await command.ends() == 0
    run_id = command.out.decode().strip()
    await exchange.text("Hel")
    attached = await start("attach", run_id)
    await attached.says("Hel")
    await exchange.text("lo")
    await exchange.finish()
    assert (await attached.ends(), attached.out) == (0, b"Hello\n")


async def test_files_are_attached(
    server: TenutoServer, model: ModelServer, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("the first file")
    (tmp_path / "b.txt").write_text("the second file")
    command = await start("run", "-f", "a.txt", "-f", "b.txt", "Read")
    exchange = await model.next_request()
    said = json.dumps(exchange.messages)
    assert "the first file" in said
    assert "the second file" in said
    await exchange.say("Read.")
    assert await command.ends() == 0


async def test_a_tool_is_told_of_beside_the_answer(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--on-ask", "allow", "Hi")
    exchange = await model.next_request()
    await exchange.text("I look.")
    await call_tool(exchange, "shell", command="echo seen")
    exchange = await model.next_request()
    assert "seen" in json.dumps(exchange.messages)
    await exchange.say("Done.")
    assert (await command.ends(), command.out) == (0, b"I look.\n\nDone.\n")
    assert "shell echo seen" in command.err.decode()
