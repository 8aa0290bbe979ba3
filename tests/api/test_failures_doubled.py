"""Content doubled or misplaced: lines 15 to 22 of the failure ledger."""

import asyncio
from typing import Any

import anyio
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tests.oracle.fold import fold
from tests.support.log import assert_settled, fold_frames, read_log
from tests.support.model_server import ClientGone, Exchange, ModelServer
from tests.support.raw import RawApi, RawFrame
from tests.support.server import TenutoServer
from tests.support.talk import new_sessions, say
from tests.support.watch import outline, until_text

pytestmark = pytest.mark.anyio

ENDS = {"completed": "end_turn", "cancelled": "cancelled"}


@pytest.mark.failure(15, 21)
async def test_a_reconnect_at_any_cursor_of_a_living_stream_gives_the_rest_and_only_that(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "Before", "this")
    run = await session.prompt("Count")
    exchange = await model.next_request()
    for n in range(15):
        await exchange.text(f"{n} ")
        await until_text(run, f"{n} ")
    seen = await read_log(raw, session.id)
    rests: dict[int, list[RawFrame]] = {}
    path = f"/api/sessions/{session.id}/events"

    async def resume(cursor: int, started: asyncio.Semaphore) -> None:
        async with raw.sse(path, last_event_id=cursor) as stream:
            started.release()
            await stream.until("run.finished", run_id=run.id)
            rests[cursor] = stream.frames

    started = asyncio.Semaphore(0)
    async with anyio.create_task_group() as group:
        for cursor in range(len(seen) + 1):
            group.start_soon(resume, cursor, started)
        for n in range(15, 60):
            await exchange.text(f"{n} ")
            await anyio.sleep(0.005)
        for _ in range(len(seen) + 1):
            await started.acquire()
        await exchange.finish()
    events = await assert_settled(raw, session.id)
    transcript = (await raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
    for cursor, frames in rests.items():
        assert [frame.id for frame in frames] == list(range(cursor + 1, len(events) + 1))
        joined = seen[:cursor] + [frame.data for frame in frames]
        assert joined == events
        assert fold(joined).messages == transcript


@pytest.mark.failure(15)
async def test_a_cursor_of_one_run_used_for_another_gives_all_of_the_other(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    first = await say(model, session, "one", "1")
    end_of_first = (await session.get()).head
    second = await say(model, session, "two", "2")
    head = (await session.get()).head

    async def replay(run: RunHandle, after: int | None) -> list[RawFrame]:
        async with raw.sse(f"/api/runs/{run.id}/events", after=after) as stream:
            return await stream.to_the_end()

    whole = await replay(second, None)
    assert {frame.data["run_id"] for frame in whole} == {second.id}
    assert await replay(second, end_of_first) == whole
    assert await replay(second, 3) == whole
    assert await replay(first, head - 1) == []
    assert [frame.id for frame in await replay(first, 3)] == list(range(4, end_of_first + 1))


@pytest.mark.failure(16)
async def test_equal_prompts_are_prompts_of_their_own(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "Again", "first")
    stopped = await session.prompt("Again")
    await (await model.next_request()).text("sec")
    await until_text(stopped, "sec")
    await session.cancel()
    await say(model, session, "Again", "third")
    crashed = await session.prompt("Again")
    await (await model.next_request()).text("fou")
    await until_text(crashed, "fou")
    await server.kill()
    await server.start()
    assert (await crashed.wait()).status == "interrupted"
    for _ in range(2):
        assert outline((await session.messages()).messages) == [
            ("user", "Again", "end_turn"),
            ("assistant", "first", "end_turn"),
            ("user", "Again", "end_turn"),
            ("assistant", "sec", "cancelled"),
            ("user", "Again", "end_turn"),
            ("assistant", "third", "end_turn"),
            ("user", "Again", "end_turn"),
            ("assistant", "fou", "interrupted"),
        ]
        await assert_settled(raw, session.id)
        await server.terminate()
        await server.start()


@pytest.mark.failure(17)
async def test_no_reading_and_no_restart_ever_adds_to_what_was_repaired(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one")
    await exchange.tool_call(0, "call_1", "read_file")
    await exchange.tool_input(0, '{"p')
    await until_text(run, '{"p')
    await server.kill()
    await server.start()
    assert (await run.wait()).status == "interrupted"
    before = await assert_settled(raw, session.id)
    transcript = await raw.get(f"/api/sessions/{session.id}/messages")
    for _ in range(3):
        for path in ("", "/messages", "/runs", "/approvals"):
            await raw.get(f"/api/sessions/{session.id}{path}")
        async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
            await stream.next()
        await server.kill()
        await server.start()
        assert await raw.get(f"/api/sessions/{session.id}/messages") == transcript
        assert await assert_settled(raw, session.id) == before


@pytest.mark.failure(18, 38)
async def test_a_cancel_against_the_natural_end_has_one_outcome_and_all_agree_on_it(
    model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    sessions = await new_sessions(tenuto, 6)

    async def race(session: SessionHandle, delay: float) -> None:
        run = await session.prompt(f"{session.id} {delay}")
        exchange = await model.next_request()
        await exchange.text("done")
        told: list[Any] = []
        async with (
            raw.sse(f"/api/runs/{run.id}/events") as stream,
            anyio.create_task_group() as group,
        ):
            group.start_soon(_finish, exchange)
            await anyio.sleep(delay)
            told.append(await raw.post(f"/api/runs/{run.id}/cancel"))
            told.append(await raw.post(f"/api/sessions/{session.id}/cancel"))
            frames = await stream.to_the_end()
        ended = frames[-1].data["run"]
        assert frames[-1].event == "run.finished"
        assert told[0].body == ended == await raw.get(f"/api/runs/{run.id}")
        assert told[1].body["cancelled"] == []
        (finish,) = [f.data["finish_reason"] for f in frames if f.event == "message.finished"]
        assert finish == ENDS[ended["status"]]

    for n in range(8):
        for session in sessions:
            await race(session, n * 0.001)
    for session in sessions:
        await assert_settled(raw, session.id)


@pytest.mark.one_node(
    "what a dead node left is settled within seconds, not before the next one is ready"
)
@pytest.mark.failure(19)
async def test_a_double_submit_and_a_submit_after_a_lost_answer_make_one_run(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    path = f"/api/sessions/{session.id}/runs"
    key = {"Idempotency-Key": "one and the same"}
    ids: list[str] = []

    async def submit() -> None:
        answer = await raw.call("POST", path, {"input": "Pay"}, headers=key)
        assert answer.status == 202
        ids.append(answer.body["id"])

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(submit)
    exchange = await model.next_request()
    other = await raw.call("POST", path, {"input": "Pay more"}, headers=key)
    assert (other.status, other.body["code"]) == (409, "idempotency_mismatch")
    await server.kill()
    await server.start()
    await submit()
    assert len(set(ids)) == 1
    assert [run["id"] for run in (await raw.get(path))["runs"]] == [ids[0]]
    assert [exchange.prompt for exchange in model.exchanges] == ["Pay"]
    assert exchange.ended == "closed by client"
    said = outline((await session.messages()).messages)
    assert said == [("user", "Pay", "end_turn"), ("assistant", "", "interrupted")]
    await assert_settled(raw, session.id)


@pytest.mark.failure(20)
async def test_order_is_that_of_acceptance_however_fast_all_of_it_was(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """Many of these fall into one millisecond: a clock could not tell them apart."""
    runs = [await session.prompt(f"cancelled {n}") for n in range(15)]
    await session.cancel()
    model.script(lambda exchange: exchange.say(f"to {exchange.prompt}"))
    runs += [await session.prompt(f"answered {n}") for n in range(15)]
    for run in runs:
        assert (await run.wait()).ended
    said = outline((await session.messages()).messages)
    expected = []
    for n in range(15):
        expected += [("user", f"cancelled {n}", "end_turn"), ("assistant", "", "cancelled")]
    for n in range(15):
        answer = ("assistant", f"to answered {n}", "end_turn")
        expected += [("user", f"answered {n}", "end_turn"), answer]
    assert said == expected
    listed = (await raw.get(f"/api/sessions/{session.id}/runs"))["runs"]
    assert [run["id"] for run in listed] == [run.id for run in reversed(runs)]
    await assert_settled(raw, session.id)


@pytest.mark.failure(21)
async def test_a_snapshot_and_its_tail_are_taken_at_one_point(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    await say(model, session, "Before", "this")
    run = await session.prompt("Count")
    exchange = await model.next_request()
    joined: list[list[RawFrame]] = []

    async def join() -> None:
        async with raw.sse(f"/api/sessions/{session.id}/events", after="now") as stream:
            await stream.next()
            if not any(r["status"] != "completed" for r in stream.frames[0].data["runs"]):
                return
            await stream.until("run.finished")
            joined.append(stream.frames)

    async with anyio.create_task_group() as group:
        for n in range(400):
            await exchange.text(f"{n} ")
            if n % 8 == 0:
                group.start_soon(join)
                await anyio.sleep(0.002)
        await exchange.finish()
    assert (await run.wait()).status == "completed"
    transcript = (await raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
    head = (await session.get()).head
    assert len(joined) > 10
    for frames in joined:
        assert frames[0].event == "snapshot"
        assert [frame.id for frame in frames] == list(range(frames[0].id, head + 1))
        assert fold_frames(frames).messages == transcript


@pytest.mark.failure(22)
async def test_a_provider_is_asked_the_same_again_only_while_nothing_was_shown(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    await (await model.next_request()).fail(503, "busy", {"Retry-After": "0"})
    await (await model.next_request()).drop()
    await (await model.next_request()).say("Hello")
    assert (await run.wait()).status == "completed"
    broken = await session.prompt("And you?")
    exchange = await model.next_request()
    await exchange.text("I am")
    await until_text(broken, "I am")
    await exchange.break_off()
    exchange = await model.next_request()
    assert "Go on from exactly where it stopped" in exchange.prompt
    await exchange.complain()
    assert (await broken.wait()).status == "failed"
    assert outline((await session.messages()).messages) == [
        ("user", "Hi", "end_turn"),
        ("assistant", "Hello", "end_turn"),
        ("user", "And you?", "end_turn"),
        ("assistant", "I am", "error"),
    ]
    assert len(model.exchanges) == 5
    await assert_settled(raw, session.id)


async def _finish(exchange: Exchange) -> None:
    try:
        await exchange.finish()
    except ClientGone:
        return  # The cancel was first.
