"""Detached and attached runs (O1–O8)."""

from contextlib import AsyncExitStack

import anyio
import pytest

from tenuto.client import Client, SessionHandle
from tenuto.core.run import Mode, OnDisconnect, RunStatus
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.watch import outline, until_text

pytestmark = pytest.mark.anyio

BOTH_MODES = pytest.mark.parametrize("mode", [Mode.CHAT, Mode.AGENT])


@pytest.mark.guarantee("O1", "O7")
async def test_a_client_that_leaves_does_not_stop_its_run(
    model: ModelServer, raw: RawApi, session: SessionHandle, tenuto: Client
) -> None:
    path = f"/api/sessions/{session.id}/runs"
    async with raw.sse(path, method="POST", body={"input": "Count"}) as stream:
        assert stream.status == 200
        exchange = await model.next_request()
        await exchange.text("one, ")
        delta = await stream.until("part.delta")
    await exchange.text("two, ")
    await exchange.text("three")
    await exchange.finish()
    run = await tenuto.run(delta.data["run_id"]).wait()
    assert (run.status, run.reason) == ("completed", "end_turn")
    assert exchange.ended == "finished" and len(model.exchanges) == 1
    assert outline((await session.messages()).messages) == [
        ("user", "Count", "end_turn"),
        ("assistant", "one, two, three", "end_turn"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O2", "O6")
@pytest.mark.failure(2, 33)
@BOTH_MODES
async def test_stop_reaches_a_run_that_waits_for_the_next_token(
    mode: Mode, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count", mode=mode)
    exchange = await model.next_request()
    await exchange.text("one, ")
    await until_text(run, "one, ")
    answer = await session.cancel()
    assert (answer.cancelled, answer.settled) == ((run.id,), True)
    await exchange.closed()
    ended = await run.get()
    assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None)
    assert outline((await session.messages()).messages) == [
        ("user", "Count", "end_turn"),
        ("assistant", "one, ", "cancelled"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O2")
@pytest.mark.failure(12)
async def test_two_stops_at_once_save_the_partial_once(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one")
    await until_text(run, "one")
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(session.cancel)
            group.start_soon(run.cancel)
    assert (await run.get()).status == "cancelled"
    messages = (await session.messages()).messages
    assert [m.finish_reason for m in messages if m.role == "assistant"] == ["cancelled"]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O3")
async def test_a_run_that_ends_normally_is_saved_once_as_complete(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    await (await model.next_request()).say("Hello")
    assert (await run.wait()).status == "completed"
    assert outline((await session.messages()).messages) == [
        ("user", "Hi", "end_turn"),
        ("assistant", "Hello", "end_turn"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O4", "O6")
@pytest.mark.failure(39)
@BOTH_MODES
@pytest.mark.parametrize("said", ["", "one, "])
async def test_an_attached_run_is_cancelled_when_its_stream_closes(
    said: str, mode: Mode, model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    async with session.attach("Count", mode=mode) as run:
        exchange = await model.next_request()
        if said:
            await exchange.text(said)
            await until_text(run, said)
    # Not one more token is sent: the silence itself must not keep the run alive.
    await exchange.closed()
    ended = await run.wait()
    assert (ended.status, ended.reason, ended.error) == ("cancelled", "disconnect", None)
    assert outline((await session.messages()).messages) == [
        ("user", "Count", "end_turn"),
        ("assistant", said, "cancelled"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O5")
async def test_an_attached_run_that_nobody_closes_streams_to_its_end(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    async with session.attach("Count") as run:
        exchange = await model.next_request()
        await exchange.text("one, ")
        await exchange.text("two")
        await exchange.finish()
        items = [item async for item in run.attached_events()]
    assert items[-1].seq == (await session.get()).head
    assert (await run.get()).status == "completed"
    assert outline((await session.messages()).messages) == [
        ("user", "Count", "end_turn"),
        ("assistant", "one, two", "end_turn"),
    ]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("O7")
async def test_only_a_run_that_asked_for_it_is_attached(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    async with session.attach("Stay", on_disconnect=OnDisconnect.CONTINUE) as run:
        exchange = await model.next_request()
        assert (await run.get()).on_disconnect == "continue"
    async with raw.sse(f"/api/runs/{run.id}/events") as viewer:
        await viewer.until("run.started")
    await exchange.say("stayed")
    assert (await run.wait()).status == "completed"
    default = await session.prompt("And now?")
    assert (await default.get()).on_disconnect == "continue"
    await (await model.next_request()).say("still")
    assert (await default.wait()).status == "completed"


@pytest.mark.guarantee("O7")
async def test_a_mere_viewer_of_an_attached_run_may_leave(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    async with session.attach("Count") as run:
        exchange = await model.next_request()
        async with raw.sse(f"/api/runs/{run.id}/events") as viewer:
            await viewer.until("run.started")
        async with raw.sse(f"/api/sessions/{session.id}/events") as viewer:
            await viewer.until("run.started")
        await exchange.say("one")
        assert (await run.wait()).status == "completed"


@pytest.mark.guarantee("O8", "C9")
async def test_one_stop_reaches_every_subscriber_as_the_same_ending(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    async with AsyncExitStack() as stack:
        of_run, of_session = f"/api/runs/{run.id}/events", f"/api/sessions/{session.id}/events"
        early = [await stack.enter_async_context(raw.sse(of_run)) for _ in range(3)]
        await exchange.text("one, ")
        async with raw.sse(of_session) as leaver:
            await leaver.until("part.delta")
        head = leaver.frames[-1].id
        late = [
            await stack.enter_async_context(raw.sse(of_session, after=after))
            for after in (None, 0, head, "now")
        ]
        await session.cancel()
        endings = [await stream.until("run.finished") for stream in (*early, *late)]
        replay = await stack.enter_async_context(raw.sse(of_run))
        assert (await replay.to_the_end())[-1] == endings[0]
    assert endings == [endings[0]] * 7
    ended = endings[0].data["run"]
    assert (ended["status"], ended["reason"], ended["error"]) == (RunStatus.CANCELLED, "user", None)
    await assert_settled(raw, session.id)
