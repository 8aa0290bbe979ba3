"""Histories made by hand, to see what the checker says of them."""

import copy
from typing import Any

import msgspec

from tests.oracle.rule import Json
from tests.oracle.sample import SESSION, SampleLog
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

PATH = f"/api/sessions/{SESSION}"


class SampleHistory(SampleLog):
    """One session, told step by step; each step takes a second."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.times: list[float] = []
        """When each event of the log happened."""
        self.entries: list[Entry] = []

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    def call_server(
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
        self.accept(run_id, **fields)
        self.now, self.times[-1] = at - 1.5, at
        run = self.runs[run_id]
        body = {"input": run["input"]}
        self.call_server("POST", f"{PATH}/runs", body, status=202, answer=run, key=f"key {run_id}")

    def event(self, kind: str, run_id: str | None = None, **data: Any) -> None:
        super().event(kind, run_id, **data)
        self.times.append(self.tick())

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


def seen(connection: str, event: Json, at: float) -> Seen:
    data = msgspec.Raw(msgspec.json.encode(event))
    return Seen(connection=connection, seq=event["seq"], type=event["type"], at=at, data=data)


def crash(sample: SampleHistory) -> None:
    sample.entries.append(Misfortune(action="kill", began=sample.tick(), ended=sample.tick()))
