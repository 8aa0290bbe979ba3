"""Logs written by hand, to see what the oracle and the checkers say of them."""

import copy
from typing import Any

from tests.oracle.rule import Json

SESSION = "ses_1"
AT = "2030-01-01T00:00:00.000Z"


class SampleLog:
    """One session, told step by step. Good as long as its steps are."""

    def __init__(self) -> None:
        self.log: list[Json] = []
        self.runs: dict[str, Json] = {}

    def event(self, kind: str, run_id: str | None = None, **data: Any) -> None:
        seq = len(self.log) + 1
        common = {"type": kind, "seq": seq, "session_id": SESSION, "run_id": run_id, "at": AT}
        self.log.append(copy.deepcopy({**common, **data}))

    def accept(self, run_id: str, **fields: Any) -> None:
        self.runs[run_id] = self.run(run_id, **fields)
        self.event("run.accepted", run_id, run=self.runs[run_id])

    def run(self, run_id: str, **fields: Any) -> Json:
        return {
            "id": run_id,
            "session_id": SESSION,
            "status": "queued",
            "reason": None,
            "error": None,
            "mode": "agent",
            "when_busy": "queue",
            "on_disconnect": "continue",
            "accept_number": len(self.runs) + 1,
            "started_at": None,
            "finished_at": None,
            "input": f"words of {run_id}",
            "steered_into": None,
            "continues": None,
            **fields,
        }

    def start(self, run_id: str) -> None:
        self.change(run_id, status="running", started_at=AT)
        self.event("run.started", run_id, run=self.runs[run_id])
        self.messages(run_id)

    def messages(self, run_id: str) -> None:
        """A prompt as a message, and the beginning of its answer."""
        part = {"id": f"{run_id}_said", "type": "text", "text": self.runs[run_id]["input"]}
        user = {
            "id": f"{run_id}_u",
            "session_id": SESSION,
            "run_id": run_id,
            "role": "user",
            "parts": [part],
            "finish_reason": "end_turn",
        }
        empty: Json = {"id": f"{run_id}_a", "role": "assistant", "parts": [], "finish_reason": None}
        self.event("message.started", run_id, message=user)
        self.event("message.started", run_id, message={**user, **empty})

    def say(self, run_id: str, *texts: str) -> None:
        part = {"id": f"{run_id}_part", "type": "text", "text": ""}
        self.event("part.started", run_id, message_id=f"{run_id}_a", part=part)
        self._deltas(run_id, f"{run_id}_part", texts)

    def call(self, run_id: str, *states: str, **fields: Any) -> None:
        """A tool call that goes through these states."""
        part: Json = {
            "id": f"{run_id}_call",
            "type": "tool",
            "call_id": f"{run_id}_c",
            "name": "shell",
            "input": None,
            "input_text": "",
            "state": "input_streaming",
            "output": None,
            **fields,
        }
        self.event("part.started", run_id, message_id=f"{run_id}_a", part=part)
        self._deltas(run_id, part["id"], ("{}",))
        for state in states:
            small = {name: part[name] for name in ("id", "type", "call_id", "name")}
            after = {**small, "state": state}
            self.event("part.updated", run_id, message_id=f"{run_id}_a", part=after)

    def print(self, run_id: str, *texts: str) -> None:
        """The tool says something."""
        self._deltas(run_id, f"{run_id}_call", texts, field="output")

    def job(self, run_id: str, *states: str, **fields: Any) -> None:
        """A job of the run that goes through these states, the first of them its start."""
        fixed = ("call_id", "name", "command", "cwd", "node", "started_at")
        for n, state in enumerate(states):
            kind = "ended" if state in ("ended", "stopped", "interrupted") else "updated"
            job: Json = {
                **dict.fromkeys(fixed, "x"),
                "id": f"{run_id}_job",
                "session_id": SESSION,
                "run_id": run_id,
                "state": state if kind == "ended" else "running",
                "stopping": state == "stopping",
                "printed": {"tail": state, "characters": n},
                "ended_at": AT if kind == "ended" else None,
                "told": None,
                **fields,
            }
            self.event(f"job.{kind if n else 'started'}", run_id if n == 0 else None, job=job)

    def ask(self, run_id: str, *states: str) -> None:
        """A question of the run that goes through these states."""
        for kind, state in zip(("requested", *["resolved"] * 9), states, strict=False):
            approval = {"id": f"{run_id}_q", "run_id": run_id, "state": state}
            self.event(f"approval.{kind}", run_id, approval=approval)

    def change_file(self, run_id: str, kind: str, *, by: str | None = None, **fields: Any) -> None:
        """What the log says of the one file that the run changes; `by` is the run, or nobody."""
        change: Json = {
            "id": f"{run_id}:f",
            "run_id": run_id,
            "path": "f",
            "tool": "write_file",
            "state": "revertible",
            "before": None,
            "after": {"digest": "new", "mode": 420},
            **({"next": {"digest": "new", "mode": 420}} if kind == "changing" else {}),
            **fields,
        }
        self.event(f"file.{kind}", by, change=change)

    def question(self, run_id: str, *states: str, answers: list[list[str]] | None = None) -> None:
        """The same for what it asks in words."""
        for kind, state in zip(("asked", *["answered"] * 9), states, strict=False):
            given = (answers or [["Yes"]]) if state == "answered" else []
            question = {
                "id": f"{run_id}_w",
                "run_id": run_id,
                "questions": [{"question": "Well?", "options": [], "multiple": False}],
                "state": state,
                "answers": given,
                "answered_by": None if state == "pending" else "user",
            }
            self.event(f"question.{kind}", run_id, question=question)

    def finish(self, run_id: str, status: str = "completed", reason: str = "end_turn") -> None:
        if self.runs[run_id]["status"] == "queued" and reason != "withdrawn":
            self.messages(run_id)
        if reason != "withdrawn":
            said = {"completed": reason, "failed": "error"}.get(status, status)
            self.finish_message(run_id, said)
        self.end(run_id, status, reason)

    def finish_message(self, run_id: str, reason: str = "end_turn") -> None:
        self.event("message.finished", run_id, message_id=f"{run_id}_a", finish_reason=reason)

    def end(self, run_id: str, status: str = "completed", reason: str = "end_turn") -> None:
        """The run's ending alone."""
        error = {"code": reason, "message": "no"} if status == "failed" else None
        self.change(run_id, status=status, reason=reason, error=error, finished_at=AT)
        self.event("run.finished", run_id, run=self.runs[run_id])

    def whole(self, run_id: str, **fields: Any) -> None:
        """A prompt and its answer, from one end to the other."""
        self.accept(run_id, **fields)
        self.start(run_id)
        self.say(run_id, "Hel", "lo")
        self.finish(run_id)

    def change(self, run_id: str, **fields: Any) -> None:
        self.runs[run_id] = {**self.runs[run_id], **fields}

    def _deltas(self, run_id: str, part_id: str, texts: tuple[str, ...], **more: str) -> None:
        offset = 0
        for text in texts:
            place: Json = {"message_id": f"{run_id}_a", "part_id": part_id, "offset": offset}
            where = {**place, **more}
            self.event("part.delta", run_id, text=text, **where)
            offset += len(text)
