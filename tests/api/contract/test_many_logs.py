"""One stream of many logs: whose each frame is, cursors of its own, and ends that end only one."""

import anyio
import pytest

from tests.api.contract.house import House, Json, refused
from tests.oracle.fold import Fold
from tests.support.log import fold_frames, read_log
from tests.support.raw import RawFrame, RawSse

pytestmark = pytest.mark.anyio


class Logs:
    """What a client has got, by log. Frames are read as text: their first line says whose."""

    def __init__(self, stream: RawSse) -> None:
        self._stream = stream
        self.of: dict[str, list[RawFrame]] = {}

    async def next(self) -> tuple[str, RawFrame]:
        frame = await self._stream.next()
        assert frame.log is not None, frame
        self.of.setdefault(frame.log, []).append(frame)
        return frame.log, frame

    async def until(self, log: str, event: str) -> RawFrame:
        with anyio.fail_after(15):
            while True:
                whose, frame = await self.next()
                if (whose, frame.event) == (log, event):
                    return frame

    def folded(self, log: str) -> Fold:
        return fold_frames(self.of[log])


async def test_each_log_comes_whole_and_in_order(house: House) -> None:
    one, two = await house.session(), await house.session()
    path = f"/api/events?session={one}:now&session={two}:0&workspace=default:now"
    async with house.api.sse(path) as stream:
        logs = Logs(stream)
        for session_id in (one, two):
            await house.answered(session_id, "hi", "Hello.")
        for session_id in (one, two):
            if not any(f.event == "run.finished" for f in logs.of.get(session_id, [])):
                await logs.until(session_id, "run.finished")
    assert logs.of[one][0].event == "snapshot"
    assert [frame.data for frame in logs.of[one][1:]] == await read_log(house.api, one)
    assert [frame.data for frame in logs.of[two]] == await read_log(house.api, two)
    assert logs.folded(one).messages == await house.messages(one)
    assert logs.of["default"][0].event == "snapshot"
    told = {f.data["session_id"] for f in logs.of["default"][1:]}
    assert told <= {one, two}


@pytest.mark.failure(55)
async def test_ten_sessions_stream_over_one_connection(house: House) -> None:
    sessions = [await house.session() for _ in range(10)]
    query = "&".join(f"session={session_id}:0" for session_id in sessions)
    async with house.api.sse(f"/api/events?{query}") as stream:
        logs = Logs(stream)
        for session_id in sessions:
            await house.answered(session_id, "hi", f"Hello from {session_id}.")
        for session_id in sessions:
            if not any(f.event == "run.finished" for f in logs.of.get(session_id, [])):
                await logs.until(session_id, "run.finished")
    for session_id in sessions:
        assert logs.folded(session_id).messages == await house.messages(session_id)


async def test_every_log_goes_on_from_its_own_cursor(house: House) -> None:
    one, two = await house.session(), await house.session()
    for session_id in (one, two):
        await house.answered(session_id, "hi", "Hello.")
    whole = {session_id: await read_log(house.api, session_id) for session_id in (one, two)}
    head = whole[two][-1]["seq"]
    path = f"/api/events?session={one}:3&session={two}:{head - 1}"
    async with house.api.sse(path) as stream:
        logs = Logs(stream)
        for _ in range(len(whole[one]) - 3 + 1):
            await logs.next()
    assert [frame.data for frame in logs.of[one]] == whole[one][3:]
    assert [frame.data for frame in logs.of[two]] == whole[two][-1:]


async def test_a_log_that_is_not_there_does_not_end_the_others(
    house: House, session_id: str
) -> None:
    path = f"/api/events?session=ses_of_nobody:7&session={session_id}:now&workspace=none:now"
    async with house.api.sse(path) as stream:
        logs = Logs(stream)
        assert (await logs.until("ses_of_nobody", "gone")).data == {"log": "ses_of_nobody"}
        if "none" not in logs.of:
            await logs.until("none", "gone")
        if session_id not in logs.of:
            await logs.until(session_id, "snapshot")
        await house.answered(session_id, "hi", "Hello.")
        await logs.until(session_id, "run.finished")


async def test_a_deleted_session_ends_its_own_log_only(house: House) -> None:
    gone, stays = await house.session(), await house.session()
    async with house.api.sse(f"/api/events?session={gone}:now&session={stays}:now") as stream:
        logs = Logs(stream)
        await logs.next(), await logs.next()
        await house.api.call("DELETE", f"/api/sessions/{gone}")
        await logs.until(gone, "session.deleted")
        await house.answered(stays, "hi", "Hello.")
        await logs.until(stays, "run.finished")
    assert [frame.event for frame in logs.of[gone]] == ["snapshot", "session.deleted"]


