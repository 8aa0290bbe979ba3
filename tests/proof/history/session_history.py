"""Everything that the record has about one session: its log, what it leaves, and who asked what of it."""

from dataclasses import dataclass, field

from tests.oracle.rule import Json
from tests.oracle.session_log import SessionLog
from tests.proof.history.evidence import Call, Connection, Evidence, Log
from tests.proof.history.finding import Findings

CONTRACT = "each event is one that may come next"
RELOAD = "what is read at a place is what the events up to it fold to"
WHOLE = "a log is known to its end, without a hole"
OF_A_RUN = "a run's stream has every event of the run"


@dataclass
class Reading:
    """A session as someone was told that it is, at one place of its log."""

    who: str
    sent_at: float
    at: float
    head: int
    messages: list[Json] | None = None
    runs: list[Json] = field(default_factory=list)


@dataclass
class SessionHistory:
    session: str
    log: Log
    state: SessionLog
    events: list[Json]
    calls: list[Call]
    readings: list[Reading]
    deleted: bool
    """Someone asked for it to be deleted: then its log may be known in part only."""


def read_sessions(evidence: Evidence, findings: Findings) -> list[SessionHistory]:
    """Read every session's log from its beginning, and compare what was read of it on the way."""
    calls = _calls_by_session(evidence)
    connections: dict[str, list[Connection]] = {}
    for connection in evidence.connections.values():
        connections.setdefault(connection.log, []).append(connection)
    histories = []
    for log in evidence.sessions():
        own = calls.get(log.name, [])
        readings = _readings(own, connections.get(log.name, []))
        history = SessionHistory(
            session=log.name,
            log=log,
            state=_log(log.name, findings),
            events=log.events(),
            calls=own,
            readings=readings,
            deleted=any(_deletes(call, log.name) for call in own),
        )
        _read(history, findings)
        _check_runs(history, connections.get(log.name, []), evidence, findings)
        histories.append(history)
    return histories


def _log(session: str, findings: Findings) -> SessionLog:
    """A log that is held to the contract; what breaks it is written down."""

    def broken(rule: str, *seen: object) -> None:
        findings.violations.append((rule, f"{session} {seen}"))

    return SessionLog(session, broken)


def _read(history: SessionHistory, findings: Findings) -> None:
    wanted: dict[int, list[Reading]] = {}
    for reading in history.readings:
        wanted.setdefault(reading.head, []).append(reading)
    for event in history.events:
        findings.tried[CONTRACT] += 1
        history.state.apply(event)
        for reading in wanted.get(event["seq"], ()):
            _compare(history, reading, findings)
    last = max([*history.log.places, *wanted], default=0)
    holds = history.deleted or len(history.events) == last
    said = f"{history.session} is known to {len(history.events)} of {last}"
    findings.check(WHOLE, holds, said)


def _compare(history: SessionHistory, reading: Reading, findings: Findings) -> None:
    if reading.messages is not None:
        folded = history.state.messages
        said = f"{reading.who} read {reading.messages} at {reading.head}, not {folded}"
        findings.check(RELOAD, reading.messages == folded, said)
    for run in reading.runs:
        known = history.state.runs.get(run["id"])
        said = f"{reading.who} read {run} at {reading.head}, not {known}"
        findings.check(RELOAD, run == known, said)


def _check_runs(
    history: SessionHistory,
    connections: list[Connection],
    evidence: Evidence,
    findings: Findings,
) -> None:
    places: dict[str, list[int]] = {}
    for event in history.events:
        places.setdefault(event["run_id"] or "", []).append(event["seq"])
    ends = {e["seq"] for e in history.events if e["type"] == "session.deleted"}
    for connection in connections:
        if not connection.of_one_run or connection.snapshots or not connection.seqs:
            continue
        run_id = _run_of(connection, evidence)
        last = connection.seqs[-1]
        expected = [seq for seq in places.get(run_id, []) if (connection.cursor or 0) < seq <= last]
        got = [seq for seq in connection.seqs if seq not in ends]
        if last <= len(history.events):
            said = f"{connection.opened.connection} of {run_id} saw {got}, not {expected}"
            findings.check(OF_A_RUN, got == expected, said)


def _run_of(connection: Connection, evidence: Evidence) -> str:
    if connection.opened.request is not None:
        body = evidence.calls[connection.opened.request].body or {}
        return str(body.get("id", ""))
    return connection.opened.stream.split("/")[3]


def _calls_by_session(evidence: Evidence) -> dict[str, list[Call]]:
    owners: dict[str, str] = {}
    for log in evidence.sessions():
        for event in log.events():
            if event["type"] == "run.accepted":
                owners[event["run_id"]] = log.name
            elif event["type"] == "approval.requested":
                owners[event["approval"]["id"]] = log.name
    calls: dict[str, list[Call]] = {}
    for call in evidence.calls.values():
        match call.request.path.split("?")[0].split("/"):
            case ["", "api", "sessions", session, *_]:
                calls.setdefault(session, []).append(call)
            case ["", "api", "runs" | "approvals", thing, *_] if thing in owners:
                calls.setdefault(owners[thing], []).append(call)
    return calls


def _readings(calls: list[Call], connections: list[Connection]) -> list[Reading]:
    readings = []
    for call in calls:
        if call.status != 200 or call.answer is None or not isinstance(call.body, dict):
            continue
        if "head" in call.body:
            readings.append(
                Reading(
                    who=call.request.id,
                    sent_at=call.request.sent_at,
                    at=call.answer.at,
                    head=call.body["head"],
                    messages=call.body.get("messages"),
                )
            )
    for connection in connections:
        readings += [
            Reading(
                who=connection.opened.connection,
                sent_at=connection.opened.sent_at,
                at=at,
                head=data["seq"],
                messages=data["messages"],
                runs=data["runs"],
            )
            for at, data in connection.snapshots
        ]
    return readings


def _deletes(call: Call, session: str) -> bool:
    return call.request.method == "DELETE" and call.request.path == f"/api/sessions/{session}"
