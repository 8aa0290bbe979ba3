"""One session's log from its first event on, held to the contract event by event."""

from collections.abc import Sequence

from tests.oracle.ending import ANSWERS, FINISH_REASONS, REASONS
from tests.oracle.file_changes import FileChanges
from tests.oracle.fold import Fold
from tests.oracle.rule import Json, Report, Rule, refuse

COMMON = {"type", "seq", "session_id", "run_id", "at"}


class SessionLog(Fold):
    def __init__(self, session_id: str, broken: Report = refuse) -> None:
        super().__init__(broken)
        self.id = session_id
        self.head = 0
        self.queue: list[str] = []
        self.active: str | None = None
        self.accepted: dict[str, Json] = {}
        """Each run as it was accepted."""
        self.accepted_at: dict[str, int] = {}
        self.started_at: dict[str, int] = {}
        self.finished_at: dict[str, int] = {}
        """By run: the seq at which it happened."""
        self.files = FileChanges(broken)
        self.deleted = False
        self.named_by_user = False

    @property
    def idle(self) -> bool:
        """Nothing runs, and nothing is about to; what is held may be there."""
        return self.active is None and not self.waiting

    @property
    def waiting(self) -> list[str]:
        """What is queued and not held, in its order."""
        return [run_id for run_id in self.queue if not self.runs[run_id].get("held")]

    def apply(self, event: Json) -> None:
        """Take the next event in, or say which rule it breaks."""
        self._check_place(event)
        self.head += 1
        match event["type"]:
            case "part.delta" | "part.started" | "part.updated":
                if event["run_id"] != self.active:
                    self._broken(Rule.AT_WORK, event)
            case "message.started" | "message.finished":
                self._check_writer(event)
            case "run.accepted":
                self._accept(event["run"])
            case "run.started":
                self._start(event["run"])
            case "run.updated":
                self._update_run(event["run"])
            case "run.finished":
                self._finish(event["run"])
            case "approval.requested" | "approval.resolved":
                self._check_request(event, "approval", self.approvals)
            case "question.asked" | "question.answered":
                self._check_request(event, "question", self.questions)
            case "job.started" | "job.updated" | "job.ended":
                self.background.check(event, active=self.active)
            case "file.changing" | "file.changed":
                ended = event["change"]["run_id"] in self.finished_at
                self.files.apply(event, active=self.active, ended=ended)
            case _:
                self._check_session(event)
        super().apply(event)

    def _update_run(self, run: Json) -> None:
        """What waits in the queue may be changed; what runs may say what it waits for."""
        if run["id"] == self.active:
            before = self.runs[run["id"]]
            said = {"waiting", "notices"}
            same = all(before[field] == run[field] for field in run.keys() - said)
            self._must(same and before != run, Rule.WAITING, run)
        else:
            self._must(run["id"] in self.queue and run["status"] == "queued", Rule.WAITING, run)

    def _must(self, holds: object, rule: Rule, *seen: object) -> None:
        if not holds:
            self._broken(rule, *seen)

    def _check_place(self, event: Json) -> None:
        if not event.keys() >= COMMON:
            self._broken(Rule.COMMON, event)
        if event["seq"] != self.head + 1:
            self._broken(Rule.NO_GAP, event)
        if event["session_id"] != self.id:
            self._broken(Rule.OWN_LOG, event)
        if self.deleted:
            self._broken(Rule.LAST, event)
        run_id = event["run_id"]
        if "run" in event and event["run"]["id"] != run_id:
            self._broken(Rule.OWN_RUN, event)
        if run_id in self.finished_at:
            self._broken(Rule.ENDED_LAST, event)
        if run_id is not None and run_id not in self.runs and event["type"] != "run.accepted":
            self._broken(Rule.ACCEPTED_FIRST, event)

    def _check_writer(self, event: Json) -> None:
        run_id = event["run_id"]
        if run_id is None:
            self._must(not self.runs, Rule.OF_NO_RUN, event)
        elif run_id != self.active:
            # A waiting run that is cancelled leaves its messages without having been active.
            self._must(run_id in self.queue, Rule.AT_WORK, event)

    def _accept(self, run: Json) -> None:
        self._must(
            run["id"] not in self.runs and run["status"] == "queued", Rule.ACCEPTED_ONCE, run
        )
        self._must(run["accept_number"] == len(self.accepted) + 1, Rule.NUMBERED, run)
        if run["when_busy"] == "reject":
            self._must(self.idle, Rule.REJECTED, run)
        if run["when_busy"] == "interrupt":
            self._must(not self.waiting, Rule.REPLACED, run)
        if run["continues"] is not None:
            self._must(self.transcript.of_run(run["continues"]), Rule.GOES_ON, run)
        self.queue.append(run["id"])
        self.accepted[run["id"]] = run
        self.accepted_at[run["id"]] = self.head

    def _start(self, run: Json) -> None:
        self._must(self.active is None, Rule.ONE_ACTIVE, run, self.active)
        self._must(self.waiting[:1] == [run["id"]], Rule.IN_ORDER, run, self.waiting)
        self._must(run["status"] == "running" and run["started_at"], Rule.STARTED, run)
        self.queue = [waiting for waiting in self.queue if waiting != run["id"]]
        self.active = run["id"]
        self.started_at[run["id"]] = self.head

    def _finish(self, run: Json) -> None:
        self._must(run["reason"] in REASONS.get(run["status"], ()), Rule.ENDING, run)
        self._must((run["error"] is not None) == (run["status"] == "failed"), Rule.ERROR, run)
        self._must(run["finished_at"], Rule.ENDED_AT, run)
        open_ones = (*self.pending.values(), *self.asked.values())
        left = [one for one in open_ones if one["run_id"] == run["id"]]
        self._must(not left, Rule.NO_QUESTION_LEFT, run, left)
        if run["status"] == "cancelled":
            self._must(not self.background.left_by(run), Rule.JOBS_STOP, run)
        if run["id"] == self.active:
            self.active = None
        else:
            self.queue = [waiting for waiting in self.queue if waiting != run["id"]]
            taken = run["status"] == "completed" and run["steered_into"] == self.active is not None
            self._must(taken or run["status"] == "cancelled", Rule.TAKEN, run)
        self._check_messages(run, self.transcript.of_run(run["id"]))
        self.finished_at[run["id"]] = self.head

    def _check_messages(self, run: Json, messages: Sequence[Json]) -> None:
        if run["mode"] == "compact" or run["steered_into"] or run["reason"] == "withdrawn":
            self._must(not messages, Rule.NO_MESSAGE, run, messages)
            return
        roles = [message["role"] for message in messages]
        if run["continues"] is None:
            self._must(roles[:1] == ["user"], Rule.PROMPT_FIRST, run, messages)
        whole = all(message["finish_reason"] for message in messages)
        if roles[-1:] != ["assistant"] or not whole:
            self._broken(Rule.ANSWERED, run, messages)
            return
        expected = FINISH_REASONS.get(run["status"], run["reason"])
        self._must(messages[-1]["finish_reason"] == expected, Rule.ENDS_ALIKE, run, messages)
        answers = [message for message in messages if message["role"] == "assistant"]
        steered = all(answer["finish_reason"] == "steered" for answer in answers[:-1])
        self._must(steered, Rule.ONE_ANSWER, run, messages)
        if run["id"] not in self.started_at:
            self._must(len(answers) == 1 and not answers[0]["parts"], Rule.NEVER_RAN, run, messages)

    def _check_request(self, event: Json, kind: str, known: dict[str, Json]) -> None:
        request = event[kind]
        before = known.get(request["id"])
        if event["type"] in ("approval.requested", "question.asked"):
            is_new = before is None and request["state"] == "pending"
            # What a sub-agent asks is repeated here, whatever is active.
            own = request.get("session_id", self.id) == self.id
            self._must(is_new and (event["run_id"] == self.active or not own), Rule.ASKED, event)
        else:
            was_open = before is not None and before["state"] == "pending"
            self._must(was_open and request["state"] in ANSWERS[kind], Rule.ANSWERED_ONCE, event)
        if kind == "question":
            self._check_answers(request)

    def _check_answers(self, question: Json) -> None:
        """An answer to each, and none before there is one."""
        answers, asked = question["answers"], question["questions"]
        is_answered = question["state"] == "answered"
        fits = len(answers) == len(asked) and any(answers) if is_answered else not answers
        nobody = question["answered_by"] is None
        self._must(fits and nobody == (question["state"] == "pending"), Rule.ANSWERS_FIT, question)

    def _check_session(self, event: Json) -> None:
        match event["type"]:
            case "session.updated":
                self._check_changes(event["changes"])
            case "session.rewound":
                self._must(self.idle, Rule.REWOUND_IDLE, event)
            case "session.compacted":
                there = event["through_message_id"] in self.transcript.messages
                self._must(there and event["run_id"] == self.active, Rule.COMPACTED, event)
            case "session.deleted":
                self._must(self.idle, Rule.DELETED_IDLE, event)
                self.deleted = True

    def _check_changes(self, changes: Json) -> None:
        if "queue" in changes:
            self._must(sorted(changes["queue"]) == sorted(self.queue), Rule.SAME_QUEUE, changes)
            self.queue = list(changes["queue"])
        if "title" in changes:
            by_user = changes.get("title_source") == "user"
            self._must(by_user or not self.named_by_user, Rule.NAMED, changes)
            self.named_by_user = self.named_by_user or by_user


def check_log(events: Sequence[Json]) -> SessionLog:
    """A whole log, held to the contract at each place."""
    log = SessionLog(events[0]["session_id"] if events else "")
    for event in events:
        log.apply(event)
    return log


def check_idle_log(events: Sequence[Json]) -> SessionLog:
    """The same where nothing is queued or running: everything has its one ending."""
    log = check_log(events)
    assert log.idle, (log.active, log.queue)
    assert log.finished_at.keys() == log.runs.keys()
    assert not [message for message in log.messages if message["finish_reason"] is None]
    return log
