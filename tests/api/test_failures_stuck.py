"""Stuck: lines 23 to 32 of the failure ledger."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from tenuto.client import Client, RunHandle, SessionHandle
from tenuto.core.approval import Decision
from tenuto.core.event import ApprovalRequested
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool, held, new_sessions, say, start_shell
from tests.support.watch import outline, until_event, until_text

pytestmark = pytest.mark.anyio

ALLOW = pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
RESCUE_ROUND_SECONDS = 5.0
"""How often the server looks for runs that nobody runs."""


@pytest.mark.failure(23)
async def test_a_crash_leaves_nothing_that_says_running_whatever_it_was_doing(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    _, talking, broken_call = sessions = await new_sessions(tenuto, 3)
    runs = [await session.prompt(session.id) for session in sessions]
    exchanges = await held(model, [session.id for session in sessions])
    await exchanges[talking.id].text("one")
    await until_text(runs[1], "one")
    await exchanges[broken_call.id].tool_call(0, "call_1", "read_file")
    await exchanges[broken_call.id].tool_input(0, '{"pa')
    await until_text(runs[2], '{"pa')
    await server.kill()
    await server.start()
    for run in runs:
        ended = await run.wait()
        assert (ended.status, ended.reason) == ("interrupted", "server_crashed")
    for session in sessions:
        events = await assert_settled(raw, session.id)
        assert events[-1]["type"] == "run.finished"
    assert len(model.exchanges) == 3


@pytest.mark.failure(23, 58)
@pytest.mark.parametrize("server_env", [{"TENUTO_LIMITS_CONNECT_SECONDS": "1"}])
async def test_a_living_run_is_left_alone_and_a_late_first_token_is_waited_for(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """Longer than the limit on connecting, and than a round of the server's own rescue."""
    run = await session.prompt("Think long")
    exchange = await model.next_request()
    await anyio.sleep(RESCUE_ROUND_SECONDS + 1)
    assert (await run.get()).status == "running"
    await exchange.say("At last")
    assert (await run.wait()).status == "completed"
    events = await assert_settled(raw, session.id)
    assert [e["type"] for e in events].count("run.started") == 1
    assert len(model.exchanges) == 1


