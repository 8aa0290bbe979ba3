"""Event streams: cursors, snapshots, ends, and readers that are slow."""

import anyio
import pytest

from tests.api.contract.house import House, Json
from tests.oracle.fold import fold
from tests.oracle.session_log import check_idle_log
from tests.support.log import fold_frames, read_log
from tests.support.raw import RawFrame
from tests.support.watch import until

pytestmark = pytest.mark.anyio

WHOLE_RUN = [
    "run.accepted",
    "run.started",
    "message.started",
    "message.started",
    "part.started",
    "part.delta",
    "message.finished",
    "run.finished",
]


@pytest.fixture
async def told(house: House, session_id: str) -> list[Json]:
    """The log of a session in which one prompt was answered."""
    await house.api.call("PATCH", f"/api/sessions/{session_id}", {"title": "Named"})
    await house.answered(session_id, "hi", "Hello.")
    return await read_log(house.api, session_id)


def seqs(frames: list[RawFrame]) -> list[int]:
    return [frame.id for frame in frames]


async def test_frames_say_what_they_are(house: House, session_id: str, told: list[Json]) -> None:
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        await stream.until_seq(told[-1]["seq"])
        headers = stream._response.headers
    assert headers["Content-Type"].startswith("text/event-stream")
    assert "no-cache" in headers["Cache-Control"]
    for frame in stream.frames:
        assert (frame.id, frame.event) == (frame.data["seq"], frame.data["type"])
        assert frame.data["session_id"] == session_id
        assert frame.data.keys() >= {"type", "seq", "session_id", "run_id", "at"}
    assert [frame.event for frame in stream.frames] == ["session.updated", *WHOLE_RUN]
    check_idle_log(told)


async def test_without_a_cursor_everything_comes(
    house: House, session_id: str, told: list[Json]
) -> None:
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        await stream.until_seq(told[-1]["seq"])
    assert seqs(stream.frames) == list(range(1, len(told) + 1))


async def test_after_a_cursor_come_exactly_the_events_after_it(
    house: House, session_id: str, told: list[Json]
) -> None:
    path = f"/api/sessions/{session_id}/events"
    for after in range(len(told)):
        async with house.api.sse(path, after=after) as stream:
            await stream.until_seq(told[-1]["seq"])
        assert [frame.data for frame in stream.frames] == told[after:]


async def test_the_header_wins_over_the_query(
    house: House, session_id: str, told: list[Json]
) -> None:
    path = f"/api/sessions/{session_id}/events"
    async with house.api.sse(path, after=1, last_event_id=4) as stream:
        assert (await stream.next()).id == 5
    async with house.api.sse(path, after="now", last_event_id=0) as stream:
        assert (await stream.next()).id == 1


@pytest.mark.parametrize("after", ["now", "ahead", "x", "-1", "1.5", "", "%20", "9" * 5000, "²"])
async def test_a_cursor_that_cannot_be_used_gets_a_snapshot(
    house: House, session_id: str, told: list[Json], after: str
) -> None:
    head = told[-1]["seq"]
    after = str(head + 1) if after == "ahead" else after
    async with house.api.sse(f"/api/sessions/{session_id}/events", after=after) as stream:
        snapshot = await stream.next()
        assert (snapshot.event, snapshot.id) == ("snapshot", head)
        assert snapshot.data.keys() >= {"session", "messages", "runs", "approvals"}
        assert snapshot.data["session"]["head"] == head
        assert snapshot.data["messages"] == fold(told).messages
        assert snapshot.data["runs"] == list(fold(told).runs.values())
        await house.api.call("PATCH", f"/api/sessions/{session_id}", {"pinned": True})
        assert (await stream.next()).id == head + 1


@pytest.mark.failure(21)
async def test_a_snapshot_in_the_middle_of_an_answer_goes_on_without_a_seam(
    house: House, session_id: str
) -> None:
    run, exchange = await house.held(session_id)
    for word in ("one ", "two ", "three "):
        await exchange.text(word)
    async with (
        house.api.sse(f"/api/runs/{run['id']}/events") as watcher,
        house.api.sse(f"/api/sessions/{session_id}/events", after="now") as late,
    ):
        await watcher.until("part.delta")
        await late.next()
        for word in ("four ", "five"):
            await exchange.text(word)
        await exchange.finish()
        await late.until("run.finished")
    assert fold_frames(late.frames).messages == await house.messages(session_id)
    assert seqs(late.frames) == list(range(late.frames[0].id, late.frames[-1].id + 1))
    assert (await house.texts(session_id))[-1] == "one two three four five"


