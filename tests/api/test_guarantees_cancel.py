"""Cancel loses nothing (H12–H17)."""

from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tenuto.core.event import ApprovalRequested
from tenuto.core.message import FilePart, Message, TextPart, ToolPart
from tenuto.core.run import InputFile, InputText
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import outline, until_event, until_output, until_text

pytestmark = pytest.mark.anyio


async def cancelled_answer(session: SessionHandle, run: RunHandle) -> Message:
    """Cancel, and give the one answer that is kept."""
    answer = await session.cancel()
    assert answer.settled and answer.cancelled == (run.id,)
    ended = await run.get()
    assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None)
    user, kept = (await session.messages()).messages
    assert (user.role, kept.role, kept.finish_reason) == ("user", "assistant", "cancelled")
    return kept


@pytest.mark.guarantee("H12")
@pytest.mark.failure(3)
async def test_cancel_during_reasoning_keeps_the_reasoning(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Think")
    exchange = await model.next_request()
    await exchange.reasoning("Let me ")
    await exchange.reasoning("see")
    await until_text(run, "Let me see")
    kept = await cancelled_answer(session, run)
    assert outline((kept,)) == [("assistant", "[Let me see]", "cancelled")]
    await exchange.closed()
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H13")
async def test_cancel_keeps_reasoning_and_text(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Think")
    exchange = await model.next_request()
    await exchange.reasoning("Hmm")
    await exchange.text("Well, ")
    await until_text(run, "Well, ")
    kept = await cancelled_answer(session, run)
    assert outline((kept,)) == [("assistant", "[Hmm]Well, ", "cancelled")]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H14")
@pytest.mark.failure(4)
async def test_cancel_keeps_a_tool_call_whose_input_had_only_begun(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Look")
    exchange = await model.next_request()
    await exchange.tool_call(0, "call_1", "read_file")
    await exchange.tool_input(0, '{"path": "a')
    await until_text(run, '{"path": "a')
    kept = await cancelled_answer(session, run)
    (part,) = kept.parts
    assert isinstance(part, ToolPart)
    assert (part.name, part.state, part.input, part.input_text) == (
        "read_file",
        "cancelled",
        None,
        '{"path": "a',
    )
    await assert_settled(raw, session.id)
    await the_next_request_is_valid(model, session)


@pytest.mark.guarantee("H14")
@pytest.mark.failure(4, 7)
async def test_cancel_keeps_finished_and_unfinished_tool_calls_beside_text(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Look")
    exchange = await model.next_request()
    await exchange.text("Looking. ")
    await call(exchange, "call_1", "list_files", "{}")
    await exchange.finish("tool_calls")
    exchange = await model.next_request()
    await exchange.text("And more. ")
    await exchange.tool_call(0, "call_2", "read_file")
    await exchange.tool_input(0, '{"pa')
    await until_text(run, '{"pa')
    kept = await cancelled_answer(session, run)
    texts = [part.text for part in kept.parts if isinstance(part, TextPart)]
    tools = [part for part in kept.parts if isinstance(part, ToolPart)]
    assert texts == ["Looking. ", "And more. "]
    assert [(t.call_id, t.state) for t in tools] == [("call_1", "done"), ("call_2", "cancelled")]
    assert tools[0].output is not None
    assert (tools[1].output, tools[1].input_text) == (None, '{"pa')
    await assert_settled(raw, session.id)
    await the_next_request_is_valid(model, session)


@pytest.mark.guarantee("H14", "H4")
@pytest.mark.failure(29)
async def test_cancel_resolves_a_tool_call_that_waits_for_approval(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Write")
    exchange = await model.next_request()
    await call(exchange, "call_1", "write_file", '{"path": "a", "content": "b"}')
    await exchange.finish("tool_calls")
    asked = await until_event(run, ApprovalRequested)
    kept = await cancelled_answer(session, run)
    (part,) = kept.parts
    assert isinstance(part, ToolPart) and part.state == "cancelled"
    assert part.input == {"path": "a", "content": "b"}
    (approval,) = await session.approvals()
    assert (approval.id, approval.state) == (asked.approval.id, "cancelled")
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H14")
@pytest.mark.failure(34)
@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
async def test_cancel_keeps_a_running_tool_call_and_kills_its_processes(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Run it")
    exchange = await model.next_request()
    command = "(trap '' TERM; sleep 997) & echo pids $$ $!; wait"
    await call(exchange, "call_1", "shell", f'{{"command": "{command}"}}')
    await exchange.finish("tool_calls")
    shown = await until_output(run, "pids")
    pids = [int(pid) for pid in shown.split()[1:3]]
    kept = await cancelled_answer(session, run)
    assert [pid for pid in pids if _alive(pid)] == []
    (part,) = kept.parts
    assert isinstance(part, ToolPart)
    assert (part.name, part.state) == ("shell", "cancelled")
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H15")
@pytest.mark.failure(1)
async def test_cancel_when_nothing_was_streamed_leaves_the_prompt_and_one_mark(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.begin()
    await session.cancel()
    await exchange.closed()
    assert (await run.get()).status == "cancelled"
    assert outline((await session.messages()).messages) == [
        ("user", "Hi", "end_turn"),
        ("assistant", "", "cancelled"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H16")
@pytest.mark.failure(1, 5)
@pytest.mark.parametrize("said", ["", "Half an"])
async def test_an_error_keeps_the_prompt_once_with_its_attachment_and_time(
    said: str, model: ModelServer, raw: RawApi, tenuto: Client, session: SessionHandle
) -> None:
    file = await tenuto.upload("notes.txt", b"tea", media_type="text/plain")
    run = await session.prompt([InputText(text="Read"), InputFile(file_id=file.id)])
    exchange = await model.next_request()
    if said:
        await exchange.text(said)
        await until_text(run, said)
        await exchange.complain()
    else:
        await exchange.fail(401, "the key is wrong")
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("failed", "provider_error")
    assert ended.error is not None and ended.error.code == "provider_error"
    user, answer = (await session.messages()).messages
    text, attached = user.parts
    assert isinstance(text, TextPart) and text.text == "Read"
    assert isinstance(attached, FilePart)
    assert (attached.file_id, attached.name, attached.size) == (file.id, "notes.txt", 3)
    assert user.created_at == ended.accepted_at
    # What went wrong is said of the run; it never becomes conversation.
    assert outline((answer,)) == [("assistant", said, "error")]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H17", "H3")
@pytest.mark.failure(6, 23)
async def test_a_run_left_by_a_dead_process_is_settled_once(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.reasoning("Hmm. ")
    await exchange.text("one, ")
    await exchange.tool_call(0, "call_1", "read_file")
    await exchange.tool_input(0, '{"pa')
    await until_text(run, '{"pa')
    await server.kill()
    await server.start()
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("interrupted", "server_crashed")
    user, kept = (await session.messages()).messages
    assert outline((user,)) == [("user", "Count", "end_turn")]
    assert outline((kept,)) == [("assistant", "[Hmm. ]one, <ToolPart>", "interrupted")]
    tool = kept.parts[-1]
    assert isinstance(tool, ToolPart)
    assert (tool.state, tool.input_text) == ("interrupted", '{"pa')
    before = await assert_settled(raw, session.id)
    await server.kill()
    await server.start()
    assert await assert_settled(raw, session.id) == before
    assert len(model.exchanges) == 1


async def call(exchange: Exchange, call_id: str, name: str, arguments: str) -> None:
    await exchange.tool_call(0, call_id, name)
    await exchange.tool_input(0, arguments)


async def the_next_request_is_valid(model: ModelServer, session: SessionHandle) -> None:
    """Every tool call that the model is told of has exactly one result, right after it."""
    run = await session.prompt("Go on")
    exchange = await model.next_request()
    calls: list[str] = []
    results: list[str] = []
    for message in exchange.messages:
        said: list[dict[str, Any]] = message.get("tool_calls") or []
        calls += [tool["id"] for tool in said]
        if message["role"] == "tool":
            results.append(message["tool_call_id"])
        else:
            assert results == calls[: len(results)]
            assert len(results) == len(calls) - len(said)
    assert calls and calls == results
    await exchange.say("fine")
    assert (await run.wait()).status == "completed"


def _alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
