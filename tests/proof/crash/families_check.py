"""What must be true of sub-agents, however often the server died."""

from collections.abc import Mapping

from tests.oracle.fold import Fold, fold
from tests.oracle.rule import Json
from tests.support.log import assert_settled
from tests.support.raw import RawApi

ENDS = {
    "done": {"completed"},
    "failed": {"cancelled", "failed", "interrupted"},
    "cancelled": {"cancelled", "completed", "interrupted"},
    "interrupted": {"interrupted", "completed", "cancelled"},
}
"""By how a call ended: how the run of its sub-agent may have."""


async def check_families(api: RawApi, states: Mapping[str, Fold]) -> None:
    """A call that began has its one sub-agent, none has one that did not begin; both have ended, and
    both logs tell the same of what was asked."""
    for session_id, state in states.items():
        found = (await api.get(f"/api/sessions?parent={session_id}"))["sessions"]
        calls = {part["details"]["session_id"]: (part, run) for part, run in _calls(state)}
        assert calls.keys() == {child["id"] for child in found}, (session_id, calls.keys(), found)
        for child in found:
            part, run_id = calls[child["id"]]
            below = fold(await assert_settled(api, child["id"]))
            (run,) = below.runs.values()
            assert child["parent"] == {
                "session_id": session_id,
                "run_id": run_id,
                "call_id": part["call_id"],
            }
            assert run["parent_run"] == run_id, (part, run)
            assert run["status"] in ENDS[part["state"]], (part, run)
            heard = [q for q in state.questions.values() if q["session_id"] == child["id"]]
            assert heard == list(below.questions.values()), (heard, below.questions)


def _calls(state: Fold) -> list[tuple[Json, str]]:
    """Calls that a sub-agent works for, and their runs."""
    return [
        (part, message["run_id"])
        for message in state.messages
        for part in message["parts"]
        if part["type"] == "tool" and "session_id" in part.get("details", {})
    ]
