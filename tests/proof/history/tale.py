"""Histories made by hand, to see what the checker says of them."""

import copy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.proof.history.record import (
    FORMAT,
    Answer,
    Closed,
    Entry,
    History,
    Misfortune,
    Opened,
    Request,
    Seen,
)

Json = dict[str, Any]
SESSION = "ses_1"
PATH = f"/api/sessions/{SESSION}"


@dataclass
class Tale:
    """One session, told step by step; each step takes a second."""

    now: float = 0.0
    log: list[Json] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """When each event of the log happened."""
    entries: list[Entry] = field(default_factory=list)
    runs: dict[str, Json] = field(default_factory=dict)

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    def ask(
        self, method: str, path: str, body: Any = None, *, status: int, answer: Any, key: str = ""
    ) -> None:
        """A request and its answer, which comes after all that was told so far."""
        name = f"r{len(self.entries)}"
        request = Request(
            id=name,
            client="someone",
            method=method,
            path=path,
            body=body,
            key=key or None,
            sent_at=self.tick(),
        )
        answered = Answer(id=name, at=self.tick(), status=status, body=copy.deepcopy(answer))
        self.entries += [request, answered]

    def prompt(self, run_id: str, **fields: Any) -> None:
        """Accept a prompt: the event happens between the request and its answer."""
        at = self.now + 1.5
        run = {
            "id": run_id,
            "status": "queued",
            "reason": None,
            "error": None,
            "when_busy": "queue",
            "on_disconnect": "continue",
            "accept_number": len(self.runs) + 1,
            "finished_at": None,
            "input": f"words of {run_id}",
            "steered_into": None,
            "continues": None,
            **fields,
        }
        self.runs[run_id] = run
        self.event("run.accepted", run_id, at=at, run=run)
        body = {"input": run["input"]}
        self.ask("POST", f"{PATH}/runs", body, status=202, answer=run, key=f"key {run_id}")

    def start(self, run_id: str) -> None:
        self._change(run_id, status="running")
        self.event("run.started", run_id, run=self.runs[run_id])
        self._messages(run_id)

    def say(self, run_id: str, *texts: str) -> None:
        part_id = f"{run_id}_part"
        message_id = f"{run_id}_a"
        part = {"id": part_id, "type": "text", "text": ""}
        self.event("part.started", run_id, message_id=message_id, part=part)
        offset = 0
        for text in texts:
            where: Json = {"message_id": message_id, "part_id": part_id, "offset": offset}
            self.event("part.delta", run_id, text=text, **where)
            offset += len(text)

    def finish(self, run_id: str, status: str = "completed", reason: str = "end_turn") -> None:
        waited = self.runs[run_id]["status"] == "queued"
        if waited and reason != "withdrawn":
            self._messages(run_id)
        if not waited or reason != "withdrawn":
            said = reason if status == "completed" else status
            self.event("message.finished", run_id, message_id=f"{run_id}_a", finish_reason=said)
        self._change(run_id, status=status, reason=reason, finished_at="then")
        self.event("run.finished", run_id, run=self.runs[run_id])

    def event(self, kind: str, run_id: str | None = None, *, at: float = 0.0, **data: Any) -> None:
        common = {"type": kind, "seq": len(self.log) + 1, "session_id": SESSION, "run_id": run_id}
        self.log.append(copy.deepcopy({**common, **data}))
        self.times.append(at or self.tick())

    def watch(self, client: str, *, after: int = 0, to: int | None = None) -> None:
        """A reader who saw everything the moment it happened."""
        self.entries.append(
            Opened(
                connection=client,
                client=client,
                stream=f"{PATH}/events",
                after=str(after),
                sent_at=0.0,
            )
        )
        places = zip(self.log[after:to], self.times[after:to], strict=True)
        self.entries += [seen(client, event, at) for event, at in places]
        self.entries.append(Closed(connection=client, how="left", at=self.tick()))

    def told(self) -> list[Entry]:
        return [History(format=FORMAT, seed=0, seconds=self.now), *self.entries]

    def _messages(self, run_id: str) -> None:
        part = {"id": f"{run_id}_said", "type": "text", "text": self.runs[run_id]["input"]}
        user = {
            "id": f"{run_id}_u",
            "run_id": run_id,
            "role": "user",
            "parts": [part],
            "finish_reason": "end_turn",
        }
        empty: Json = {"id": f"{run_id}_a", "role": "assistant", "parts": [], "finish_reason": None}
        self.event("message.started", run_id, message=user)
        self.event("message.started", run_id, message={**user, **empty})

    def _change(self, run_id: str, **fields: Any) -> None:
        self.runs[run_id] = {**self.runs[run_id], **fields}


def seen(connection: str, event: Json, at: float) -> Seen:
    data = msgspec.Raw(msgspec.json.encode(event))
    return Seen(connection=connection, seq=event["seq"], type=event["type"], at=at, data=data)


def crash(tale: Tale) -> None:
    tale.entries.append(Misfortune(action="kill", began=tale.tick(), ended=tale.tick()))
