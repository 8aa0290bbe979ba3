"""What the server's answers claim, held against the log: accepted, cancelled, ended."""

from tests.oracle.rule import Json
from tests.proof.history.cause import check_away, check_lease_was_lost, check_settled, may_end_runs
from tests.proof.history.evidence import Call, Evidence
from tests.proof.history.finding import Findings
from tests.proof.history.session_history import SessionHistory

ANSWERED = "every 202 is in the log, as it was answered, and has one ending"
SAME = "the same request sent again is the same run"
ASKED = "no run without a request, no second run for one"
STOPPED = "nothing of a run follows the answered cancel that covered it"
COVERED = "a cancel covers every run accepted before it, and none sent after it"
CAUSE = "a run is cancelled or interrupted only if something did it"
ENDING = "an ending, once told, stays"
FAULT = "no answer and no ending is the server's own fault"
THERE = "nothing is missing that nobody deleted"


def check_claims(evidence: Evidence, history: SessionHistory, findings: Findings) -> None:
    _Claims(evidence, history, findings).check()


class _Claims:
    def __init__(self, evidence: Evidence, history: SessionHistory, findings: Findings) -> None:
        self._evidence = evidence
        self._of = history
        self._state = history.state
        self._findings = findings
        self._runs_path = f"/api/sessions/{history.session}/runs"
        self._sent = first_sent(history)

    def check(self) -> None:
        self._check_repeats()
        self._check_requests()
        for call in self._of.calls:
            self._check_status(call)
            check_away(self._evidence, call, self._findings)
            self._check_endings(call)
            if accepted_run(call) is not None:
                self._check_accepted(call)
            if call.request.method == "POST" and call.request.path.endswith("/cancel"):
                self._check_cancel(call)
        for run_id in self._state.finished_at:
            self._check_cause(self._state.runs[run_id])

    def _check_accepted(self, call: Call) -> None:
        run_id = accepted_run(call)
        assert run_id is not None
        accepted = self._state.accepted.get(run_id)
        if accepted is None and self._of.deleted:
            return
        told = call.body if "accept_number" in call.body else None
        said = f"{call.request.id} was told of {run_id}; the log has {accepted}"
        self._findings.check(ANSWERED, accepted is not None and told in (None, accepted), said)
        ended = run_id in self._state.finished_at or self._of.deleted
        self._findings.check(ANSWERED, ended, f"{run_id} has no ending")

    def _check_repeats(self) -> None:
        runs: dict[tuple[str, str], str] = {}
        for call in self._of.calls:
            run_id, key = accepted_run(call), call.request.key
            if run_id is not None and key is not None:
                first = runs.setdefault((call.request.path, key), run_id)
                self._findings.check(SAME, first == run_id, f"{key} gave {first} and {run_id}")

    def _check_requests(self) -> None:
        asked: dict[str, int] = {}
        for run_id, run in self._state.accepted.items():
            wish = f"continue {run['continues']}" if run["continues"] else str(run["input"])
            asked[wish] = asked.get(wish, 0) + 1
            sent = self._sent.get(wish)
            keys = len(sent.keys) if sent else 0
            said = f"{run_id} is run {asked[wish]} of {wish!r}, asked {keys} times"
            self._findings.check(ASKED, asked[wish] <= keys, said)

    def _check_status(self, call: Call) -> None:
        if call.status is None:
            return
        fault = call.status >= 500 or call.status in (400, 401, 403, 405, 413, 415, 422)
        self._findings.check(FAULT, not fault, f"{call.request} was answered {call.answer}")
        if call.status == 404:
            self._findings.check(THERE, self._of.deleted, f"{call.request} was not found")

    def _check_endings(self, call: Call) -> None:
        """A run in an answer that had ended is the run as the log ends it."""
        if not isinstance(call.body, dict):
            return
        runs = call.body.get("runs", [call.body] if "accept_number" in call.body else [])
        for run in runs:
            ended = self._state.finished_at.get(run["id"])
            if run["finished_at"] is not None:
                known = self._state.runs.get(run["id"])
                holds = run == known or (ended is None and self._of.deleted)
                said = f"{call.request.id} was told {run}; the log has {known}"
                self._findings.check(ENDING, holds, said)
            elif ended is not None and accepted_run(call) is None:
                seen = self._of.log.first_seen[ended]
                said = f"{call.request.id} was told that {run['id']} runs, after its end was seen"
                self._findings.check(ENDING, call.request.sent_at <= seen, said)

    def _check_cancel(self, call: Call) -> None:
        if call.status != 200 or "settled" not in call.body or not call.body["settled"]:
            return
        head = call.body["head"]
        if self._of.deleted and head > len(self._of.events):
            return
        for run_id in call.body["cancelled"]:
            ended = self._state.finished_at.get(run_id, head + 1)
            status = self._state.runs[run_id]["status"]
            said = f"{call.request.id} stopped {run_id} by {head}; it ended {status} at {ended}"
            self._findings.check(STOPPED, ended <= head and status == "cancelled", said)
        assert call.answer is not None
        for run_id, known in accepted_times(self._of, self._sent).items():
            if known.answered is not None and known.answered < call.request.sent_at:
                ended = self._state.finished_at.get(run_id, head + 1)
                said = f"{call.request.id} did not cover {run_id}, which ended at {ended}"
                self._findings.check(COVERED, ended <= head, said)
            if known.sent > call.answer.at:
                said = f"{call.request.id} stopped {run_id}, which was sent later"
                self._findings.check(COVERED, run_id not in call.body["cancelled"], said)

    def _check_cause(self, run: Json) -> None:
        reason, seen = run["reason"], self._of.log.first_seen[self._state.finished_at[run["id"]]]
        sent = accepted_times(self._of, self._sent)[run["id"]].sent
        match reason:
            case "user":
                holds = any(self._may_cancel(call, run, sent, seen) for call in self._of.calls)
            case "replaced":
                holds = any(
                    other["when_busy"] == "interrupt"
                    and other["accept_number"] > run["accept_number"]
                    for other in self._state.accepted.values()
                )
            case "disconnect":
                holds = run["on_disconnect"] == "cancel"
            case "withdrawn":
                holds = any(
                    call.request.method == "DELETE" and call.request.path.endswith(run["id"])
                    for call in self._of.calls
                )
            case "deleted":
                holds = self._of.deleted
            case "server_crashed":
                holds = any(
                    may_end_runs(self._evidence, evil) and evil.began < seen and evil.ended > sent
                    for evil in self._evidence.misfortunes
                )
                check_settled(
                    self._evidence, run["id"], sent=sent, seen=seen, findings=self._findings
                )
            case "storage":
                check_lease_was_lost(
                    self._evidence, run, sent=sent, seen=seen, findings=self._findings
                )
                return
            case "internal" | "server_stopped":
                self._findings.check(FAULT, False, f"{run}")
                return
            case _:
                return
        self._findings.check(CAUSE, holds, f"{run} ended without a cause")

    def _may_cancel(self, call: Call, run: Json, sent: float, seen: float) -> bool:
        paths = (f"/api/sessions/{self._of.session}/cancel", f"/api/runs/{run['id']}/cancel")
        if call.request.path not in paths or call.request.sent_at > seen:
            return False
        return call.status is None or call.answer is None or call.answer.at > sent


