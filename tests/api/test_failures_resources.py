"""Resources: lines 52 to 61 of the failure ledger."""

from contextlib import AsyncExitStack
from typing import Any

import anyio
import apsw
import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.client import Client, SessionHandle
from tenuto.core.run import Mode
from tenuto.core.value import SessionId
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi, RawSse
from tests.support.server import TenutoServer
from tests.support.talk import DONE, chunk, new_sessions, say
from tests.support.watch import outline, until, until_text

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
SLOW_READERS = 12
PIECE = "0123456789abcdef" * 2048
PIECES = 64
FLOODS = 25
"""2 MiB each; if all were kept for each reader, 600 MiB."""


@pytest.mark.one_node("it looks at the server's process")
@pytest.mark.failure(53)
@pytest.mark.timeout(120)
async def test_readers_that_do_not_read_cost_bounded_memory_and_nobody_else_a_thing(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    """What is streamed to them is far more than the server may hold for all of them together."""
    flooded, other = await new_sessions(tenuto, 2)
    path = f"/api/sessions/{flooded.id}/events"
    await _flood(model, flooded)
    before = _memory(server)
    async with AsyncExitStack() as stack:
        for _ in range(SLOW_READERS):
            await (await stack.enter_async_context(raw.sse(path))).next()
        for _ in range(FLOODS - 1):
            await _flood(model, flooded)
            await say(model, other, "Are you there?", "Yes")
        # These come when all is over, and want it from the beginning.
        late = [await stack.enter_async_context(raw.sse(path)) for _ in range(SLOW_READERS)]
        for stream in late:
            await stream.next()
        assert _memory(server) - before < 100 * MIB
        # One of them reads on, at last: nothing is missing, and it costs no more.
        assert await _read_texts(late[0], FLOODS) == [PIECE * PIECES] * FLOODS
        assert _memory(server) - before < 100 * MIB


@pytest.mark.one_node("it looks at the server's process")
@pytest.mark.failure(54)
async def test_hundreds_of_sessions_leave_no_descriptor_no_viewer_and_no_memory_behind(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    model.script(_answer_or_mumble)
    process = psutil.Process(server.pid)
    await _live_and_go(raw, tenuto, 60)
    before_fds, before_memory = process.num_fds(), _memory(server)
    before_threads = process.num_threads()
    await _live_and_go(raw, tenuto, 240)

    async def back() -> bool:
        return bool(process.num_fds() <= before_fds + 3)

    await until(back)
    assert process.num_threads() <= before_threads + 2
    assert process.children(recursive=True) == []
    text = await raw.text("/metrics")
    assert "tenuto_viewers 0.0" in text and "tenuto_active_runs 0.0" in text
    assert _memory(server) - before_memory < 40 * MIB


@pytest.mark.one_node("it looks at the database's file")
@pytest.mark.failure(56)
@pytest.mark.parametrize("server_env", [{"TENUTO_DRAIN": "0"}])
@pytest.mark.parametrize("after", ["a crash", "a shutdown"])
@pytest.mark.parametrize("odd", ["an open answer", "a queued run", "a session"])
async def test_one_odd_row_does_not_stop_the_recovery_of_all_others(
    odd: str, after: str, model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    sessions = await new_sessions(tenuto, 5)
    runs = [await session.prompt(session.id) for session in sessions]
    for _ in sessions:
        exchange = await model.next_request()
        await exchange.text("half")
    for run in runs:
        await until_text(run, "half")
    queued = [await session.prompt(f"after {session.id}") for session in sessions]
    await (server.kill() if after == "a crash" else server.terminate())
    _spoil(server, odd, sessions[2].id)
    model.script(lambda exchange: exchange.say("fine"))
    await server.start()
    for n, session in enumerate(sessions):
        if n != 2:
            assert (await runs[n].wait()).status == "interrupted"
            assert (await queued[n].wait()).status == "completed"
            await assert_settled(raw, session.id)
    await say_at_once(tenuto)


@pytest.mark.failure(57)
async def test_stopped_failed_and_crashed_runs_are_in_the_books(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    """Each got 40 pieces before its end; no provider ever told what they cost."""
    used = []
    for end in ("stop", "break", "crash"):
        run = await session.prompt("Tell me a story, please")
        exchange = await model.next_request()
        for n in range(40):
            await exchange.text(f" word{n}")
        await until_text(run, " word39")
        if end == "stop":
            await session.cancel()
        elif end == "break":
            await exchange.complain()
        else:
            await server.kill()
            await server.start()
        used.append((await run.wait()).usage)
    for usage in used:
        assert not usage.exact
        assert usage.input_tokens > 0
        assert usage.output_tokens >= 40
    told = await say_with_usage(model, session)
    assert (told.input_tokens, told.output_tokens, told.exact) == (11, 7, True)
    total = (await session.get()).usage
    assert total.output_tokens == sum(usage.output_tokens for usage in used) + 7
    assert total.input_tokens == sum(usage.input_tokens for usage in used) + 11
    await assert_settled(raw, session.id)


@pytest.mark.failure(60)
async def test_neither_repair_nor_reading_moves_a_session_up(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    old, new = await new_sessions(tenuto, 2)
    left = await old.prompt("Left running")
    await model.next_request()
    run = await new.prompt("Newer")
    await (await model.next_request()).say("Yes")
    assert (await run.wait()).status == "completed"
    before = [(s.id, s.updated_at) async for s in tenuto.sessions()]
    assert [name for name, _ in before] == [new.id, old.id]
    await server.kill()
    await server.start()
    assert (await left.wait()).status == "interrupted"
    for path in ("", "/messages", "/runs", "/approvals"):
        await raw.get(f"/api/sessions/{old.id}{path}")
    async with raw.sse(f"/api/sessions/{old.id}/events", after="now") as stream:
        await stream.next()
    await old.update(draft="half a thought", pinned=True)
    await old.cancel()
    assert [(s.id, s.updated_at) async for s in tenuto.sessions()] == before


@pytest.mark.failure(61)
async def test_a_character_cut_by_the_network_or_the_provider_arrives_whole(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Faces")
    exchange = await model.next_request()
    # Bytes cut in the middle of a character, each part in a write of its own.
    for byte in "data: {}\n\n".format(
        '{"choices":[{"index":0,"delta":{"content":"é😀漢 "},"finish_reason":null}]}'
    ).encode():
        await exchange.raw(bytes([byte]))
    # Halves of a surrogate pair, each in an event of its own.
    for half in ("\ud83c", "\udf0a", "ok ", "\ud83d"):
        await exchange.raw(chunk({"content": half}))
    await exchange.raw(chunk({"content": " alone"}))
    await exchange.raw(chunk({"reasoning_content": "\ud83d"}))
    await exchange.raw(chunk({"reasoning_content": "\ude00"}))
    await exchange.raw(chunk({}, finish="stop") + DONE)
    await exchange.end()
    assert (await run.wait()).status == "completed"
    said = outline((await session.messages()).messages)[1][1]
    assert said == "é😀漢 🌊ok \ufffd alone[😀]"
    events = await assert_settled(raw, session.id)
    assert "\\ud8" not in repr(events)


async def _live_and_go(raw: RawApi, tenuto: Client, count: int) -> None:
    """Sessions that are prompted, watched, left, stopped and deleted, ten at a time."""
    limit = anyio.CapacityLimiter(10)

    async def live(n: int) -> None:
        async with limit:
            session = await tenuto.create_session()
            run = await session.prompt("mumble" if n % 3 == 0 else "answer")
            async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
                await stream.next()
                if n % 3 == 0:
                    await session.cancel()
            assert (await run.wait()).ended
            if n % 2 == 0:
                await session.delete()

    async with anyio.create_task_group() as group:
        for n in range(count):
            group.start_soon(live, n)


async def _answer_or_mumble(exchange: Exchange) -> None:
    if exchange.prompt == "answer":
        await exchange.say("Yes")
        return
    while True:
        await exchange.text("hm ")
        await anyio.sleep(0.02)


async def say_at_once(tenuto: Client) -> None:
    session = await tenuto.create_session()
    run = await session.prompt("Still there?")
    assert (await run.wait()).status == "completed"


async def say_with_usage(model: ModelServer, session: SessionHandle) -> Any:
    run = await session.prompt("Short")
    exchange = await model.next_request()
    await exchange.text("Yes")
    await exchange.usage(11, 7)
    await exchange.finish()
    return (await run.wait()).usage


async def _flood(model: ModelServer, session: SessionHandle) -> None:
    run = await session.prompt("Flood", mode=Mode.CHAT)
    exchange = await model.next_request()
    for n in range(PIECES):
        await exchange.text(PIECE)
        # Not merged by haste: the log is to have many large events.
        await anyio.sleep(0.001 if n % 4 else 0)
    await exchange.finish()
    assert (await run.wait()).status == "completed"
    # So that the next one's context stays small; the log keeps it all.
    await session.undo()


async def _read_texts(stream: RawSse, count: int) -> list[str]:
    """The texts of so many answers, read to the end of the last."""
    texts: list[str] = []
    pieces: list[str] = []
    while len(texts) < count:
        frame = await stream.next()
        stream.frames.clear()
        if frame.event == "part.delta":
            pieces.append(frame.data["text"])
        if frame.event == "run.finished":
            texts.append("".join(pieces))
            pieces.clear()
    return texts


def _memory(server: TenutoServer) -> int:
    resident: int = psutil.Process(server.pid).memory_info().rss
    return resident


def _spoil(server: TenutoServer, odd: str, session_id: SessionId) -> None:
    """Make one row of the data unreadable, as no version of ours would ever write it."""
    spoils = {
        "an open answer": "UPDATE events SET body = x'7b' WHERE stream = ? AND type = 'part.delta'",
        "a queued run": "UPDATE runs SET body = x'7b' WHERE session_id = ? AND status = 'queued'",
        "a session": "UPDATE sessions SET control = x'7b' WHERE id = ?",
    }
    connection = apsw.Connection(str(server.data / "tenuto.sqlite3"))
    connection.execute(spoils[odd], (session_id,))
    assert connection.changes() > 0
    connection.close()
