"""Accepting, queueing, cancelling (C1–C8)."""

import anyio
import pytest

from tenuto.client import SessionHandle
from tenuto.core.event import RunAccepted, RunFinished
from tenuto.core.run import Run, WhenBusy
from tests.support.log import assert_settled
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.watch import outline, until_event, until_output, until_text

pytestmark = pytest.mark.anyio


@pytest.mark.guarantee("C1", "C2")
async def test_one_cancel_reaches_the_active_run_and_all_that_wait(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    runs = [await session.prompt(f"prompt {n}") for n in range(4)]
    exchange = await model.next_request()
    await exchange.text("first")
    await until_text(runs[0], "first")
    answer = await session.cancel()
    assert (answer.cancelled, answer.settled) == (tuple(run.id for run in runs), True)
    await exchange.closed()
    ended = [await run.get() for run in runs]
    assert {(run.status, run.reason) for run in ended} == {("cancelled", "user")}
    assert [run.started_at is None for run in ended] == [False, True, True, True]
    # The queued ones end with the mark itself, before the active one has unwound.
    said = outline((await session.messages()).messages)
    assert sorted(said) == sorted(
        [
            *[("user", f"prompt {n}", "end_turn") for n in range(4)],
            ("assistant", "first", "cancelled"),
            *[("assistant", "", "cancelled")] * 3,
        ]
    )
    assert len(model.exchanges) == 1
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C3")
async def test_a_steer_that_a_cancel_covers_is_not_given_to_the_run(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Look")
    exchange = await model.next_request()
    steer = await session.prompt("No, here", when_busy=WhenBusy.STEER)
    await session.cancel()
    await exchange.closed()
    ended = await steer.get()
    assert (ended.status, ended.reason, ended.steered_into) == ("cancelled", "user", None)
    assert (await run.get()).status == "cancelled"
    after = await session.prompt("And now?")
    exchange = await model.next_request()
    await exchange.say("Yes")
    assert (await after.wait()).status == "completed"
    assert len(model.exchanges) == 2
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C4")
@pytest.mark.failure(37, 38)
async def test_a_cancel_of_a_run_that_has_ended_reports_its_ending_and_stays_behind(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    first = await session.prompt("one")
    await (await model.next_request()).say("1")
    ended = await first.wait()
    assert await first.cancel() == ended
    second = await session.prompt("two")
    exchange = await model.next_request()
    assert await first.cancel() == ended
    await exchange.say("2")
    assert (await second.wait()).status == "completed"
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C4")
async def test_a_cancel_that_races_the_end_leaves_nothing_for_the_next_run(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    for n in range(10):
        run = await session.prompt(f"race {n}")
        exchange = await model.next_request()
        await exchange.text("done")
        async with anyio.create_task_group() as group:
            group.start_soon(session.cancel)
            group.start_soon(_finish_if_open, exchange)
        assert (await run.wait()).status in ("completed", "cancelled")
        after = await session.prompt(f"after {n}")
        await (await model.next_request()).say("fine")
        assert (await after.wait()).status == "completed"
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C5")
@pytest.mark.failure(24, 26, 27)
async def test_whoever_waits_for_a_run_gets_its_ending_also_if_it_never_began(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    await session.prompt("first")
    exchange = await model.next_request()
    waiting = await session.prompt("second")
    endings: list[Run] = []

    async def wait() -> None:
        endings.append(await waiting.wait())

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        async with raw.sse(f"/api/runs/{waiting.id}/events") as stream:
            await stream.until("run.accepted")
            assert (await waiting.cancel()).status == "cancelled"
            frames = await stream.to_the_end()
    assert frames[-1].event == "run.finished"
    assert frames[-1].data["run"]["id"] == frames[-1].data["run_id"] == waiting.id
    endings.append(await waiting.wait())
    assert {(run.id, run.status) for run in endings} == {(waiting.id, "cancelled")}
    await exchange.say("not touched")
    assert len(model.exchanges) == 1


@pytest.mark.guarantee("C6", "C14")
async def test_two_prompts_before_one_cancel_leave_two_cancelled_answers(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    first, second = await session.prompt("one"), await session.prompt("two")
    await session.cancel()
    assert [(await run.wait()).status for run in (first, second)] == ["cancelled"] * 2
    said = outline((await session.messages()).messages)
    assert sorted(said) == sorted(
        [
            ("user", "one", "end_turn"),
            ("user", "two", "end_turn"),
            *[("assistant", "", "cancelled")] * 2,
        ]
    )
    for exchange in model.exchanges:
        await exchange.closed()
    assert len(model.exchanges) <= 1
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C7")
async def test_a_cancel_on_an_idle_session_does_nothing(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    for _ in range(3):
        answer = await session.cancel()
        assert (answer.cancelled, answer.head, answer.settled) == ((), 0, True)
    run = await session.prompt("Hi")
    await (await model.next_request()).say("Hello")
    assert (await run.wait()).status == "completed"
    head = (await session.get()).head
    assert (await session.cancel()).cancelled == ()
    assert (await session.get()).head == head
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C8")
@pytest.mark.failure(25)
@pytest.mark.parametrize("server_env", [{"TENUTO_PERMISSIONS": "allow"}])
async def test_a_prompt_accepted_after_a_cancel_runs_though_the_covered_run_still_unwinds(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    active = await session.prompt("Run it")
    exchange = await model.next_request()
    await exchange.tool_call(0, "call_1", "shell")
    # Ignores the polite signal, so that the cancel takes its time.
    await exchange.tool_input(
        0, '{"command": "trap \'\' TERM; echo up; while :; do sleep 9; done"}'
    )
    await exchange.finish("tool_calls")
    await until_output(active, "up")
    covered = await session.prompt("covered")
    async with anyio.create_task_group() as group:
        group.start_soon(session.cancel)
        # A queued run ends in the same write as the mark: from here on, the cancel is made.
        await until_event(covered, RunFinished)
        after = await session.prompt("after")
        await until_event(after, RunAccepted)
    await (await model.next_request()).say("I ran")
    assert (await after.wait()).status == "completed"
    assert [(await run.wait()).status for run in (active, covered)] == ["cancelled"] * 2
    await assert_settled(raw, session.id)


async def _finish_if_open(exchange: Exchange) -> None:
    try:
        await exchange.finish()
    except ConnectionError:
        return  # The cancel was first.
