"""What was asked of the server and what was done to it: an ending must follow from both."""

from collections.abc import Iterable
from typing import Any

from tests.oracle.rule import Json
from tests.oracle.transcript import said
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must


class Ask:
    """A client's call; `ended` is None while it may still take effect."""

    def __init__(self, kind: str, target: str, *, began: int) -> None:
        self.kind = kind
        self.target = target
        self.began = began
        self.ended: int | None = None

    def reaches(self, accepted_step: int) -> bool:
        """Whether it may have come after a run that was accepted then."""
        return self.ended is None or self.ended >= accepted_step


class Ledger:
    def __init__(self, *, nodes: int) -> None:
        self._alone = nodes == 1
        self.asks: list[Ask] = []
        self.losses: list[int] = []
        """When a node crashed, stopped, or was kept from the store."""
        self.losing = 0
        """How many nodes are being stopped now."""
        self.troubles = 0
        """How often the store refused."""
        self.provider_faults: set[str] = set()
        self.said: dict[str, list[str]] = {}
        """What the model said in each run, part by part."""
        self.last_said: dict[str, str] = {}
        """Of which kind the last of it was."""
        self.at_work: dict[int, tuple[str, str]] = {}
        """Open provider streams and running tools, by number: the run, and what it is."""
        self.covered: set[str] = set()
        """Runs of which a cancel has told that it covers them."""
        self.prompts: dict[str, str] = {}
        """Prompts by their text: what became of asking (`asked`, `accepted`, `refused`)."""
        self.emitted: dict[str, int] = {}
        self.executed: dict[str, int] = {}
        """Tool calls by their arguments: how often the model asked, how often the tool ran."""
        self._numbers = 0

    def ask(self, kind: str, target: str, *, began: int) -> Ask:
        ask = Ask(kind, target, began=began)
        self.asks.append(ask)
        return ask

    def begin(self, run_id: str, what: str) -> int:
        self._numbers += 1
        self.at_work[self._numbers] = (run_id, what)
        return self._numbers

    def end(self, number: int) -> None:
        del self.at_work[number]

    def working_for(self, run_ids: Iterable[str]) -> list[str]:
        wanted = set(run_ids)
        return [what for run_id, what in self.at_work.values() if run_id in wanted]

    def executes(self, arguments: str) -> None:
        self.executed[arguments] = self.executed.get(arguments, 0) + 1
        asked = self.emitted.get(arguments, 0)
        must(self.executed[arguments] <= asked, "a tool runs once for a call", arguments)

    def judge(self, session: WitnessedLog, run: Json) -> None:
        """Called when a run has ended."""
        if run["id"] in self.covered:
            must(run["status"] == "cancelled", "what a cancel covered ends cancelled", run)
        must(self._justified(session, run), "an ending has a cause", run)
        started = session.started_step(run["id"])
        if started is None or run["mode"] == "compact" or not self._alone:
            return
        lost = self._lost_since(started) or self.is_deleting(session)
        if not lost:
            working = self.working_for([run["id"]])
            must(not working, "nothing works for a run that has ended", run, working)
        kept = said(session.transcript.of_run(run["id"]))
        spoken = self.said.get(run["id"], [])
        if lost or self.troubles:
            must(_begins(spoken, kept), "what is kept was said", kept, spoken)
        else:
            must(kept == spoken, "all that was said is kept", run, kept, spoken)

    def _lost_since(self, step: int) -> bool:
        return self.losing > 0 or any(loss >= step for loss in self.losses)

    def is_deleting(self, session: WitnessedLog) -> bool:
        return any(ask.kind == "delete" and ask.target == session.id for ask in self.asks)

    def _justified(self, session: WitnessedLog, run: Json) -> Any:
        accepted = session.accepted_step(run["id"])
        asked = [ask for ask in self.asks if ask.reaches(accepted)]
        here = [ask.kind for ask in asked if ask.target == session.id]
        of_run = [ask.kind for ask in asked if ask.target == run["id"]]
        lost = self._lost_since(session.started_step(run["id"]) or accepted)
        match run["reason"]:
            case "user":
                return "cancel" in here or "cancel_run" in of_run
            case "replaced":
                return "interrupt" in here
            case "deleted":
                return "delete" in here
            case "withdrawn":
                return "withdraw" in of_run
            case "disconnect":
                return run["on_disconnect"] == "cancel" and (lost or "leave" in of_run)
            case "server_crashed" | "server_stopped":
                return lost
            case "storage" | "internal":
                return self.troubles
            case "provider_error" | "provider_stalled" | "no_response":
                return run["reason"] in self.provider_faults
            case "model_not_found" | "budget":
                return False
            case _:
                return True


def _begins(whole: list[str], start: list[str]) -> bool:
    return len(start) <= len(whole) and all(
        there.startswith(here) for there, here in zip(whole, start, strict=False)
    )
