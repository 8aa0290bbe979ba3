"""The record put in order: what was asked and answered, and every log as its readers saw it.

Two rules are checked on the way, because they are about the seeing itself: whoever saw a place of
a log saw the same there, and nobody's stream had a gap.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.proof.history.finding import Findings
from tests.proof.history.record import (
    Answer,
    Closed,
    Entry,
    History,
    Misfortune,
    Opened,
    Request,
    Seen,
    Unreadable,
)

Json = dict[str, Any]
ONE_LOG = "a place in a log is the same for everyone, for ever"
NO_GAP = "a stream goes on right after its cursor, without a gap"
SHAPE = "a frame's id and event are its data's seq and type"


@dataclass
class Call:
    """A request with its answer."""

    request: Request
    answer: Answer | None = None

    @property
    def status(self) -> int | None:
        return None if self.answer is None else self.answer.status

    @property
    def body(self) -> Any:
        return None if self.answer is None else self.answer.body


@dataclass
class Connection:
    opened: Opened
    seqs: list[int] = field(default_factory=list)
    snapshots: list[tuple[float, Json]] = field(default_factory=list)
    log: str = ""
    """The stream or session that its events belong to."""
    closed: Closed | None = None

    @property
    def of_one_run(self) -> bool:
        return self.opened.request is not None or self.opened.stream.startswith("/api/runs/")

    @property
    def cursor(self) -> int | None:
        """None: it asked for a snapshot."""
        after = self.opened.after or "0"
        return int(after) if after.isdecimal() else None


@dataclass
class Log:
    """What is known of one log."""

    name: str
    places: dict[int, bytes] = field(default_factory=dict)
    first_seen: dict[int, float] = field(default_factory=dict)
    sightings: list[tuple[float, int]] = field(default_factory=list)
    """When a place was seen; many times each."""

    def events(self) -> list[Json]:
        """From the first place on, as far as there is no hole."""
        known: list[Json] = []
        while (body := self.places.get(len(known) + 1)) is not None:
            known.append({**msgspec.json.decode(body), "seq": len(known) + 1})
        return known


class Evidence:
    def __init__(self, entries: Iterable[Entry], findings: Findings) -> None:
        self._findings = findings
        self.history: History | None = None
        self.calls: dict[str, Call] = {}
        self.connections: dict[str, Connection] = {}
        self.logs: dict[str, Log] = {}
        self.misfortunes: list[Misfortune] = []
        self.seen = 0
        # Each process wrote a part of its own, so an answer can stand before its request.
        later: list[Entry] = []
        for entry in entries:
            self._take(entry, later)
        for entry in later:
            self._take_late(entry)
        if self.history is None:
            raise Unreadable("the record has no first line")

    def sessions(self) -> list[Log]:
        return [log for name, log in self.logs.items() if not name.startswith("/")]

    def _take(self, entry: Entry, later: list[Entry]) -> None:
        match entry:
            case History():
                self.history = entry
            case Request():
                self.calls[entry.id] = Call(entry)
            case Opened():
                self.connections[entry.connection] = Connection(entry)
            case Misfortune():
                self.misfortunes.append(entry)
            case Answer() if entry.id in self.calls:
                self.calls[entry.id].answer = entry
            case Seen() if entry.connection in self.connections:
                self._see(self.connections[entry.connection], entry)
            case Closed() if entry.connection in self.connections:
                self.connections[entry.connection].closed = entry
            case _:
                later.append(entry)

    def _take_late(self, entry: Entry) -> None:
        left: list[Entry] = []
        self._take(entry, left)
        if left:
            raise Unreadable(f"nothing in the record goes with {entry!r}")

    def _see(self, connection: Connection, seen: Seen) -> None:
        self.seen += 1
        body = bytes(seen.data)
        if seen.type == "snapshot":
            self._snapshot(connection, seen, msgspec.json.decode(body))
            return
        if not connection.log:
            connection.log = _log_of(connection, msgspec.json.decode(body))
        log = self.logs.setdefault(connection.log, Log(connection.log))
        self._place(log, seen, body)
        self._no_gap(connection, seen)
        connection.seqs.append(seen.seq)

    def _snapshot(self, connection: Connection, seen: Seen, data: Json) -> None:
        connection.log = connection.log or _log_of(connection, data)
        connection.snapshots.append((seen.at, data))
        cursor = connection.seqs[-1] if connection.seqs else connection.cursor
        if cursor is not None:
            assert self.history is not None
            may = self.history.folds or connection.opened.stream.startswith("/api/workspaces/")
            said = f"{connection.opened.connection} got a snapshot at {seen.seq} after {cursor}"
            self._findings.check(NO_GAP, may and seen.seq >= cursor, said)
        connection.seqs.append(seen.seq)
        if connection.log:
            log = self.logs.setdefault(connection.log, Log(connection.log))
            log.sightings.append((seen.at, seen.seq))

    def _place(self, log: Log, seen: Seen, body: bytes) -> None:
        known = log.places.get(seen.seq)
        if known is None:
            data = msgspec.json.decode(body)
            is_its_own = (data["seq"], data["type"]) == (seen.seq, seen.type)
            self._findings.check(SHAPE, is_its_own, f"{seen.seq} {seen.type} carries {data}")
            log.places[seen.seq] = body
        else:
            same = known == body or msgspec.json.decode(known) == msgspec.json.decode(body)
            said = f"{log.name} {seen.seq} was {known!r} and is {body!r}"
            self._findings.check(ONE_LOG, same, said)
        log.first_seen[seen.seq] = min(seen.at, log.first_seen.get(seen.seq, seen.at))
        log.sightings.append((seen.at, seen.seq))

    def _no_gap(self, connection: Connection, seen: Seen) -> None:
        before = connection.seqs[-1] if connection.seqs else connection.cursor
        name = connection.opened.connection
        if before is None:
            self._findings.check(NO_GAP, False, f"{name} asked for a snapshot, got {seen.seq}")
        elif connection.of_one_run:
            self._findings.check(NO_GAP, seen.seq > before, f"{name}: {seen.seq} after {before}")
        else:
            self._findings.check(
                NO_GAP, seen.seq == before + 1, f"{name}: {seen.seq} came after {before}"
            )


def _log_of(connection: Connection, data: Json) -> str:
    if connection.opened.stream.startswith("/api/workspaces/"):
        return connection.opened.stream
    name: str = data["session_id"]
    return name
