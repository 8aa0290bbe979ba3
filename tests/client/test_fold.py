"""The checks that every log must pass do fail for logs that must not be."""

from typing import Any

import pytest

from tests.support.fold import check_idle_log, check_log, fold

RUN = {"id": "r", "status": "running", "reason": None}
ENDED = {"id": "r", "status": "completed", "reason": "end_turn"}
USER = {"id": "u", "role": "user", "parts": [], "finish_reason": "end_turn"}
ANSWER: dict[str, Any] = {"id": "a", "role": "assistant", "parts": [], "finish_reason": None}
TEXT = {"id": "p", "type": "text", "text": ""}


def log(*events: dict[str, Any]) -> list[dict[str, Any]]:
    common = {"session_id": "s", "run_id": "r", "at": "2026-01-01T00:00:00.000Z"}
    return [{**common, **event, "seq": seq} for seq, event in enumerate(events, start=1)]


def delta(offset: int, text: str) -> dict[str, Any]:
    return {
        "type": "part.delta",
        "message_id": "a",
        "part_id": "p",
        "offset": offset,
        "text": text,
    }


GOOD = log(
    {"type": "run.accepted", "run": RUN},
    {"type": "run.started", "run": RUN},
    {"type": "message.started", "message": USER},
    {"type": "message.started", "message": ANSWER},
    {"type": "part.started", "message_id": "a", "part": TEXT},
    delta(0, "🎻 "),
    delta(2, "play"),
    {"type": "message.finished", "message_id": "a", "finish_reason": "end_turn"},
    {"type": "run.finished", "run": ENDED},
)


def swapped(first: int, second: int) -> list[dict[str, Any]]:
    order = list(range(len(GOOD)))
    order[first], order[second] = order[second], order[first]
    return [{**GOOD[place], "seq": seq} for seq, place in enumerate(order, start=1)]


def test_a_good_log_passes_and_folds() -> None:
    check_idle_log(GOOD)
    (user, answer) = fold(GOOD).messages
    assert (user["id"], answer["parts"][0]["text"]) == ("u", "🎻 play")
    assert ANSWER["parts"] == []


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(GOOD[:3] + GOOD[4:], id="a gap"),
        pytest.param([*GOOD, GOOD[-1]], id="a repeat"),
        pytest.param(swapped(7, 8), id="something after the run's end"),
        pytest.param(swapped(2, 3), id="the answer before its prompt"),
        pytest.param(swapped(1, 3), id="a message before the start"),
        pytest.param(swapped(5, 6), id="deltas in the wrong order"),
        pytest.param(swapped(6, 7), id="a delta after the finish"),
        pytest.param(log(*GOOD, GOOD[-1]), id="two endings"),
        pytest.param(log(*GOOD[:8], GOOD[7], GOOD[8]), id="two finishes"),
    ],
)
def test_a_bad_log_does_not_pass(bad: list[dict[str, Any]]) -> None:
    with pytest.raises(AssertionError):
        check_log(bad)


@pytest.mark.parametrize("length", [1, 2, 4, 7, 8])
def test_a_log_without_its_endings_is_not_idle(length: int) -> None:
    check_log(GOOD[:length])
    with pytest.raises(AssertionError):
        check_idle_log(GOOD[:length])
