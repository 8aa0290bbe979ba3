"""Where nothing breaks and little is slow, nobody has to wait for a second look."""

from typing import Any

from tests.proof.sim.loop import SimLoop
from tests.proof.sim.script import CLUSTER, TOGETHER, Script
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must

PROMPT_SECONDS = 3.0
"""Less than the engine's own slow looks take: a wake-up that was lost shows."""

STOP_SECONDS = 0.5


class Promptness:
    def __init__(self, script: Script, loop: SimLoop) -> None:
        unlucky = any(item.kind in (*TOGETHER, *CLUSTER, "odd") for item in script.items)
        self._loop = loop
        unhurried = script.hurry >= 1.0 or script.most_runs > 0
        self.is_due = script.nodes == 1 and not unhurried and not unlucky
        self.is_kind = self.is_due and script.temper == 0.0
        """Also nobody is hostile: only the order is by chance."""
        self._startable: dict[str, float] = {}
        """Since when a session's next run could start."""
        self._covered: dict[str, float] = {}
        self._answered: dict[str, float] = {}
        """When a call was allowed or denied that has not moved since."""

    def covers(self, run_id: str) -> None:
        """A cancel that covers the run is committed."""
        self._covered.setdefault(run_id, self._loop.now)

    def must_not_be_covered(self, run_id: str) -> None:
        """What a cancel covers asks no model any more."""
        if self.is_kind:
            since = self._loop.now - self._covered.get(run_id, self._loop.now)
            must(since <= STOP_SECONDS, "a cancel reaches the run at once", since, run_id)

    def look(self, session: WitnessedLog, event: dict[str, Any]) -> None:
        """Called at every event where it `is_due`."""
        now = self._loop.now
        match event["type"]:
            case "run.started":
                waited = now - self._startable.get(session.id, now)
                must(waited <= PROMPT_SECONDS, "the next run starts at once", waited, event)
            case "approval.resolved" if event["approval"]["decided_by"] == "user":
                self._answered[event["approval"]["call_id"]] = now
            case "part.updated":
                waited = now - self._answered.pop(event["part"]["call_id"], now)
                must(waited <= PROMPT_SECONDS, "an answer is heard at once", waited, event)
        if session.active is None and session.waiting:
            self._startable.setdefault(session.id, now)
        else:
            self._startable.pop(session.id, None)
