"""A stop that lies: lines 33 to 39 of the failure ledger."""

import re
import uuid

import anyio
import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.client import ApiError, Client, SessionHandle
from tenuto.core.event import RunFinished
from tenuto.core.run import WhenBusy
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import held, new_sessions, say, start_shell
from tests.support.watch import outline, until, until_event, until_text

pytestmark = pytest.mark.anyio

ALLOW = pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
LESS_THAN_A_HEARTBEAT_SECONDS = 6.0
LONGER_THAN_A_RETRY_SECONDS = 2.0


@pytest.mark.failure(13, 33)
async def test_when_a_stop_has_answered_the_provider_s_connection_is_closed(
    model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    """At once and for all of them: nothing waits for a next token, or for a collector."""
    sessions = await new_sessions(tenuto, 10)
    runs = [await session.prompt(session.id) for session in sessions]
    exchanges = await held(model, [session.id for session in sessions])
    for run, session in zip(runs, sessions, strict=True):
        await exchanges[session.id].text("one ")
        await until_text(run, "one ")
    for session in sessions:
        assert (await session.cancel()).settled
        # Loopback: the closing needs no more than a moment to get here.
        await exchanges[session.id].closed(timeout=2)
        assert outline((await session.messages()).messages)[1][1:] == ("one ", "cancelled")
    assert model.counts["finished"] == 0
    for session in sessions:
        await assert_settled(raw, session.id)


@ALLOW
@pytest.mark.failure(34)
@pytest.mark.parametrize("by", ["cancel", "delete", "kill -9", "SIGTERM"])
async def test_no_descendant_of_a_shell_command_survives_its_run(
    by: str, model: ModelServer, server: TenutoServer, session: SessionHandle
) -> None:
    """Among them some that leave the session, ignore signals, or have lost their parents."""
    mark = f"mark-{uuid.uuid4().hex}"
    sleeper = f"exec -a {mark} sleep 990"
    command = (
        f"(trap '' TERM HUP INT; bash -c '{sleeper}' & wait) & "
        f"setsid bash -c '{sleeper}' & "
        f"(setsid bash -c '(trap \"\" TERM; {sleeper}) & disown' &) ; "
        f"nohup bash -c '{sleeper}' >/dev/null 2>&1 & "
        "sleep 0.3; echo up; wait"
    )
    await start_shell(model, session, command, says="up")
    assert len(_named(mark)) >= 4
    if by == "cancel":
        assert (await session.cancel()).settled
        assert _named(mark) == []
    elif by == "delete":
        await session.delete()
        assert _named(mark) == []
    elif by == "SIGTERM":
        server.signal_stop()
        server.signal_stop()
        assert await server.wait() == 0
        assert _named(mark) == []
    else:
        await server.kill()

        async def gone() -> bool:
            return _named(mark) == []

        await until(gone)


@pytest.mark.failure(35)
async def test_nothing_goes_on_by_itself_after_a_stop(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """Stopped while it waits to ask a busy provider again, with more prompts behind it."""
    run = await session.prompt("one")
    await (await model.next_request()).fail(503, "busy", {"Retry-After": "1"})
    queued = await session.prompt("two")
    answer = await session.cancel()
    assert (answer.cancelled, answer.settled) == ((run.id, queued.id), True)
    head = answer.head
    await anyio.sleep(LONGER_THAN_A_RETRY_SECONDS)
    assert (len(model.exchanges), (await session.get()).head) == (1, head)
    await assert_settled(raw, session.id)


@ALLOW
@pytest.mark.failure(35)
async def test_a_stop_between_two_steps_ends_the_loop(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run, _ = await start_shell(model, session, "echo up; sleep 96", says="up")
    await session.prompt("also", when_busy=WhenBusy.STEER)
    await session.cancel()
    assert (await run.get()).status == "cancelled"
    await say(model, session, "And now?", "Here")
    assert len(model.exchanges) == 2
    await assert_settled(raw, session.id)


@pytest.mark.failure(36)
@pytest.mark.parametrize("server_env", [{"TENUTO_DRAIN": "0.5"}])
async def test_a_shutdown_is_recorded_as_one_and_not_as_the_users_stop(
    model: ModelServer, server: TenutoServer, raw: RawApi, tenuto: Client
) -> None:
    stopped, left, done = await new_sessions(tenuto, 3)
    runs = [await session.prompt(session.id) for session in (stopped, left, done)]
    exchanges = await held(model, [s.id for s in (stopped, left, done)])
    for run, session in zip(runs, (stopped, left, done), strict=True):
        await exchanges[session.id].text("word")
        await until_text(run, "word")
    queued = await left.prompt("still to come")
    await stopped.cancel()
    server.signal_stop()
    await exchanges[done.id].finish()
    assert await server.wait() == 0
    model.script(lambda exchange: exchange.say("After the restart"))
    await server.start()
    ends = [(r.status, r.reason, r.error) for r in [await run.wait() for run in runs]]
    assert ends == [
        ("cancelled", "user", None),
        ("interrupted", "server_stopped", None),
        ("completed", "end_turn", None),
    ]
    assert (await queued.wait()).status == "completed"
    said = outline((await left.messages()).messages)
    assert said[1] == ("assistant", "word", "interrupted")
    assert said[3] == ("assistant", "After the restart", "end_turn")
    for session in (stopped, left, done):
        await assert_settled(raw, session.id)


@pytest.mark.failure(36)
async def test_a_users_stop_during_a_shutdown_is_the_users(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    await exchange.text("word")
    await until_text(run, "word")
    server.signal_stop()

    async def draining() -> bool:
        return (await raw.call("GET", "/readyz")).status == 503

    await until(draining)
    refused = await raw.post(f"/api/sessions/{session.id}/runs", {"input": "too late"})
    assert (refused.status, refused.body["code"]) == (503, "shutting_down")
    assert "Retry-After" in refused.headers
    ended = await run.cancel()
    assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None)
    assert await server.wait() == 0
    await server.start()
    assert await run.get() == ended
    assert len((await session.messages()).messages) == 2
    await assert_settled(raw, session.id)


@pytest.mark.failure(37)
async def test_an_outdated_stop_leaves_the_newer_run_alone(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    """A tab that still shows the old run stops that one: over, stopped, or left by a crash."""
    stopped = await session.prompt("one")
    await model.next_request()
    await stopped.cancel()
    crashed = await session.prompt("two")
    await model.next_request()
    await server.kill()
    await server.start()
    assert (await crashed.wait()).status == "interrupted"
    newer = await session.prompt("three")
    exchange = await model.next_request()
    assert (await stopped.cancel()).status == "cancelled"
    assert (await crashed.cancel()).status == "interrupted"
    assert (await newer.get()).status == "running"
    await exchange.say("3")
    assert (await newer.wait()).status == "completed"
    await assert_settled(raw, session.id)


@pytest.mark.failure(38)
async def test_a_stop_of_what_is_not_there_does_not_say_yes(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    await model.next_request()
    for path in ("/api/runs/run_nobody/cancel", "/api/sessions/ses_nobody/cancel"):
        answer = await raw.post(path)
        assert (answer.status, answer.body["code"]) == (404, "not_found")
    await session.delete()
    for call in (run.cancel, session.cancel):
        with pytest.raises(ApiError, match="404 not_found"):
            await call()


@pytest.mark.failure(38)
@ALLOW
async def test_a_stop_says_settled_only_when_it_is(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """While it unwinds, the run says running; once it says cancelled, nothing follows."""
    run, _ = await start_shell(
        model, session, "trap '' TERM; echo up; while :; do sleep 9; done", says="up"
    )
    answer = await raw.post(f"/api/sessions/{session.id}/cancel")
    ended = await until_event(run, RunFinished)
    assert answer.body["settled"] is True
    assert answer.body["head"] == (await session.get()).head
    assert ended.run.status == "cancelled"
    await assert_settled(raw, session.id)


@pytest.mark.one_node("each node counts for itself")
@pytest.mark.failure(39)
async def test_viewers_of_a_silent_stream_are_missed_at_once_when_they_leave(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    """Nothing is written: only the closed connection itself can tell."""
    run = await session.prompt("Hi")
    await model.next_request()
    streams = [
        raw.sse(path)
        for path in (f"/api/sessions/{session.id}/events", f"/api/runs/{run.id}/events")
        for _ in range(10)
    ]
    for stream in streams:
        await stream.__aenter__()
        await stream.until("run.started")
    assert await _viewers(raw) == 20
    for stream in streams:
        await stream.close()

    async def none_left() -> bool:
        return await _viewers(raw) == 0

    with anyio.fail_after(LESS_THAN_A_HEARTBEAT_SECONDS):
        await until(none_left)
    assert (await run.get()).status == "running"


async def _viewers(raw: RawApi) -> int:
    found = re.search(r"^tenuto_viewers ([0-9.]+)$", await raw.text("/metrics"), re.MULTILINE)
    assert found is not None
    return int(float(found[1]))


def _named(mark: str) -> list[int]:
    """Living processes that go by this name."""
    found = []
    for process in psutil.process_iter():
        try:
            named = mark in process.cmdline()[:1]
            if named and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.NoSuchProcess:
            continue
    return found
