"""One session's log as the witness of a simulated world keeps it."""

from tests.oracle.rule import Json
from tests.oracle.session_log import SessionLog
from tests.proof.sim.violation import broken


class WitnessedLog(SessionLog):
    """Held to the contract, with what only someone who was there can know."""

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id, broken)
        self.bodies: list[bytes] = []
        """Each event as it was committed, by seq."""
        self.before_active: list[str] = []
        """Messages that were there when the active run began: its model must be told of them."""
        self.compacted = False
        self._steps: list[int] = []

    def witness(self, event: Json, body: bytes, *, step: int) -> None:
        """Take in what was committed in this step of the world."""
        self.apply(event)
        self.bodies.append(body)
        self._steps.append(step)
        if event["type"] == "run.started":
            self.before_active = list(self.transcript.messages)
        elif event["type"] == "session.compacted":
            self.compacted = True

    def accepted_step(self, run_id: str) -> int:
        return self._steps[self.accepted_at[run_id] - 1]

    def started_step(self, run_id: str) -> int | None:
        """None: it never ran."""
        seq = self.started_at.get(run_id)
        return None if seq is None else self._steps[seq - 1]

    def only_waits(self, run_id: str) -> bool:
        """Whether the run does nothing but wait for a person, and would for anyone."""
        parts = [part for message in self.transcript.of_run(run_id) for part in message["parts"]]
        states = {part["state"] for part in parts if part["type"] == "tool"}
        run = self.runs[run_id]
        alone = run["on_disconnect"] != "cancel" and "parent_run" not in run
        return "waiting_approval" in states and "running" not in states and alone
