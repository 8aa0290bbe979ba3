"""The witness hears of every commit first, and knows from the log alone what must be true."""

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import msgspec

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.storage.memory import MemoryStore
from tests.oracle.rule import Json
from tests.proof.sim.blindness import Blindness
from tests.proof.sim.loop import SimLoop
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import Violation, must


class Created(msgspec.Struct):
    """What is of interest here in a session that was made."""

    title_source: str


class Shared(msgspec.Struct):
    """What is of interest here in an event of the workspace."""

    type: str
    session_id: str
    session: Created | None = None
    """Of `session.created` alone."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_decode_shared = msgspec.json.Decoder(Shared).decode

Judge = Callable[[WitnessedLog, Json], None]


class Witness:
    def __init__(self, workspace: str, loop: SimLoop, fail: Callable[[Violation], None]) -> None:
        self._workspace = workspace
        self._loop = loop
        self._fail = fail
        self.sessions: dict[str, WitnessedLog] = {}
        self.shared: list[bytes] = []
        """The workspace's log."""
        self._compared: dict[str, tuple[int, bytes]] = {}
        """At which head what the store says of a session was last found right, and what it said."""
        self.digest = 0
        self.on_changed: Callable[[WitnessedLog], None] = lambda session: None
        """Called when something changed while a run is active."""
        self.on_finished: list[Judge] = []
        self.blindness = Blindness(("sim/wide", "sim/narrow"))
        self.on_committed: list[Callable[[WitnessedLog, Json], None]] = []

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        try:
            for stored in events:
                body = stored.json()
                self.digest = crc32(body, self.digest)
                if stream == self._workspace:
                    self._in_workspace(stored, body)
                else:
                    self._in_session(stream, stored, body)
        except Violation as violation:
            self._fail(violation)

    def changed(self, session_id: SessionId) -> None:
        session = self.sessions.get(session_id)
        if session is not None and session.active is not None:
            self.on_changed(session)

    def run(self, run_id: str) -> tuple[WitnessedLog, Json] | None:
        for session in self.sessions.values():
            if run_id in session.runs:
                return session, session.runs[run_id]
        return None

    def _in_session(self, session_id: str, stored: Stored, body: bytes) -> None:
        session = self.sessions.get(session_id)
        if session is None:
            session = self.sessions[session_id] = WitnessedLog(session_id)
        event = _decode(body)
        must(event["type"] == stored.type, "an event is what it says", event)
        session.witness(event, body, step=self._loop.steps)
        self.blindness.look(session, event, step=self._loop.steps)
        if session.deleted:
            self.blindness.gone(session.id)
        for tell in self.on_committed:
            tell(session, event)
        if stored.type == "run.finished":
            for judge in self.on_finished:
                judge(session, session.runs[event["run"]["id"]])

    def _in_workspace(self, stored: Stored, body: bytes) -> None:
        must(stored.seq == len(self.shared) + 1, "the workspace's log has no gaps", stored)
        self.shared.append(body)
        event = _decode_shared(body)
        if event.type == "session.created":
            assert event.session is not None
            session = self.sessions.get(event.session_id)
            if session is None:
                session = self.sessions[event.session_id] = WitnessedLog(event.session_id)
            session.named_by_user |= event.session.title_source == "user"
        elif self.sessions[event.session_id].deleted:
            must(event.type in ("run.finished", "session.deleted"), "deleted for good", event)

    def compare(self, store: MemoryStore, session_id: str) -> None:
        """Reload equals live, and the session says of itself what its log says."""
        log = self.sessions[session_id]
        if log.deleted:
            return
        text = _encode(now(store.snapshot(SessionId(session_id))))
        if self._compared.get(session_id) == (log.head, text):
            # Nothing was said since, and the store says word by word what it said.
            return
        self._compared[session_id] = (log.head, text)
        self.blindness.must_not_name(session_id, text)
        snapshot = _decode(text)
        session = snapshot["session"]
        must(session["head"] == log.head, "the head is the log's", session, log.head)
        must(
            snapshot["messages"] == list(log.transcript.messages.values()),
            "reload equals live",
            snapshot["messages"],
            log.transcript.messages,
        )
        asked = {**log.pending, **log.asked}
        state = "idle" if log.active is None else "waiting" if asked else "running"
        told = (session["state"], session["active_run"], session["queued"])
        must(told == (state, log.active, len(log.queue)), "a session says what it does", told, log)
        runs = {run["id"]: run for run in snapshot["runs"]}
        must(
            runs == log.runs,
            "a run is what its last event says",
            runs,
        )
        things = {thing["id"]: thing for thing in snapshot["things"]}
        open_ones = {**asked, **log.background.running}
        must(things == open_ones, "what is asked and what runs is told", things, open_ones)


def now(answer: Any) -> Any:
    """The answer of a call that never waits."""
    try:
        answer.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")