async def test_a_stream_whose_every_log_has_ended_ends(house: House, session_id: str) -> None:
    async with house.api.sse(f"/api/events?session={session_id}:now&session=none:0") as stream:
        await Logs(stream).until(session_id, "snapshot")
        await house.api.call("DELETE", f"/api/sessions/{session_id}")
        frames = await stream.to_the_end()
    assert frames[-1].event == "session.deleted"


async def test_a_snapshot_has_at_most_the_messages_asked_for(house: House, session_id: str) -> None:
    for n in range(3):
        await house.answered(session_id, f"question {n}", f"answer {n}")
    messages = await house.messages(session_id)
    for most, more in [(2, True), (6, False), (60, False)]:
        path = f"/api/events?session={session_id}:now&messages={most}"
        async with house.api.sse(path) as stream:
            snapshot = (await stream.next()).data
        assert snapshot["messages"] == messages[-most:]
        assert snapshot["more"] is more
        assert len(snapshot["runs"]) == 3


async def test_a_cursor_that_cannot_be_used_gets_a_bounded_snapshot(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "hi", "Hello.")
    for cursor in ("999", "now", "x", "-1", ""):
        path = f"/api/events?session={session_id}:{cursor}&messages=1"
        async with house.api.sse(path) as stream:
            snapshot = await stream.next()
        assert snapshot.event == "snapshot"
        assert len(snapshot.data["messages"]) == 1


async def test_without_a_cursor_everything_comes(house: House, session_id: str) -> None:
    await house.answered(session_id, "hi", "Hello.")
    whole = await read_log(house.api, session_id)
    async with house.api.sse(f"/api/events?session={session_id}") as stream:
        await stream.until_seq(whole[-1]["seq"])
    assert [frame.data for frame in stream.frames] == whole


@pytest.mark.failure(53)
async def test_a_slow_reader_loses_nothing_of_any_log(house: House) -> None:
    loud, quiet = await house.session(), await house.session()
    run, exchange = await house.held(loud, mode="chat")
    async with house.api.sse(f"/api/events?session={loud}:0&session={quiet}:0") as stream:
        logs = Logs(stream)
        await logs.next()
        piece = "slow and steady " * 256
        for n in range(600):
            await exchange.text(piece)
            if n % 100 == 0:
                title = {"title": f"Title {n}"}
                await house.api.call("PATCH", f"/api/sessions/{quiet}", title)
        await exchange.finish()
        # It ends for everyone else while the slow one has read a single frame.
        assert (await house.ended(run["id"]))["status"] == "completed"
        await logs.until(loud, "run.finished")
        while len(logs.of.get(quiet, [])) < 6:
            await logs.next()
    assert [frame.data for frame in logs.of[loud]] == await read_log(house.api, loud)
    assert [frame.data for frame in logs.of[quiet]] == await read_log(house.api, quiet)


async def test_silence_is_broken_by_one_heartbeat_for_all(house: House) -> None:
    ids = [await house.session() for _ in range(5)]
    query = "&".join(f"session={session_id}:0" for session_id in ids)
    async with house.api.sse(f"/api/events?{query}") as stream:
        with anyio.fail_after(14):
            line = await stream._response.content.readline()
        assert line.startswith(b":")
        assert await stream._response.content.readline() == b"\n"
        with anyio.move_on_after(2):
            line = await stream._response.content.readline()
            pytest.fail(f"more than one: {line!r}")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "messages=5",
        "session=a:1&messages=0",
        "session=a:1&messages=x",
        "session=a:1&messages=99999",
        "session=" + "%0A" + ":1",
        "session=%C3%A4:1",
        "&".join(f"session=s{n}:0" for n in range(201)),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(house: House, query: str) -> None:
    refused(await house.api.call("GET", f"/api/events?{query}"), 422, "invalid_input")


async def test_the_workspace_tells_all_that_changes_what_a_session_shows(
    house: House, session_id: str
) -> None:
    async with house.api.sse("/api/events?workspace=default:now") as stream:
        logs = Logs(stream)
        await logs.until("default", "snapshot")
        run, exchange = await house.held(session_id, "write")
        await exchange.tool_call(0, "call_1", "write_file")
        await exchange.tool_input(0, '{"path": "a", "content": "b"}')
        await exchange.finish("tool_calls")
        asked = (await logs.until("default", "approval.requested")).data["approval"]
        waiting: Json = await house.api.get(f"/api/sessions/{session_id}")
        assert waiting["state"] == "waiting"
        await house.api.post(f"/api/approvals/{asked['id']}", {"decision": "deny"})
        await logs.until("default", "approval.resolved")
        await (await house.request()).say("All right.")
        await house.ended(run["id"])
        await house.api.post(f"/api/sessions/{session_id}/undo")
        await logs.until("default", "session.rewound")
