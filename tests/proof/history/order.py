"""Real time: what was answered, or seen, comes before what was sent after that.

Every acknowledged change has one place in its session's log. If it was answered before another
was sent, its place is before the other's; a reading never misses a place that anyone had seen
before it was asked for; nothing is seen before it was asked for. For a log whose entries are told
apart this is linearisability.
"""

from bisect import bisect_left
from typing import Any, NamedTuple

from tests.proof.history.claim import accepted_times, first_sent
from tests.proof.history.evidence import Call
from tests.proof.history.finding import Findings
from tests.proof.history.session_history import SessionHistory

AFTER = "what was sent after something was answered or seen comes after it in the log"
FRESH = "a reading has everything that anyone had seen before it was asked for"
FUTURE = "nothing is seen before it was sent"
KEPT = "every acknowledged change is in the log"


class Change(NamedTuple):
    who: str
    sent: float
    answered: float | None
    place: int


def check_order(history: SessionHistory, findings: Findings) -> None:
    changes = [*_prompts(history), *_edits(history, findings)]
    seen = _Seen(history, changes)
    for change in changes:
        before = seen.by(change.sent)
        said = f"{history.session} {change} was sent when {before} had been seen"
        findings.check(AFTER, change.place > before, said)
        first = history.log.first_seen.get(change.place, change.sent)
        said = f"{history.session} {change} was seen at {first}"
        findings.check(FUTURE, first >= change.sent, said)
    for reading in history.readings:
        before = seen.by(reading.sent_at)
        said = f"{history.session} {reading.who} read {reading.head} when {before} had been seen"
        findings.check(FRESH, reading.head >= before, said)


class _Seen:
    """The highest place that anyone knew of, by time."""

    def __init__(self, history: SessionHistory, changes: list[Change]) -> None:
        points = list(history.log.sightings)
        points += [(c.answered, c.place) for c in changes if c.answered is not None]
        points += [(reading.at, reading.head) for reading in history.readings]
        points.sort()
        self._times = [at for at, _ in points]
        self._highest: list[int] = []
        for _, place in points:
            self._highest.append(max(place, self._highest[-1] if self._highest else 0))

    def by(self, at: float) -> int:
        n = bisect_left(self._times, at)
        return self._highest[n - 1] if n else 0


def _prompts(history: SessionHistory) -> list[Change]:
    times = accepted_times(history, first_sent(history))
    return [
        Change(run_id, times[run_id].sent, times[run_id].answered, place)
        for run_id, place in history.state.accepted_at.items()
    ]


def _edits(history: SessionHistory, findings: Findings) -> list[Change]:
    places = _places(history)
    changes = []
    for call in history.calls:
        what = _meaning(call)
        if what is None or call.answer is None or call.status not in (200, 204):
            continue
        place = places.get(what)
        holds = place is not None or history.deleted
        findings.check(KEPT, holds, f"{call.request} was answered {call.answer}")
        if place is not None:
            changes.append(Change(call.request.id, call.request.sent_at, call.answer.at, place))
    return changes


def _meaning(call: Call) -> tuple[Any, ...] | None:
    """What the log must have, if this call was answered well; None if it changes nothing."""
    request, body = call.request, call.body
    match request.method, request.path.split("/")[2:]:
        case "POST", ["sessions", _, "undo"] if isinstance(body, dict) and "removed" in body:
            return ("rewound", *body["removed"])
        case "PATCH", ["sessions", _]:
            return ("title", request.body["title"])
        case "PATCH", ["runs", run_id] if "input" in request.body:
            return ("updated", run_id, request.body["input"])
        case "DELETE", ["runs", run_id]:
            return ("withdrawn", run_id)
        case "POST", ["approvals", approval_id]:
            state = "denied" if request.body["decision"] == "deny" else "allowed"
            return ("approval", approval_id, state)
        case _:
            return None


def _places(history: SessionHistory) -> dict[tuple[Any, ...], int]:
    places: dict[tuple[Any, ...], int] = {}
    for event in history.events:
        match event["type"]:
            case "session.rewound":
                what: tuple[Any, ...] = ("rewound", *event["removed"])
            case "session.updated" if "title" in event["changes"]:
                what = ("title", event["changes"]["title"])
            case "run.updated":
                what = ("updated", event["run_id"], event["run"]["input"])
            case "run.finished" if event["run"]["reason"] == "withdrawn":
                what = ("withdrawn", event["run_id"])
            case "approval.resolved":
                what = ("approval", event["approval"]["id"], event["approval"]["state"])
            case _:
                continue
        # The first counts: a run that is moved later keeps its words.
        places.setdefault(what, event["seq"])
    return places