@pytest.mark.failure(31)
async def test_a_finished_runs_stream_replays_and_ends(house: House, session_id: str) -> None:
    await house.answered(session_id, "before", "Yes.")
    run = await house.answered(session_id, "hi", "Hello.")
    await house.answered(session_id, "after", "Yes.")
    path = f"/api/runs/{run['id']}/events"
    async with house.api.sse(path) as stream:
        frames = await stream.to_the_end()
    assert [frame.event for frame in frames] == WHOLE_RUN
    assert {frame.data["run_id"] for frame in frames} == {run["id"]}
    for frame in frames:
        async with house.api.sse(path, after=frame.id) as stream:
            assert seqs(await stream.to_the_end()) == [f.id for f in frames if f.id > frame.id]
    head = (await house.api.get(f"/api/sessions/{session_id}"))["head"]
    async with house.api.sse(path, after=head) as stream:
        assert await stream.to_the_end() == []
    async with house.api.sse(path, after=head + 5) as stream:
        frames = await stream.to_the_end()
    assert [frame.event for frame in frames] == ["snapshot"]


async def test_a_running_runs_stream_ends_with_the_run(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id)
    waiting = await house.prompt(session_id, "more")
    async with (
        house.api.sse(f"/api/runs/{run['id']}/events") as stream,
        house.api.sse(f"/api/runs/{waiting['id']}/events", after="now") as other,
    ):
        assert (await stream.next()).event == "run.accepted"
        assert (await other.next()).event == "snapshot"
        await exchange.say("Hello.")
        frames = await stream.to_the_end()
        assert frames[-1].event == "run.finished"
        await (await house.request()).say("More.")
        assert (await other.to_the_end())[-1].data["run"]["id"] == waiting["id"]
    assert {f.data["run_id"] for f in other.frames[1:]} == {waiting["id"]}


async def test_a_prompt_can_be_answered_with_its_own_stream(house: House, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/runs"
    async with house.api.sse(path, method="POST", body={"input": "hi"}) as stream:
        assert stream.status == 200
        first = await stream.next()
        assert stream._response.headers["Location"] == f"/api/runs/{first.data['run']['id']}"
        await (await house.request()).say("Hello.")
        frames = await stream.to_the_end()
    assert [frame.event for frame in frames if frame.data["run_id"]] == WHOLE_RUN


async def test_a_prompt_that_is_refused_gets_no_stream(house: House, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/runs"
    async with house.api.sse(path, method="POST", body={"input": ""}) as stream:
        assert stream.status == 422
        assert stream._response.headers["Content-Type"] == "application/problem+json"


async def test_silence_is_broken_by_a_heartbeat(house: House, session_id: str) -> None:
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        with anyio.fail_after(14):
            line = await stream._response.content.readline()
    assert line.startswith(b":")


@pytest.mark.failure(53)
async def test_a_slow_reader_loses_nothing_and_slows_nobody(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, mode="chat")
    async with house.api.sse(f"/api/sessions/{session_id}/events") as slow:
        await slow.next()
        piece = "slow and steady " * 256
        for _ in range(600):
            await exchange.text(piece)
        await exchange.finish()
        # It ends for everyone else while the slow one has read a single frame.
        assert (await house.ended(run["id"]))["status"] == "completed"
        assert len(slow.frames) == 1
        await slow.until("run.finished")
    log = await read_log(house.api, session_id)
    assert [frame.data for frame in slow.frames] == log
    assert (await house.texts(session_id))[-1] == piece * 600


async def test_any_number_of_viewers_see_the_same(house: House, session_id: str) -> None:
    seen: list[list[Json]] = []

    async def watch() -> None:
        async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
            await stream.until("run.finished")
            seen.append([frame.data for frame in stream.frames])

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(watch)
        run, exchange = await house.held(session_id)
        for word in ["one", "two", "three", "four", "five"]:
            await exchange.text(word)
            tasks.start_soon(watch)
        await exchange.finish()
    assert len(seen) == 15
    assert all(log == seen[0] for log in seen)
    assert run["id"] in {event["run_id"] for event in seen[0]}


async def test_a_stream_that_outlives_its_session_is_left_without_a_word(house: House) -> None:
    session_id = await house.session()
    prompt = {"input": "hi", "on_disconnect": "cancel"}
    path = f"/api/sessions/{session_id}/runs"
    async with house.api.sse(path, method="POST", body=prompt) as stream:
        exchange = await house.request()
        await stream.until("message.started")
        # So much that the server waits for its reader, who does not read; less than a run may say.
        for _ in range(20):
            await exchange.text("word " * 100_000)
        assert (await house.api.call("DELETE", f"/api/sessions/{session_id}")).status == 204

    async def nobody_watches() -> bool:
        return "tenuto_viewers 0.0" in await house.api.text("/metrics")

    await until(nobody_watches)
    assert "Exception in ASGI application" not in house.server.log()
    assert "broke off" not in house.server.log()
