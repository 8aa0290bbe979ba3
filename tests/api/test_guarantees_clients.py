"""Many clients (C9–C15)."""

import asyncio
import json

import anyio
import pytest

from tenuto.client import ApiError, Client, SessionHandle
from tenuto.core.run import Run
from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.watch import outline, until, until_text

pytestmark = pytest.mark.anyio

PAIR = [("user", "Hi", "end_turn"), ("assistant", "", "cancelled")]


@pytest.mark.guarantee("C9")
@pytest.mark.failure(31, 36)
async def test_a_second_client_s_cancel_is_a_cancel_for_both(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Count")
    exchange = await model.next_request()
    await exchange.text("one")
    path = f"/api/runs/{run.id}/events"
    async with raw.sse(path) as first, raw.sse(path) as second, server.client() as other:
        await first.until("part.delta")
        answer = await other.session(session.id).cancel()
        assert answer.settled
        frames = await first.to_the_end()
        assert await second.to_the_end() == frames
    ended = frames[-1].data["run"]
    assert frames[-1].event == "run.finished"
    assert (ended["status"], ended["reason"], ended["error"]) == ("cancelled", "user", None)
    assert not [frame for frame in frames if "error" in frame.event]
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C10")
@pytest.mark.failure(24)
@pytest.mark.parametrize("by", ["session", "run"])
async def test_a_cancel_right_after_the_202_is_not_lost(
    by: str, model: ModelServer, raw: RawApi, tenuto: Client
) -> None:
    for _ in range(15):
        session = await tenuto.create_session()
        run = await session.prompt("Hi")
        await (session.cancel() if by == "session" else run.cancel())
        ended = await run.get()
        assert (ended.status, ended.reason, ended.error) == ("cancelled", "user", None)
        assert outline((await session.messages()).messages) == PAIR
        await assert_settled(raw, session.id)
    for exchange in model.exchanges:
        await exchange.closed()


@pytest.mark.guarantee("C11")
async def test_a_cancel_between_start_and_first_output_leaves_the_same_pair(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    run = await session.prompt("Hi")
    exchange = await model.next_request()
    assert (await run.get()).status == "running"
    async with raw.sse(f"/api/sessions/{session.id}/events") as stream:
        await session.cancel()
        await stream.until("run.finished")
    await exchange.closed()
    assert not [frame for frame in stream.frames if "error" in frame.event]
    assert (await run.get()).error is None
    assert outline((await session.messages()).messages) == PAIR
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C12")
async def test_a_prompting_request_that_is_broken_off_changes_nothing(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    body = json.dumps({"input": "Hi"}).encode()
    head = (
        f"POST /api/sessions/{session.id}/runs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(head.encode() + body)
    await writer.drain()
    exchange = await model.next_request()
    writer.transport.abort()
    await exchange.say("Hello")
    (run,) = [run async for run in session.runs()]
    assert await ending(session) == "completed"
    assert run.input == "Hi"
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C12")
async def test_a_prompting_stream_that_times_out_changes_nothing(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    path = f"/api/sessions/{session.id}/runs"
    with anyio.move_on_after(1):
        async with raw.sse(path, method="POST", body={"input": "Hi"}) as stream:
            await stream.to_the_end()
    exchange = await model.next_request()
    await exchange.say("Hello")
    assert await ending(session) == "completed"
    await assert_settled(raw, session.id)


@pytest.mark.guarantee("C13")
async def test_a_run_outlives_all_clients(
    model: ModelServer, server: TenutoServer, raw: RawApi
) -> None:
    async with server.client() as client:
        session_id = (session := await client.create_session()).id
        run = await session.prompt("Count")
        exchange = await model.next_request()
        await exchange.text("one, ")
        await until_text(run, "one, ")
    # No connection to the server is left.
    await exchange.text("two, ")
    await exchange.text("three")
    await exchange.finish()
    async with server.client() as late:
        assert (await late.run(run.id).wait()).status == "completed"
        messages = (await late.session(session_id).messages()).messages
    assert outline(messages)[1] == ("assistant", "one, two, three", "end_turn")
    await assert_settled(raw, session_id)


@pytest.mark.guarantee("C14")
@pytest.mark.failure(35)
async def test_a_cancelled_follow_up_never_streams(
    model: ModelServer, raw: RawApi, session: SessionHandle
) -> None:
    active = await session.prompt("one")
    exchange = await model.next_request()
    await exchange.text("1")
    follow_up = await session.prompt("two")
    await session.cancel()
    assert [(await run.get()).status for run in (active, follow_up)] == ["cancelled"] * 2
    events = await assert_settled(raw, session.id)
    of_follow_up = [event["type"] for event in events if event["run_id"] == follow_up.id]
    assert of_follow_up == [
        "run.accepted",
        "message.started",
        "message.started",
        "message.finished",
        "run.finished",
    ]
    assert len(model.exchanges) == 1


@pytest.mark.guarantee("C15")
async def test_accepting_answers_202_and_cancelling_200_from_any_client_that_is_allowed_in(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    first = await raw.post(f"/api/sessions/{session.id}/runs", {"input": "one"})
    exchange = await model.next_request()
    # The model says nothing: had either waited for it, neither would answer.
    second = await raw.post(f"/api/sessions/{session.id}/runs", {"input": "two"})
    assert [first.status, second.status] == [202, 202]
    assert first.headers["Location"] == f"/api/runs/{first.body['id']}"
    assert [first.body["accept_number"], second.body["accept_number"]] == [1, 2]
    async with Client(server.url, "wrong") as stranger:
        with pytest.raises(ApiError, match="401 unauthorized"):
            await stranger.session(session.id).cancel()
        with pytest.raises(ApiError, match="401 unauthorized"):
            await stranger.session(session.id).prompt("three")
    one = await raw.post(f"/api/runs/{second.body['id']}/cancel")
    assert (one.status, one.body["status"]) == (200, "cancelled")
    rest = await raw.post(f"/api/sessions/{session.id}/cancel")
    assert rest.status == 200
    assert (rest.body["cancelled"], rest.body["settled"]) == ([first.body["id"]], True)
    await exchange.closed()
    events = await assert_settled(raw, session.id)
    assert rest.body["head"] == events[-1]["seq"]


async def ending(session: SessionHandle) -> str:
    """How the session's only run ended."""

    async def ended() -> bool:
        return all([run.ended async for run in session.runs()])

    await until(ended)
    runs: list[Run] = [run async for run in session.runs()]
    assert len(runs) == 1
    return runs[0].status
