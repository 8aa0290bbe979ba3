"""The record: all that clients were told, in the order in which they heard it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAnswer:
    """A request that was answered."""

    method: str
    path: str
    key: str | None
    sent: Any
    status: int
    body: Any

    @property
    def good(self) -> bool:
        return self.status < 300


@dataclass(slots=True)
class ClientRecord:
    answers: list[ToldAnswer] = field(default_factory=list)
    seen: dict[str, dict[int, Json]] = field(default_factory=dict)
    """Every event that a client saw, by log and seq."""
    whole_after: dict[str, int] = field(default_factory=dict)
    """From where on a workspace's log is whole: before, deleted sessions were forgotten."""
    asked: Counter[str] = field(default_factory=Counter)
    """How often each text was meant to be accepted."""
    deleted: set[str] = field(default_factory=set)
    """Sessions, workspaces and comparisons whose deletion was answered."""
    doomed: set[str] = field(default_factory=set)
    """Sessions whose deletion was asked for, answered or not."""
    complaints: list[str] = field(default_factory=list)
    """What was wrong at first sight."""

    def see(self, log: str, event: Json) -> None:
        before = self.seen.setdefault(log, {}).setdefault(event["seq"], event)
        if before != event:
            self.complaints.append(f"{log} was {before} and is now {event}")

    def good(self, method: str, part: str) -> list[ToldAnswer]:
        """Good answers to requests of this method whose path has this in it."""
        return [a for a in self.answers if a.good and a.method == method and part in a.path]
