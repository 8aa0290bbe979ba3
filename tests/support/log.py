"""Logs as a server gives them, folded and checked."""

from collections.abc import Iterable

from tests.oracle.fold import Fold
from tests.oracle.rule import Json
from tests.oracle.session_log import check_idle_log, check_log
from tests.support.raw import RawApi, RawFrame


def fold_frames(frames: Iterable[RawFrame]) -> Fold:
    """The fold of a stream, which may have begun with, or jumped to, a snapshot."""
    result = Fold()
    for frame in frames:
        if frame.event == "snapshot":
            result.snapshot(frame.data)
        else:
            result.apply(frame.data)
    return result


async def read_log(api: RawApi, session_id: str) -> list[Json]:
    """A session's whole log as it is now."""
    head = (await api.get(f"/api/sessions/{session_id}/messages"))["head"]
    async with api.sse(f"/api/sessions/{session_id}/events") as stream:
        assert stream.status == 200
        await stream.until_seq(head) if head else None
        for frame in stream.frames:
            assert (frame.id, frame.event) == (frame.data["seq"], frame.data["type"])
        return [frame.data for frame in stream.frames if frame.id <= head]


async def assert_fold_equals_messages(api: RawApi, session_id: str) -> list[Json]:
    """Reload equals live; the session's whole log, checked."""
    reloaded = await api.get(f"/api/sessions/{session_id}/messages")
    async with api.sse(f"/api/sessions/{session_id}/events") as stream:
        if reloaded["head"]:
            await stream.until_seq(reloaded["head"])
        events = [frame.data for frame in stream.frames if frame.id <= reloaded["head"]]
    assert check_log(events).messages == reloaded["messages"]
    return events


async def assert_settled(api: RawApi, session_id: str) -> list[Json]:
    """Nothing says running, everything ended once, and reload equals live; the whole log."""
    session = await api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["active_run"], session["queued"]) == ("idle", None, 0)
    events = await assert_fold_equals_messages(api, session_id)
    runs = check_idle_log(events).runs
    listed = (await api.get(f"/api/sessions/{session_id}/runs"))["runs"]
    assert {run["id"]: run for run in listed} == dict(list(runs.items())[-len(listed) :])
    return events
