"""Reload equals live: the golden files fold to what the server said, and are what it still does."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
)
from tenuto.core.projection import Transcript, session_after
from tenuto.core.session import Session
from tests.api.contract.house import House, Json, open_house
from tests.golden.recording import FOLDER, outline, read
from tests.golden.scenes import SCENES
from tests.oracle.fold import fold
from tests.oracle.rule import Rule, refuse
from tests.oracle.session_log import SessionLog, check_log

pytestmark = pytest.mark.anyio

NAMES = [
    *(
        "streaming",
        "tools",
        "printing",
        "jobs",
        "stopped",
        "queue",
        "rewritten",
        "forked",
        "compacted",
    ),
    *("failed", "interrupted", "settled", "deleted"),
]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("golden"), {}) as house:
        yield house


@pytest.mark.parametrize("name", NAMES)
async def test_a_scene_still_goes_as_its_file_says(house: House, name: str) -> None:
    await house.tidy()
    recording = await SCENES[name](house)
    check_told(recording.told())
    assert outline(recording.events) == outline(read(name)["events"]), (
        "the server does something else now; if that is meant: python -m tests.golden"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_folds_to_what_the_server_said(name: str) -> None:
    check_told(read(name))


@pytest.mark.parametrize("name", ["tools", "stopped"])
def test_a_log_whose_updates_were_whole_parts_still_folds_to_what_the_server_said(
    name: str,
) -> None:
    told = read(f"older/{name}")
    for snapshot in told["snapshots"]:
        log = SessionLog(told["session"]["id"], broken=_if_not_said_again)
        ours = Transcript()
        for event in told["events"][: snapshot["seq"]]:
            log.apply(event)
            ours.apply(msgspec.convert(event, Event))
        assert log.messages == _plain(ours.messages()) == snapshot["messages"]


def _if_not_said_again(rule: Rule, *seen: object) -> None:
    if rule is not Rule.SAID_ONCE:
        refuse(rule, *seen)


def test_there_is_a_file_for_every_scene_and_no_other() -> None:
    assert {path.stem for path in Path(FOLDER).glob("*.json")} == set(NAMES) == set(SCENES)


def test_the_files_hold_all_that_can_happen() -> None:
    events = [event for name in NAMES for event in read(name)["events"]]
    kinds = {event["type"] for event in events}
    assert kinds >= {
        *("run.accepted", "run.started", "run.updated", "run.finished", "message.started"),
        *("message.finished", "part.started", "part.delta", "part.updated"),
        *("approval.requested", "approval.resolved", "session.updated", "session.rewound"),
        *("session.compacted", "session.deleted"),
    }
    endings = {event["run"]["status"] for event in events if event["type"] == "run.finished"}
    assert endings == {"completed", "cancelled", "failed", "interrupted"}
    texts = [event["text"] for event in events if event["type"] == "part.delta"]
    assert any(ord(character) > 0xFFFF for text in texts for character in text)


def check_told(told: Json) -> None:
    """Our own fold, and the outsider's, come to each snapshot; so does a start from any of them."""
    events, snapshots = told["events"], told["snapshots"]
    check_log(events)
    assert len(snapshots) >= 1
    for snapshot in snapshots:
        seq = snapshot["seq"]
        assert fold(events[:seq]).messages == snapshot["messages"]
        ours = Transcript()
        for event in _decoded(events[:seq]):
            ours.apply(event)
        assert _plain(ours.messages()) == snapshot["messages"]
        known = {run["id"]: run for run in snapshot["runs"]}
        assert {run_id: _plain(ours.runs[run_id]) for run_id in ours.runs} == known
        assert _plain(_session(told["session"], events, seq)) == snapshot["session"]
        running = fold(events[:seq]).background.running
        assert list(running) == [job["id"] for job in snapshot.get("jobs", ())]
        assert _pending(events[:seq]) == [a["id"] for a in snapshot["approvals"]]


def _session(begun: Json, events: Sequence[Json], seq: int) -> Session:
    session = msgspec.convert(begun, Session)
    for event in _decoded(events[session.head : seq]):
        session = session_after(session, event)
    return replace(session, head=max(seq, session.head))


def _pending(events: Sequence[Json]) -> list[str]:
    open_ones: dict[str, None] = {}
    for event in _decoded(events):
        match event:
            case ApprovalRequested(approval=approval):
                open_ones[approval.id] = None
            case ApprovalResolved(approval=approval):
                del open_ones[approval.id]
            case _:
                pass
    return list(open_ones)


def _decoded(events: Sequence[Json]) -> list[Event]:
    return [msgspec.convert(event, Event) for event in events]


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
