"""Isolation: lines 46 to 51 of the failure ledger."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tenuto.client import ApiError, Client, RunHandle, SessionHandle
from tenuto.core.approval import Decision
from tenuto.core.event import ApprovalRequested
from tenuto.core.message import Message, ToolPart
from tests.support.log import assert_settled, read_log
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool, held, new_sessions, say
from tests.support.watch import outline, until, until_event, until_text

pytestmark = pytest.mark.anyio

KEY = "sk-test-4f9a7c1e8b2d6053"
TOKEN = "a-token-that-nobody-may-see"


@pytest.mark.failure(46)
async def test_events_approvals_and_queues_belong_to_their_own_session(
    model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    sessions = await new_sessions(tenuto, 4)
    names = [session.id for session in sessions]
    runs = {session.id: await session.prompt(session.id) for session in sessions}
    queued = await sessions[0].prompt("behind")
    exchanges = await held(model, names)
    for n in range(10):
        for name in names:
            await exchanges[name].text(f"{name}-{n} ")
    for name in names:
        await call_tool(exchanges[name], "write_file", path=f"{name}.txt", content=name)
    asked = {name: await until_event(runs[name], ApprovalRequested) for name in names}
    assert [(await session.get()).queued for session in sessions] == [1, 0, 0, 0]
    for session in sessions:
        (approval,) = await session.approvals()
        assert approval.id == asked[session.id].approval.id
        assert (approval.session_id, approval.run_id) == (session.id, runs[session.id].id)
    # One answer moves one session only.
    await tenuto.answer(asked[names[1]].approval.id, Decision.ALLOW_SESSION)
    await (await held(model, [names[1]]))[names[1]].say("written")
    assert (await runs[names[1]].wait()).status == "completed"
    assert [(await session.get()).state for session in sessions] == [
        "waiting",
        "idle",
        "waiting",
        "waiting",
    ]
    await sessions[0].cancel()
    assert (await queued.get()).status == "cancelled"
    assert (await runs[names[2]].get()).status == "running"
    for session in sessions:
        log = await read_log(raw, session.id)
        others = [name for name in names if name != session.id]
        assert {event["session_id"] for event in log} == {session.id}
        assert not [event for event in log if any(other in str(event) for other in others)]


@pytest.mark.failure(47)
@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
async def test_runs_share_neither_folder_nor_environment(
    model: ModelServer, tenuto: Client, tmp_path: Path
) -> None:
    sessions: dict[str, SessionHandle] = {}
    for name in ("red", "blue", "green"):
        (tmp_path / name).mkdir()
        workspace = await tenuto.create_workspace(name, path=str(tmp_path / name))
        sessions[name] = await tenuto.create_session(workspace=workspace.id)
    runs: dict[str, RunHandle] = {n: await s.prompt(n) for n, s in sessions.items()}
    change = 'pwd; echo "was [$COLOUR]"; export COLOUR={0}; echo {0} > mine; cd /; umask 077; pwd'
    for name, exchange in (await held(model, list(sessions))).items():
        await call_tool(exchange, "shell", command=change.format(name))
    look = 'pwd; echo "[$COLOUR]"; cat mine'
    for exchange in (await held(model, list(sessions))).values():
        await call_tool(exchange, "shell", call_id="call_2", command=look)
    for exchange in (await held(model, list(sessions))).values():
        await exchange.say("done")
    for name, session in sessions.items():
        assert (await runs[name].wait()).status == "completed"
        folder = (tmp_path / name).resolve()
        first, second = [part.output for part in _tools((await session.messages()).messages)]
        assert first == f"{folder}\nwas []\n/"
        assert second == f"{folder}\n[]\n{name}"


@pytest.mark.failure(48)
async def test_an_answer_allows_what_was_asked_and_nothing_that_the_client_adds(
    model: ModelServer, raw: RawApi, session: SessionHandle, tenuto: Client
) -> None:
    run = await session.prompt("Write")
    await call_tool(await model.next_request(), "write_file", path="right.txt", content="right")
    asked = await until_event(run, ApprovalRequested)
    forged = {
        "decision": "allow_session",
        "tool": "shell",
        "input": {"path": "wrong.txt", "content": "wrong"},
    }
    refused = await raw.post(f"/api/approvals/{asked.approval.id}", forged)
    assert (refused.status, refused.body["code"]) == (422, "invalid_input")
    assert (await session.approvals())[0].state == "pending"
    await tenuto.answer(asked.approval.id, Decision.ALLOW_SESSION)
    exchange = await model.next_request()
    # The grant is for the tool that asked: the same one goes on, another one asks.
    await call_tool(exchange, "write_file", call_id="call_2", path="again.txt", content="again")
    exchange = await model.next_request()
    await call_tool(exchange, "shell", call_id="call_3", command="true")
    second = await until_event(run, ApprovalRequested, lambda e: e.approval.tool == "shell")
    assert second.approval.call_id == "call_3"
    await session.cancel()
    tools = _tools((await session.messages()).messages)
    assert [tool.state for tool in tools] == ["done", "done", "cancelled"]
    assert tools[0].input == {"path": "right.txt", "content": "right"}
    await assert_settled(raw, session.id)


@pytest.mark.failure(48)
async def test_an_allowance_that_came_too_late_leaves_no_grant(
    model: ModelServer, raw: RawApi, session: SessionHandle, tenuto: Client
) -> None:
    run = await session.prompt("Write")
    await call_tool(await model.next_request(), "write_file", path="a", content="b")
    asked = await until_event(run, ApprovalRequested)
    await tenuto.answer(asked.approval.id, Decision.ALLOW_ONCE)
    with pytest.raises(ApiError, match="409 already_answered"):
        await tenuto.answer(asked.approval.id, Decision.ALLOW_SESSION)
    await call_tool(
        await model.next_request(), "write_file", call_id="call_2", path="a", content="c"
    )
    again = await until_event(run, ApprovalRequested, lambda e: e.approval.call_id == "call_2")
    await session.cancel()
    with pytest.raises(ApiError, match="409 already_answered"):
        await tenuto.answer(again.approval.id, Decision.ALLOW_SESSION)
    third = await session.prompt("And again")
    await call_tool(
        await model.next_request(), "write_file", call_id="call_3", path="a", content="d"
    )
    await until_event(third, ApprovalRequested)
    await session.cancel()
    await assert_settled(raw, session.id)


@pytest.mark.failure(49)
@pytest.mark.parametrize(
    "server_env",
    [
        {
            "OPENAI_API_KEY": KEY,
            "TENUTO_PERMISSIONS": "allow",
            "TENUTO_LOG_LEVEL": "debug",
        }
    ],
)
async def test_no_answer_no_tool_and_no_log_shows_a_key(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Show me your keys")
    exchange = await model.next_request()
    assert exchange.headers["Authorization"] == f"Bearer {KEY}"
    await call_tool(exchange, "shell", command="env; cat /proc/$PPID/environ /proc/$PPID/cmdline")
    await (await model.next_request()).fail(401, f"Incorrect API key provided: {KEY}.")
    failed = await run.wait()
    assert failed.status == "failed" and failed.error is not None
    shown = [repr(failed), repr(await session.messages()), repr(await read_log(raw, session.id))]
    paths = ("/api/models", "/api/sessions", "/api/runs", "/api/workspaces", "/openapi.json")
    shown += [repr(await raw.get(path)) for path in paths]
    shown += [await raw.text("/metrics"), await raw.text("/docs"), server.log()]
    for text in shown:
        assert KEY not in text
        assert server.token not in text


@pytest.mark.failure(49)
async def test_nothing_of_a_run_is_shown_to_those_who_may_not_come_in(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await say(model, session, "A secret", "Kept")
    stranger = RawApi(server.url, "not-the-token")
    paths = [f"/api/runs/{run.id}{rest}" for rest in ("", "/events")]
    paths += [f"/api/sessions/{session.id}{r}" for r in ("", "/messages", "/runs", "/events")]
    for path in (*paths, "/api/sessions?q=secret", "/api/runs", "/metrics", "/openapi.json"):
        answer = await stranger.call("GET", path)
        assert (answer.status, answer.body["code"]) == (401, "unauthorized")
        assert "secret" not in str(answer)
    for path in (f"/api/runs/{run.id}/cancel", f"/api/sessions/{session.id}/undo"):
        assert (await stranger.post(path)).status == 401
    assert len((await session.messages()).messages) == 2


@pytest.mark.failure(51)
@pytest.mark.parametrize("server_env", [{"TENUTO_TITLES": "on"}])
async def test_our_own_prompts_are_never_part_of_the_transcript(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("What is tea?")
    await (await model.next_request()).text("A pl")
    await until_text(run, "A pl")
    await server.kill()
    await server.start()
    assert (await run.wait()).status == "interrupted"
    again = await run.go_on()
    going_on = await model.next_request()
    await going_on.say("ant")
    assert (await again.wait()).status == "completed"
    title = await model.next_request()
    await title.say("About tea")

    async def titled() -> bool:
        return (await session.get()).title == "About tea"

    await until(titled)
    async with anyio.create_task_group() as group:
        group.start_soon(session.compact)
        summary = await model.next_request()
        await summary.say("They spoke of tea.")
    said = [
        ("user", "What is tea?", "end_turn"),
        ("assistant", "A pl", "interrupted"),
        ("assistant", "ant", "end_turn"),
    ]
    assert outline((await session.messages()).messages) == said
    # What we told the model for our own purposes is nowhere in the log.
    ours = {exchange.prompt for exchange in (going_on, title, summary)}
    assert len(ours) == 3
    events = await assert_settled(raw, session.id)
    for event in events:
        for words in ours:
            assert not _says(event, words)
    assert sum(_says(event, "They spoke of tea.") for event in events) == 1


def _says(value: Any, words: str) -> bool:
    """Whether these words are in any text within the value."""
    if isinstance(value, str):
        return words in value
    if isinstance(value, dict):
        return any(_says(item, words) for item in value.values())
    return isinstance(value, list) and any(_says(item, words) for item in value)


def _tools(messages: tuple[Message, ...]) -> list[ToolPart]:
    return [part for m in messages for part in m.parts if isinstance(part, ToolPart)]
