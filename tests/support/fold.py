"""The fold as an outsider would write it from the contract: plain dicts, none of our code.

With it go the checks that every log must pass, whatever happened to the server.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from tests.support.raw import RawApi, RawFrame

Json = dict[str, Any]

COMMON = {"type", "seq", "session_id", "run_id", "at"}
ENDINGS = {"completed", "cancelled", "failed", "interrupted"}
OPEN_TOOL_STATES = {"input_streaming", "waiting_approval", "running"}


class Fold:
    """Messages, runs and approvals as the events so far leave them."""

    def __init__(self) -> None:
        self._messages: dict[str, Json] = {}
        self.runs: dict[str, Json] = {}
        self.approvals: dict[str, Json] = {}
        self.session: Json = {}

    @property
    def messages(self) -> list[Json]:
        return list(self._messages.values())

    def snapshot(self, data: Json) -> None:
        """Begin again from a snapshot frame."""
        data = copy.deepcopy(data)
        self._messages = {message["id"]: message for message in data["messages"]}
        self.runs = {run["id"]: run for run in data["runs"]}
        self.approvals = {approval["id"]: approval for approval in data["approvals"]}
        self.session = data["session"]

    def apply(self, event: Json) -> None:
        """Whatever grows here is a copy of our own: the event stays as it came."""
        match event["type"]:
            case "run.accepted" | "run.started" | "run.updated" | "run.finished":
                self.runs[event["run"]["id"]] = dict(event["run"])
            case "message.started":
                message = event["message"]
                parts = [dict(part) for part in message["parts"]]
                self._messages[message["id"]] = {**message, "parts": parts}
            case "part.started" | "part.delta" | "part.updated":
                self._grow(event)
            case "message.finished":
                self._messages[event["message_id"]]["finish_reason"] = event["finish_reason"]
            case "approval.requested" | "approval.resolved":
                self.approvals[event["approval"]["id"]] = event["approval"]
            case "session.updated":
                changes = dict(event["changes"])
                for run_id, shown in changes.pop("runs", {}).items():
                    self.runs[run_id] |= shown
                self.session |= changes
            case "session.rewound":
                for message_id in event["removed"]:
                    del self._messages[message_id]
            case "session.compacted" | "session.deleted":
                pass
            case other:
                raise AssertionError(f"an event that the contract does not know: {other}")

    def _grow(self, event: Json) -> None:
        parts: list[Json] = self._messages[event["message_id"]]["parts"]
        part_id = event["part_id"] if event["type"] == "part.delta" else event["part"]["id"]
        at = next((n for n, part in enumerate(parts) if part["id"] == part_id), None)
        if event["type"] == "part.started":
            assert at is None, f"part {part_id} starts twice"
            parts.append(dict(event["part"]))
            return
        assert at is not None, f"part {part_id} grows before it starts"
        if event["type"] == "part.updated":
            parts[at] = dict(event["part"])
            return
        field = "input_text" if parts[at]["type"] == "tool" else "text"
        grown = parts[at][field]
        assert event["offset"] == len(grown), f"offset {event['offset']} after {len(grown)}"
        parts[at][field] = grown + event["text"]


def fold(events: Iterable[Json]) -> Fold:
    result = Fold()
    for event in events:
        result.apply(event)
    return result


def fold_frames(frames: Iterable[RawFrame]) -> Fold:
    """The fold of a stream, which may have begun with, or jumped to, a snapshot."""
    result = Fold()
    for frame in frames:
        if frame.event == "snapshot":
            result.snapshot(frame.data)
        else:
            result.apply(frame.data)
    return result


def check_log(events: Sequence[Json]) -> None:
    """What holds of every log from its first event on, at any moment."""
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    for event in events:
        assert event.keys() >= COMMON, event
    assert len({event["session_id"] for event in events}) <= 1
    for run_id in {event["run_id"] for event in events} - {None}:
        _check_run([event for event in events if event["run_id"] == run_id])
    for message_id in _ids_of_messages(events):
        _check_message([e for e in events if _message_of(e) == message_id])
    fold(events)  # Checks parts and offsets on its way.


def check_idle_log(events: Sequence[Json]) -> None:
    """What also holds when nothing is queued or running: everything has its one ending."""
    check_log(events)
    runs = fold(events).runs
    for run in runs.values():
        assert run["status"] in ENDINGS, run
        assert run["reason"] is not None, run
    for kind, ids in (("run.accepted", set(runs)), ("run.finished", set(runs))):
        named = [event["run_id"] for event in events if event["type"] == kind]
        assert sorted(named) == sorted(ids), f"{kind}: {named}"
    for message in fold(events).messages:
        assert message["finish_reason"] is not None, message
        for part in message["parts"]:
            assert part.get("state") not in OPEN_TOOL_STATES, part


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
    check_log(events)
    assert fold(events).messages == reloaded["messages"]
    return events


async def assert_settled(api: RawApi, session_id: str) -> list[Json]:
    """Nothing says running, everything ended once, and reload equals live; the whole log."""
    session = await api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["active_run"], session["queued"]) == ("idle", None, 0)
    events = await assert_fold_equals_messages(api, session_id)
    check_idle_log(events)
    runs = fold(events).runs
    listed = (await api.get(f"/api/sessions/{session_id}/runs"))["runs"]
    assert {run["id"]: run for run in listed} == dict(list(runs.items())[-len(listed) :])
    return events


def _check_run(events: Sequence[Json]) -> None:
    kinds = [event["type"] for event in events]
    assert kinds[0] == "run.accepted" and kinds.count("run.accepted") == 1, kinds
    assert kinds.count("run.started") <= 1, kinds
    assert kinds.count("run.finished") <= 1, kinds
    if "run.finished" in kinds:
        assert kinds[-1] == "run.finished", f"something follows the end: {kinds}"
    if "run.started" in kinds:
        work = [kind for kind in kinds if kind.startswith(("message.", "part.", "approval."))]
        assert not work or kinds.index(work[0]) > kinds.index("run.started"), kinds
    roles = [e["message"]["role"] for e in events if e["type"] == "message.started"]
    assert "user" not in roles or roles[0] == "user", roles


def _check_message(events: Sequence[Json]) -> None:
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message.started" and kinds.count("message.started") == 1, kinds
    if events[0]["message"]["role"] == "user":
        assert kinds == ["message.started"], f"a user message comes whole: {kinds}"
        return
    assert kinds.count("message.finished") <= 1, kinds
    if "message.finished" in kinds:
        assert kinds[-1] == "message.finished", f"something follows the finish: {kinds}"


def _ids_of_messages(events: Sequence[Json]) -> set[str]:
    return {message_id for event in events if (message_id := _message_of(event)) is not None}


def _message_of(event: Json) -> str | None:
    if event["type"] == "message.started":
        message_id: str = event["message"]["id"]
        return message_id
    return event.get("message_id")