class Sent:
    """A wish that was sent, perhaps several times."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.keys: set[str] = set()
        self.answered: float | None = None


class Times:
    def __init__(self, sent: float, answered: float | None) -> None:
        self.sent = sent
        self.answered = answered


def accepted_run(call: Call) -> str | None:
    """The run that this answer says was accepted."""
    path = call.request.path
    if call.request.method != "POST" or not path.endswith(("/runs", "/continue")):
        return None
    if call.status not in (200, 202) or not isinstance(call.body, dict):
        return None
    return str(call.body["id"])


def first_sent(history: SessionHistory) -> dict[str, Sent]:
    """By wish: when it was first sent, under which keys, and when it was first answered."""
    found: dict[str, Sent] = {}
    for call in history.calls:
        path = call.request.path
        if call.request.method != "POST" or not path.endswith(("/runs", "/continue")):
            continue
        wish = (
            f"continue {path.split('/')[3]}"
            if path.endswith("/continue")
            else str(call.request.body["input"])
        )
        sent = found.setdefault(wish, Sent(call.request.sent_at))
        sent.at = min(sent.at, call.request.sent_at)
        sent.keys.add(call.request.key or call.request.id)
        if accepted_run(call) is not None and call.answer is not None:
            sent.answered = min(sent.answered or call.answer.at, call.answer.at)
    return found


def accepted_times(history: SessionHistory, sent: dict[str, Sent]) -> dict[str, Times]:
    """For each accepted run, when its wish was first sent, and when it was first answered."""
    times = {}
    for run_id, run in history.state.accepted.items():
        wish = f"continue {run['continues']}" if run["continues"] else str(run["input"])
        known = sent.get(wish)
        times[run_id] = Times(known.at if known else 0.0, known.answered if known else None)
    return times
