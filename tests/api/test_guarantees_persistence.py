"""Persistence while streaming (H1–H5): cheap, always right, never late."""

from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tenuto.core.event import PartUpdated
from tenuto.core.message import FilePart, TextPart, ToolChange, ToolPart
from tenuto.core.run import InputFile, InputText, Mode
from tenuto.core.value import SessionId
from tests.support.log import assert_settled, read_log
from tests.support.model_server import Exchange, ModelServer
from tests.support.offspring import offspring
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import outline, until, until_event, until_output, until_text

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


async def say(model: ModelServer, session: SessionHandle, prompt: str, text: str) -> RunHandle:
    run = await session.prompt(prompt, mode=Mode.CHAT)
    await (await model.next_request()).say(text)
    assert (await run.wait()).status == "completed"
    return run


@pytest.mark.one_node("it looks at the server's process")
@pytest.mark.guarantee("H1")
@pytest.mark.failure(52)
@pytest.mark.parametrize("model_list", [[{"id": "patient", "context_window": 100_000_000}]])
async def test_what_a_save_costs_does_not_grow_with_the_session_or_their_number(
    model: ModelServer, server: TenutoServer, tenuto: Client
) -> None:
    """A state that is rewritten whole would write the history of 4 MiB again and again."""
    small, large = await tenuto.create_session(), await tenuto.create_session()
    await say(model, small, "Hi", "Hello")
    before = await bytes_written_while_streaming(model, server, small)
    for n in range(8):
        await say(model, large, f"Tell {n}", "word " * (MIB // 10))
    for n in range(100):
        await tenuto.create_session(title=f"another {n}")
    after = await bytes_written_while_streaming(model, server, large)
    assert after < before + 2 * MIB


@pytest.mark.guarantee("H2")
@pytest.mark.failure(20, 60)
async def test_the_list_is_right_after_every_change_and_after_a_crash(
    model: ModelServer, server: TenutoServer, tenuto: Client
) -> None:
    first, second, third = [await tenuto.create_session(title=t) for t in ("one", "two", "three")]
    assert await listed(tenuto) == [third.id, second.id, first.id]
    await say(model, first, "Hi", "Hello")
    assert await listed(tenuto) == [first.id, third.id, second.id]
    # Settings and looking are no activity.
    await second.update(title="2", draft="unsent", pinned=True)
    await second.messages()
    assert await listed(tenuto) == [first.id, third.id, second.id]
    await third.update(archived=True)
    assert await listed(tenuto) == [first.id, second.id]
    run = await second.prompt("Wait")
    await model.next_request()
    assert await listed(tenuto) == [second.id, first.id]
    await server.kill()
    await server.start()
    assert (await run.wait()).status == "interrupted"
    await first.get()
    assert await listed(tenuto) == [second.id, first.id]
    await second.delete()
    assert await listed(tenuto) == [first.id]
    assert [s.id async for s in tenuto.sessions(archived=True)] == [third.id]
    assert [s.title async for s in tenuto.sessions(q="hello")] == ["one"]


@pytest.mark.guarantee("H3")
@pytest.mark.failure(6, 8)
async def test_every_piece_that_was_seen_is_there_after_a_crash(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Look and tell")
    exchange = await model.next_request()
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.finish("tool_calls")
    await until_event(run, PartUpdated, _is_done)
    for n in range(20):
        text = f"piece {n}. "
        if n == 0:
            exchange = await model.next_request()
        await exchange.text(text)
        await until_text(run, text)
        if n % 7 == 3:
            seen = await read_log(raw, session.id)
            await server.kill()
            await server.start()
            assert (await run.wait()).status == "interrupted"
            assert (await read_log(raw, session.id))[: len(seen)] == seen
            run = await run.go_on()
            exchange = await model.next_request()
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    messages = (await session.messages()).messages
    texts = "".join(p.text for m in messages[1:] for p in m.parts if isinstance(p, TextPart))
    assert texts == "".join(f"piece {n}. " for n in range(20))
    (tool,) = [p for m in messages for p in m.parts if isinstance(p, ToolPart)]
    assert tool.state == "done"
    await assert_settled(raw, session.id)


@pytest.mark.one_node("it looks at the database's file")
@pytest.mark.guarantee("H3")
async def test_nothing_is_written_while_nothing_happens(
    model: ModelServer, server: TenutoServer, session: SessionHandle
) -> None:
    run = await session.prompt("Wait")
    exchange = await model.next_request()
    await exchange.text("one")
    await until_text(run, "one")
    head = (await session.get()).head
    await until_quiet(server)
    assert (await session.get()).head == head
    await exchange.finish()
    assert (await run.wait()).status == "completed"


@pytest.mark.one_node("it looks at the server's process")
@pytest.mark.guarantee("H4")
@pytest.mark.failure(54)
@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
async def test_nothing_of_a_run_is_left_when_it_has_ended(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    await a_run_of_each_ending(model, session)
    process = psutil.Process(server.pid)

    async def at_rest() -> bool:
        return not offspring(process)

    await until(at_rest)
    before = process.num_threads(), process.num_fds()

    async def few_files() -> bool:
        return bool(process.num_fds() <= before[1] + 3)

    for _ in range(5):
        await a_run_of_each_ending(model, session)
    head = (await session.get()).head
    await until(at_rest)
    await until(few_files)
    assert process.num_threads() <= before[0] + 2
    assert (await session.get()).head == head
    assert "tenuto_active_runs 0.0" in await raw.text("/metrics")
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("H5")
@pytest.mark.failure(11, 14)
async def test_a_prompt_survives_a_crash_right_after_its_202(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client, session: SessionHandle
) -> None:
    file = await tenuto.upload("notes.txt", b"tea", media_type="text/plain")
    first = await raw.post(f"/api/sessions/{session.id}/runs", {"input": "one"})
    second = await session.prompt([InputText(text="two"), InputFile(file_id=file.id)])
    accepted = await second.get()
    await server.kill()
    await server.start()
    # The first may have been running: then it is not run again. The second was only queued.
    one = await tenuto.run(first.body["id"]).get()
    model.script(lambda exchange: exchange.say(f"to {exchange.prompt.split()[0]}"))
    for exchange in model.exchanges:
        if exchange.ended == "open":
            await exchange.say("to two")
    assert (await second.wait()).status == "completed"
    assert (await tenuto.run(one.id).wait()).status in ("interrupted", "completed")
    messages = [m for m in (await session.messages()).messages if m.role == "user"]
    text, attached = messages[1].parts
    assert isinstance(text, TextPart) and text.text == "two"
    assert isinstance(attached, FilePart)
    assert (attached.file_id, attached.name, attached.size) == (file.id, "notes.txt", 3)
    assert [messages[1].created_at, messages[0].created_at] == [
        accepted.accepted_at,
        first.body["accepted_at"],
    ]
    assert outline((await session.messages()).messages)[-1] == ("assistant", "to two", "end_turn")
    await assert_settled(raw, session.id)


async def bytes_written_while_streaming(
    model: ModelServer, server: TenutoServer, session: SessionHandle
) -> int:
    """What the server hands to the system while an answer streams: files and sockets alike."""
    run = await session.prompt("Count", mode=Mode.CHAT)
    exchange = await model.next_request()
    await exchange.begin()
    await until_quiet(server)
    process = psutil.Process(server.pid)
    before: int = process.io_counters().write_chars
    for n in range(30):
        await exchange.text(f"piece {n}. ")
        await until_text(run, f"piece {n}. ") if n % 10 == 9 else None
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    after: int = process.io_counters().write_chars
    return after - before


async def a_run_of_each_ending(model: ModelServer, session: SessionHandle) -> None:
    await say(model, session, "Hi", "Hello")
    failed = await session.prompt("Fail")
    await (await model.next_request()).fail(401, "no")
    assert (await failed.wait()).status == "failed"
    cancelled = await session.prompt("Wait")
    exchange = await model.next_request()
    await exchange.begin()
    await session.cancel()
    await exchange.closed()
    assert (await cancelled.wait()).status == "cancelled"
    await a_cancelled_shell(model, session)


async def a_cancelled_shell(model: ModelServer, session: SessionHandle) -> None:
    run = await session.prompt("Sleep")
    exchange: Exchange = await model.next_request()
    await exchange.tool_call(0, "call_1", "shell")
    await exchange.tool_input(0, '{"command": "echo up; sleep 998"}')
    await exchange.finish("tool_calls")
    await until_output(run, "up")
    await session.cancel()
    assert (await run.wait()).status == "cancelled"


async def listed(tenuto: Client) -> list[SessionId]:
    return [session.id async for session in tenuto.sessions()]


async def until_quiet(server: TenutoServer) -> None:
    """Wait until no file of the server was touched for two seconds."""
    quiet_for = 0
    stamp = stamps(server.data)

    async def quiet() -> bool:
        nonlocal quiet_for, stamp
        now = stamps(server.data)
        quiet_for, stamp = (quiet_for + 1 if now == stamp else 0), now
        return quiet_for >= 100

    await until(quiet)


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def _is_done(event: PartUpdated) -> bool:
    return isinstance(event.part, ToolChange) and event.part.state == "done"
