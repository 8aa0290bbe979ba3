"""What a run asks when nobody is at a terminal, and when somebody is."""

import json
import os
import pty

import pytest

from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer
from tests.support.talk import call_tool
from tests.terminal.conftest import Start

pytestmark = pytest.mark.anyio
COLOUR = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}


@pytest.mark.failure(59)
@pytest.mark.guarantee("E13")
async def test_an_approval_is_denied_with_a_note_and_exit_code_4(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "-o", "json", "Hi")
    await call_tool(await model.next_request(), "shell", command="echo seen")
    exchange = await model.next_request()
    assert "Nobody can be asked" in json.dumps(exchange.messages)
    await exchange.say("Without it, then.")
    assert await command.ends() == 4
    said = json.loads(command.out)
    assert said["text"] == "Without it, then."
    assert [one["kind"] for one in said["denied"]] == ["approval"]
    assert "needed a person" in command.err.decode()


@pytest.mark.failure(59)
@pytest.mark.guarantee("E13")
@pytest.mark.parametrize("on_ask", ["deny", "allow"])
async def test_a_question_is_dismissed(
    server: TenutoServer, model: ModelServer, start: Start, on_ask: str
) -> None:
    command = await start("run", "--on-ask", on_ask, "Hi")
    await call_tool(await model.next_request(), "ask_user", questions=[COLOUR])
    await (await model.next_request()).say("My choice, then.")
    assert (await command.ends(), command.out) == (4, b"My choice, then.\n")


async def test_wait_waits_until_somebody_answers_elsewhere(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--on-ask", "wait", "Hi")
    await call_tool(await model.next_request(), "shell", command="echo seen")
    await command.says("waits for an answer", "err")
    run = (await server.raw.get("/api/runs"))["runs"][0]
    path = f"/api/sessions/{run['session_id']}/approvals"
    (approval,) = (await server.raw.get(path))["approvals"]
    await server.raw.post(f"/api/approvals/{approval['id']}", {"decision": "allow_once"})
    exchange = await model.next_request()
    assert "seen" in json.dumps(exchange.messages)
    await exchange.say("Done.")
    assert (await command.ends(), command.out) == (0, b"Done.\n")


@pytest.mark.guarantee("E13")
async def test_leave_leaves_the_run_waiting_with_exit_code_4(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--on-ask", "leave", "-o", "json", "Hi")
    await call_tool(await model.next_request(), "shell", command="echo seen")
    assert await command.ends() == 4
    said = json.loads(command.out)
    assert said["run"]["status"] == "running"
    assert said["run"]["id"] in command.err.decode()
    assert (await server.raw.get("/api/runs"))["runs"][0]["status"] == "running"


@pytest.mark.parametrize(("key", "told"), [("y", "seen"), ("n", "did not allow")])
async def test_on_a_terminal_a_person_is_asked(
    server: TenutoServer, model: ModelServer, start: Start, key: str, told: str
) -> None:
    ours, theirs = pty.openpty()
    try:
        command = await start("run", "Hi", stdin=theirs, stderr=theirs)
        os.close(theirs)
        await call_tool(await model.next_request(), "shell", command="echo seen")
        os.write(ours, f"{key}\n".encode())
        exchange = await model.next_request()
        results = [m["content"] for m in exchange.messages if m["role"] == "tool"]
        assert told in json.dumps(results).lower()
        await exchange.say("Done.")
        assert (await command.ends(), command.out) == (0, b"Done.\n")
    finally:
        os.close(ours)


async def test_on_a_terminal_a_question_is_answered_by_its_number(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    ours, theirs = pty.openpty()
    try:
        command = await start("run", "Hi", stdin=theirs, stderr=theirs)
        os.close(theirs)
        await call_tool(await model.next_request(), "ask_user", questions=[COLOUR])
        os.write(ours, b"2\n")
        exchange = await model.next_request()
        results = [m["content"] for m in exchange.messages if m["role"] == "tool"]
        assert "Blue" in json.dumps(results)
        await exchange.say("Blue it is.")
        assert await command.ends() == 0
    finally:
        os.close(ours)
