"""The fold: what events leave of a session, from its first on, or from a snapshot."""

from collections.abc import Iterable

from tests.oracle.jobs import JobLog
from tests.oracle.rule import Json, Report, Rule, refuse
from tests.oracle.transcript import Transcript


class Fold:
    """Messages, runs and questions as the events so far leave them."""

    def __init__(self, broken: Report = refuse) -> None:
        self._broken = broken
        self.transcript = Transcript(broken)
        self.runs: dict[str, Json] = {}
        self.approvals: dict[str, Json] = {}
        self.questions: dict[str, Json] = {}
        self.background = JobLog(broken)
        self.session: Json = {}

    @property
    def messages(self) -> list[Json]:
        return list(self.transcript.messages.values())

    @property
    def pending(self) -> dict[str, Json]:
        """The approvals that nobody has given or refused."""
        return {name: a for name, a in self.approvals.items() if a["state"] == "pending"}

    @property
    def asked(self) -> dict[str, Json]:
        """The questions that nobody has answered."""
        return {name: q for name, q in self.questions.items() if q["state"] == "pending"}

    def snapshot(self, data: Json) -> None:
        """Begin again from a snapshot frame."""
        self.transcript.begin(data["messages"])
        self.runs = {run["id"]: run for run in data["runs"]}
        self.approvals = {approval["id"]: approval for approval in data["approvals"]}
        self.questions = {one["id"]: one for one in data.get("questions", ())}
        self.background.begin(data.get("jobs", []))
        self.session = dict(data["session"])

    def apply(self, event: Json) -> None:
        match event["type"]:
            case "part.delta" | "part.started" | "part.updated":
                self.transcript.grow(event)
            case "run.accepted" | "run.started" | "run.updated" | "run.finished":
                self.runs[event["run"]["id"]] = event["run"]
            case "message.started":
                self.transcript.start(event)
            case "message.finished":
                self.transcript.finish(event)
            case "approval.requested" | "approval.resolved":
                self.approvals[event["approval"]["id"]] = event["approval"]
            case "question.asked" | "question.answered":
                self.questions[event["question"]["id"]] = event["question"]
            case "job.started" | "job.updated" | "job.ended":
                self.background.apply(event)
            case "session.updated":
                self._update(dict(event["changes"]))
            case "session.rewound":
                self.transcript.rewind(event)
            case "session.compacted" | "session.deleted" | "file.changing" | "file.changed":
                pass
            case _:
                self._broken(Rule.KNOWN, event)

    def _update(self, changes: Json) -> None:
        for run_id, shown in changes.pop("runs", {}).items():
            # What a vote reveals.
            self.runs[run_id] = {**self.runs[run_id], **shown}
        self.session |= changes


def fold(events: Iterable[Json]) -> Fold:
    """What these events leave."""
    result = Fold()
    for event in events:
        result.apply(event)
    return result
