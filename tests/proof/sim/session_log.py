"""One session's log, checked event by event against the contract."""

from typing import Any

from tests.proof.sim.transcript import Transcript
from tests.proof.sim.violation import broken, must

Json = dict[str, Any]

COMMON = {"type", "seq", "session_id", "run_id", "at"}
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
FINISH_REASON = {"cancelled": "cancelled", "failed": "error", "interrupted": "interrupted"}


class RunView:
    """A run as its events tell it."""

    def __init__(self, run: Json, *, step: int) -> None:
        self.run = run
        self.accepted_step = step
        self.started_step: int | None = None
        self.finished_seq: int | None = None

    @property
    def status(self) -> str:
        return str(self.run["status"])

    @property
    def ended(self) -> bool:
        return self.finished_seq is not None


class SessionLog:
    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.head = 0
        self.bodies: list[bytes] = []
        """Each event as it was committed, by seq."""
        self.transcript = Transcript()
        self.runs: dict[str, RunView] = {}
        self.queue: list[str] = []
        self.active: str | None = None
        self.before_active: list[str] = []
        """Messages that were there when the active run began: its model must be told of them."""
        self.pending: dict[str, Json] = {}
        self.approvals: dict[str, Json] = {}
        self.grants: set[str] = set()
        self.deleted = False
        self.compacted = False
        self.named_by_user = False
        self._accept_number = 0

    @property
    def idle(self) -> bool:
        return self.active is None and not self.queue

    def apply(self, event: Json, body: bytes, *, step: int) -> None:
        if not event.keys() >= COMMON:
            broken("every event says what all say", event)
        if event["seq"] != self.head + 1:
            broken("seqs have no gaps", event)
        if self.deleted:
            broken("nothing follows session.deleted", event)
        if event["session_id"] != self.id:
            broken("an event is of its session", event)
        self.head += 1
        self.bodies.append(body)
        run_id = event["run_id"]
        if run_id is not None and event["type"] != "run.accepted":
            run = self.runs.get(run_id)
            if run is None:
                broken("a run is accepted first", event)
            if run.finished_seq is not None:
                broken("nothing of a run follows its end", event)
        self._apply(event, step)

    def _apply(self, event: Json, step: int) -> None:
        match event["type"]:
            case "run.accepted":
                self._accepted(event["run"], step)
            case "run.started":
                self._started(event["run"], step)
            case "run.updated":
                run = event["run"]
                must(run["id"] in self.queue and run["status"] == "queued", "only waiting", event)
                self.runs[run["id"]].run = run
            case "run.finished":
                self._finished(event["run"])
            case "message.started":
                self._must_be_at_work(event)
                self.transcript.started(event)
            case "part.started" | "part.delta" | "part.updated":
                self._must_be_at_work(event)
                self.transcript.grew(event)
            case "message.finished":
                self._must_be_at_work(event)
                self.transcript.finished(event)
            case "approval.requested" | "approval.resolved":
                self._approval(event)
            case "session.updated":
                self._updated(event["changes"])
            case "session.rewound":
                must(self.idle, "only an idle session is rewound", event)
                self.transcript.rewound(event)
            case "session.compacted":
                must(event["run_id"] == self.active, "the active run compacts", event)
                through = event["through_message_id"]
                must(through in self.transcript.messages, "a summary is of messages", event)
                self.compacted = True
            case "session.deleted":
                must(self.idle, "what is deleted has ended", event)
                self.deleted = True
            case other:
                must(False, "the contract knows every event", other)

    def _must_be_at_work(self, event: Json) -> None:
        run_id = event["run_id"]
        if run_id is None:
            must(not self.runs, "only a fork begins with messages of no run", event)
        elif run_id != self.active:
            must(not event["type"].startswith("part."), "only the active run writes", event)
            # A waiting run that is cancelled leaves its messages without having been active.
            must(run_id in self.queue, "only runs at work write", event)

    def _accepted(self, run: Json, step: int) -> None:
        must(run["id"] not in self.runs, "a run is accepted once", run)
        must(run["status"] == "queued", "a run is queued at first", run)
        self._accept_number += 1
        must(run["accept_number"] == self._accept_number, "accept numbers have no gaps", run)
        if run["when_busy"] == "reject":
            must(self.idle, "a busy session rejects", run)
        if run["when_busy"] == "interrupt":
            must(not self.queue, "an interrupt replaces what waits", run)
        if run["continues"] is not None:
            partial = self.transcript.of_run(run["continues"])
            must(partial, "there is something to go on from", run)
        self.runs[run["id"]] = RunView(run, step=step)
        self.queue.append(run["id"])

    def _started(self, run: Json, step: int) -> None:
        must(self.active is None, "one run is active", run, self.active)
        must(self.queue[:1] == [run["id"]], "runs start in their order", run, self.queue)
        must(run["status"] == "running" and run["started_at"], "what starts runs", run)
        self.queue.pop(0)
        self.active = run["id"]
        self.before_active = list(self.transcript.messages)
        self.runs[run["id"]].run = run
        self.runs[run["id"]].started_step = step

    def _finished(self, run: Json) -> None:
        view = self.runs[run["id"]]
        must(run["status"] in REASONS, "an ending is one of four", run)
        must(run["reason"] in REASONS[run["status"]], "the ending allows the reason", run)
        must((run["error"] is not None) == (run["status"] == "failed"), "errors fail", run)
        must(run["finished_at"], "an ending has a time", run)
        was_active = run["id"] == self.active
        if was_active:
            self.active = None
        else:
            must(run["id"] in self.queue, "what ends was there", run)
            self.queue.remove(run["id"])
            taken = run["steered_into"]
            if run["status"] == "completed":
                must(taken and taken == self.active, "the active run takes steers", run)
            else:
                must(run["status"] == "cancelled", "what waits is cancelled or taken", run)
        waiting = [a for a in self.pending.values() if a["run_id"] == run["id"]]
        must(not waiting, "no approval outlives its run", run, waiting)
        self._check_messages(run, was_active=was_active)
        view.run = run
        view.finished_seq = self.head

    def _check_messages(self, run: Json, *, was_active: bool) -> None:
        messages = self.transcript.of_run(run["id"])
        if run["mode"] == "compact" or run["steered_into"] or run["reason"] == "withdrawn":
            must(not messages, "it leaves no message", run, messages)
            return
        roles = [message["role"] for message in messages]
        if run["continues"] is None:
            must(roles[:1] == ["user"], "a prompt becomes a user message first", run, messages)
        must(roles[-1:] == ["assistant"], "an answer is last", run, messages)
        must(all(m["finish_reason"] for m in messages), "all its messages are whole", messages)
        expected = FINISH_REASON.get(run["status"], run["reason"])
        must(messages[-1]["finish_reason"] == expected, "the answer ends as its run", messages)
        answers = [m for m in messages if m["role"] == "assistant"]
        for steered in answers[:-1]:
            must(steered["finish_reason"] == "steered", "one answer but for steers", messages)
        if not was_active:
            must(len(answers) == 1, "one cancelled answer", messages)
            must(not answers[0]["parts"], "what never ran said nothing", messages)

    def _approval(self, event: Json) -> None:
        approval = event["approval"]
        if event["type"] == "approval.requested":
            must(event["run_id"] == self.active, "the active run asks", event)
            must(approval["id"] not in self.approvals, "a question is asked once", event)
            must(approval["state"] == "pending", "a question is open", event)
            self.pending[approval["id"]] = approval
        else:
            must(approval["id"] in self.pending, "a question is answered once", event)
            must(approval["state"] in ("allowed", "denied", "cancelled"), "an answer", event)
            del self.pending[approval["id"]]
        self.approvals[approval["id"]] = approval

    def _updated(self, changes: Json) -> None:
        if "queue" in changes:
            must(sorted(changes["queue"]) == sorted(self.queue), "the same runs wait", changes)
            self.queue = list(changes["queue"])
        if "title" in changes:
            by_user = changes["title_source"] == "user"
            must(by_user or not self.named_by_user, "a user's name stays", changes)
            self.named_by_user = self.named_by_user or by_user