@pytest.mark.failure(26, 27)
async def test_each_ending_is_told_when_it_happens_and_the_queue_goes_on_after_failures(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    runs = [await session.prompt(word) for word in ("one", "two", "three", "four")]
    await (await model.next_request()).fail(401, "wrong key")
    first = await runs[0].wait()
    assert (first.id, first.status) == (runs[0].id, "failed")
    exchange = await model.next_request()
    assert exchange.prompt == "two"
    # The second is held, so the first one's ending did not wait for it.
    assert (await runs[1].get()).status == "running"
    await exchange.text("half")
    await until_text(runs[1], "half")
    await exchange.complain()
    assert (await runs[1].wait()).status == "failed"
    assert (await model.next_request()).prompt == "three"
    assert (await runs[2].cancel()).status == "cancelled"
    await (await model.next_request()).say("4")
    fourth = await runs[3].wait()
    assert (fourth.id, fourth.status) == (runs[3].id, "completed")
    events = await assert_settled(raw, session.id)
    ends = [(e["run_id"], e["run"]["id"]) for e in events if e["type"] == "run.finished"]
    assert ends == [(run.id, run.id) for run in runs]


@pytest.mark.failure(28)
@pytest.mark.parametrize("said", ["nothing at all", "headers", "half a line", "a word"])
async def test_a_silent_provider_does_not_ignore_a_stop(
    said: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    if said == "headers":
        await exchange.begin()
    elif said == "half a line":
        await exchange.raw(b'data: {"choices": [{"ind')
    elif said == "a word":
        await exchange.text("word")
        await until_text(run, "word")
    answer = await session.cancel()
    assert (answer.cancelled, answer.settled) == ((run.id,), True)
    await exchange.closed()
    kept = outline((await session.messages()).messages)[1]
    assert kept == ("assistant", "word" if said == "a word" else "", "cancelled")
    await assert_settled(raw, session.id)


@pytest.mark.failure(28)
@pytest.mark.parametrize("server_env", [{"TENUTO_LIMITS_STALL_SECONDS": "1"}])
@pytest.mark.parametrize("said", ["", "word"])
async def test_silence_has_a_limit_and_what_came_before_it_is_kept(
    said: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.begin()
    if said:
        await exchange.text(said)
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("failed", "provider_stalled")
    assert ended.error is not None and ended.error.code == "provider_stalled"
    await exchange.closed()
    assert outline((await session.messages()).messages)[1] == ("assistant", said, "error")
    await assert_settled(raw, session.id)


@pytest.mark.failure(29)
async def test_an_approval_is_seen_and_answered_by_whoever_comes_late(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Write")
    await call_tool(await model.next_request(), "write_file", path="a.txt", content="tea")
    asked = await until_event(run, ApprovalRequested)
    assert (await session.get()).state == "waiting"
    async with (
        raw.sse(f"/api/sessions/{session.id}/events", after="now") as late,
        server.client() as elsewhere,
    ):
        snapshot = (await late.next()).data
        assert [a["id"] for a in snapshot["approvals"]] == [asked.approval.id]
        (listed,) = await elsewhere.session(session.id).approvals()
        assert (listed.state, listed.tool) == ("pending", "write_file")
        assert listed.input == {"path": "a.txt", "content": "tea"}
        await elsewhere.answer(listed.id, Decision.ALLOW_ONCE)
        resolved = await late.until("approval.resolved")
        assert resolved.data["approval"]["state"] == "allowed"
    await (await model.next_request()).say("Written")
    assert (await run.wait()).status == "completed"
    await assert_settled(raw, session.id)


@pytest.mark.failure(29)
async def test_an_approval_that_a_crash_left_is_still_there_to_be_answered(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client, session: SessionHandle
) -> None:
    run = await session.prompt("Write")
    await call_tool(await model.next_request(), "write_file", path="a.txt", content="tea")
    asked = await until_event(run, ApprovalRequested)
    await server.kill()
    await server.start()
    (left,) = await session.approvals()
    assert (left.id, left.state) == (asked.approval.id, "pending")
    await tenuto.answer(left.id, Decision.DENY, note="Not now")
    exchange = await model.next_request()
    assert "Not now" in str(exchange.messages[-1])
    await exchange.say("Fine")
    assert (await run.wait()).status == "completed"
    await assert_settled(raw, session.id)


@ALLOW
@pytest.mark.failure(30)
async def test_sessions_that_hang_hold_up_no_other(
    model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    shell, silent, unread, free = await new_sessions(tenuto, 4)
    await start_shell(model, shell, "echo up; sleep 97", says="up")
    await silent.prompt("silent")
    await model.next_request()
    await unread.prompt("unread")
    flood = await model.next_request()
    async with raw.sse(f"/api/sessions/{unread.id}/events") as reader:
        await reader.next()
        for _ in range(20):
            await flood.text("x" * 100_000)
        await say(model, free, "Are you there?", "Yes")
        await free.update(title="free")
        assert (await free.cancel()).settled
    for session in (shell, silent, unread):
        assert (await session.cancel()).settled
        await assert_settled(raw, session.id)


@pytest.mark.failure(31)
@pytest.mark.parametrize(
    "how",
    [
        *("session", "run", "queued", "taken back", "failed"),
        pytest.param(
            "deleted",
            marks=pytest.mark.one_node("a run elsewhere is ended first, then its session goes"),
        ),
    ],
)
async def test_every_stream_of_a_stopped_run_ends_with_its_ending(
    how: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    active = await session.prompt("one")
    exchange = await model.next_request()
    run = await session.prompt("two") if how in ("queued", "taken back") else active
    stops: dict[str, Callable[[], Awaitable[Any]]] = {
        "session": session.cancel,
        "run": run.cancel,
        "queued": run.cancel,
        "taken back": run.withdraw,
        "failed": lambda: exchange.fail(401, "no"),
        "deleted": session.delete,
    }
    path = f"/api/runs/{run.id}/events"
    async with raw.sse(path) as before, raw.sse(path, after=1) as later:
        await before.next()
        await stops[how]()
        frames = await before.to_the_end()
        assert (await later.to_the_end())[-1] == frames[-1]
    if how == "deleted":
        assert frames[-1].event == "session.deleted"
        frames = frames[:-1]
    assert frames[-1].event == "run.finished"
    assert frames[-1].data["run"]["id"] == run.id
    if how != "deleted":
        async with raw.sse(path) as after:
            assert await after.to_the_end() == frames


@pytest.mark.failure(31)
async def test_a_stream_that_is_opened_just_as_its_run_ends_ends_too(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    async def watch(run: RunHandle, after: str | int | None) -> None:
        async with raw.sse(f"/api/runs/{run.id}/events", after=after) as stream:
            frames = await stream.to_the_end()
        told = [f.data["run"] for f in frames if f.event == "run.finished"]
        told += [r for f in frames if f.event == "snapshot" for r in f.data["runs"]]
        assert any(r["id"] == run.id and r["status"] == "completed" for r in told), frames

    for n in range(12):
        run = await session.prompt(f"{n}")
        exchange = await model.next_request()
        async with anyio.create_task_group() as group:
            group.start_soon(exchange.say, "done")
            for _ in range(4):
                for after in ("now", None):
                    group.start_soon(watch, run, after)
                await anyio.sleep(0.002)


@pytest.mark.failure(32)
@pytest.mark.parametrize("finish", ["stop", "tool_calls"])
async def test_a_run_that_produced_nothing_is_not_called_done(
    finish: str, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Say something")
    await (await model.next_request()).finish(finish)
    ended = await run.wait()
    assert (ended.status, ended.reason) == ("failed", "no_response")
    assert ended.error is not None and ended.error.code == "no_response"
    assert outline((await session.messages()).messages) == [
        ("user", "Say something", "end_turn"),
        ("assistant", "", "error"),
    ]
    await assert_settled(raw, session.id)
