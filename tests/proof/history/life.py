"""One session's log, read from its beginning: is it a life that a session can have?"""

from typing import Any

from tests.proof.history.finding import Findings
from tests.proof.history.transcript import Transcript

Json = dict[str, Any]
REASONS = {
    "completed": {
        "end_turn",
        "max_tokens",
        "content_filter",
        "step_limit",
        "time_limit",
        "loop",
    },
    "cancelled": {"user", "disconnect", "replaced", "withdrawn", "deleted"},
    "failed": {
        "provider_error",
        "provider_stalled",
        "no_response",
        "budget",
        "model_not_found",
        "too_large",
        "storage",
        "internal",
    },
    "interrupted": {"server_stopped", "server_crashed"},
}
ACCEPTED = "accept numbers go up by one"
IN_ORDER = "runs start in the order in which they were accepted or put"
ONE_ACTIVE = "one run is active at a time, and only it writes"
ONCE = "a run ends once, and nothing of it follows"
ENDED_WELL = "an ending has a reason of its kind, and leaves nothing open"
MESSAGES = "messages open, grow in place and finish once"
IDLE = "undo and reject need an idle session; an interrupt leaves none waiting"
APPROVALS = "an approval is asked once and answered once"
LAST = "nothing follows session.deleted"


class Life:
    """The state that the events so far leave; `tell` checks the next one against it."""

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings
        self._queue: list[str] = []
        self._active: str | None = None
        self._approvals: dict[str, Json] = {}
        self.runs: dict[str, Json] = {}
        self.accepted: dict[str, Json] = {}
        """Each run as it was accepted."""
        self.accepted_at: dict[str, int] = {}
        self.finished_at: dict[str, int] = {}
        self.transcript = Transcript()
        self.deleted = False

    @property
    def queue(self) -> list[str]:
        return list(self._queue)

    def tell(self, event: Json) -> None:
        self._check(LAST, not self.deleted, event)
        self._check(ONCE, event["run_id"] not in self.finished_at, event)
        match event["type"].split("."):
            case ["run", what]:
                self._run(what, event)
            case ["message" | "part", _]:
                self._message(event)
            case ["approval", what]:
                self._approval(what, event)
            case ["session", what]:
                self._session(what, event)
            case _:
                self._check(MESSAGES, False, event)

    def _run(self, what: str, event: Json) -> None:
        run = event["run"]
        self._check(ONCE, event["run_id"] == run["id"], event)
        match what:
            case "accepted":
                self._accept(run, event)
            case "started":
                self._start(run, event)
            case "updated":
                self._check(IN_ORDER, run["id"] in self._queue, event)
            case "finished":
                self._finish(run, event)
        self.runs[run["id"]] = run

    def _accept(self, run: Json, event: Json) -> None:
        self._check(ACCEPTED, run["id"] not in self.runs, event)
        self._check(ACCEPTED, run["accept_number"] == len(self.accepted) + 1, event)
        if run["when_busy"] == "reject":
            self._check(IDLE, self._active is None and not self._queue, event)
        if run["when_busy"] == "interrupt":
            self._check(IDLE, not self._queue, event)
        self._queue.append(run["id"])
        self.accepted[run["id"]] = run
        self.accepted_at[run["id"]] = event["seq"]

    def _start(self, run: Json, event: Json) -> None:
        self._check(ONE_ACTIVE, self._active is None, event)
        self._check(IN_ORDER, self._queue[:1] == [run["id"]], event)
        self._queue = [waiting for waiting in self._queue if waiting != run["id"]]
        self._active = run["id"]

    def _finish(self, run: Json, event: Json) -> None:
        self._check(ENDED_WELL, run["reason"] in REASONS.get(run["status"], ()), event)
        self._check(ENDED_WELL, (run["error"] is not None) == (run["status"] == "failed"), event)
        self._check(ENDED_WELL, not self.transcript.open_of(run["id"]), event)
        pending = [a for a in self._approvals.values() if a["state"] == "pending"]
        left = [a for a in pending if a["run_id"] == run["id"]]
        self._check(ENDED_WELL, not left, event)
        if self._active == run["id"]:
            self._active = None
        else:
            self._check(ONCE, run["id"] in self._queue, event)
            self._queue = [waiting for waiting in self._queue if waiting != run["id"]]
            taken = run["status"] == "completed" and run["steered_into"] == self._active
            self._check(ENDED_WELL, run["status"] == "cancelled" or taken, event)
        self.finished_at[run["id"]] = event["seq"]

    def _message(self, event: Json) -> None:
        run_id = event["run_id"]
        mine = run_id is None or run_id == self._active
        # A run that is cancelled before it starts leaves its prompt and an empty answer.
        if event["type"].startswith("message."):
            mine = mine or run_id in self._queue
        self._check(ONE_ACTIVE, mine, event)
        self._check(MESSAGES, self.transcript.tell(event), event)

    def _approval(self, what: str, event: Json) -> None:
        approval = event["approval"]
        known = self._approvals.get(approval["id"])
        if what == "requested":
            good = known is None and approval["state"] == "pending"
        else:
            was_open = known is not None and known["state"] == "pending"
            good = was_open and approval["state"] in ("allowed", "denied", "cancelled")
        self._check(APPROVALS, good, event)
        self._approvals[approval["id"]] = approval

    def _session(self, what: str, event: Json) -> None:
        match what:
            case "updated" if "queue" in event["changes"]:
                order = event["changes"]["queue"]
                self._check(IN_ORDER, sorted(order) == sorted(self._queue), event)
                self._queue = list(order)
            case "rewound":
                self._check(IDLE, self._active is None and not self._queue, event)
                self._check(MESSAGES, self.transcript.tell(event), event)
            case "deleted":
                self._check(ONCE, self._active is None and not self._queue, event)
                self.deleted = True

    def _check(self, rule: str, holds: object, event: Json) -> None:
        self._findings.check(rule, holds, f"{self._name} {event}")
