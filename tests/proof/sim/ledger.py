"""What was asked of the server and what was done to it: an ending must follow from both."""

from collections.abc import Iterable
from typing import Any

from tests.oracle.rule import Json
from tests.oracle.transcript import said
from tests.proof.sim.loop import NODE, SimLoop
from tests.proof.sim.script import Script, is_only_crashes
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must

FOR_EVER = 1 << 60
SETTLED_SECONDS = 5.0


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
    def __init__(self, script: Script, loop: SimLoop) -> None:
        self._alone = script.nodes == 1
        self._is_kind = script.temper == 0.0
        """Whoever is told to stop stops."""
        self.is_quick = script.is_cluster and script.hurry < 1.0 and is_only_crashes(script)
        """Whoever dies is noticed, and nothing is slow."""
        self._loop = loop
        self.asks: list[Ask] = []
        self._losses: list[tuple[str, int]] = []
        """Which node (empty: all) crashed, stopped, or was kept from the store too long, and when."""
        self.losing: list[str] = []
        """Nodes that are being stopped now."""
        self.owners: dict[str, str | None] = {}
        """By run: the node that started it."""
        self.holders: dict[str, str | None] = {}
        """By run: the node that accepted it, and holds its connection if it is attached."""
        self.families: dict[str, str] = {}
        """By session of a sub-agent: the one whose it is."""
        self.ended: set[str] = set()
        """Runs that have ended."""
        self.troubles = 0
        """How often the store refused."""
        self.died: dict[str, float] = {}
        """Nodes that crashed, and when."""
        self.revived_at = 0.0
        """When there was someone again to look after what they left."""
        self.unheld: set[str] = set()
        """Prompts whose connection ended before anyone knew whether they were accepted."""
        self.provider_faults: set[str] = set()
        self.said: dict[str, list[str]] = {}
        """What the model said in each run, part by part."""
        self.last_said: dict[str, str] = {}
        """Of which kind the last of it was."""
        self.at_work: dict[int, tuple[str, str, str | None]] = {}
        """Open provider streams and running tools, by number: the run, what it is, and where."""
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

    def lose(self, node: str, step: int) -> None:
        """What this node (empty: every node) had begun until then may be lost."""
        self._losses.append((node, step))

    def begin(self, run_id: str, what: str) -> int:
        self._numbers += 1
        self.at_work[self._numbers] = (run_id, what, NODE.get())
        return self._numbers

    def end(self, number: int) -> None:
        del self.at_work[number]

    def working_for(self, run_ids: Iterable[str]) -> list[str]:
        """What works for these runs, where it could have been stopped."""
        if not (self._alone or self._is_kind):
            return []
        wanted = set(run_ids)
        there = [(what, node) for run_id, what, node in self.at_work.values() if run_id in wanted]
        return [what for what, node in there if not self._loop.stands_still(node or "")]

    def executes(self, arguments: str) -> None:
        self.executed[arguments] = self.executed.get(arguments, 0) + 1
        asked = self.emitted.get(arguments, 0)
        must(self.executed[arguments] <= asked, "a tool runs once for a call", arguments)

    def judge(self, session: WitnessedLog, run: Json) -> None:
        """Called when a run has ended."""
        self.ended.add(run["id"])
        if run["id"] in self.covered:
            must(run["status"] == "cancelled", "what a cancel covered ends cancelled", run)
        must(self._justified(session, run), "an ending has a cause", run)
        if run["status"] == "interrupted" and not self.troubles:
            # Nothing else is under way while leave is asked for; beside a question there may be.
            requests = (*session.approvals.values(), *session.questions.values())
            asked = [one for one in requests if one["run_id"] == run["id"]]
            left = [one for one in asked if one["state"] == "cancelled"]
            with_another = run["on_disconnect"] == "cancel" or "parent_run" in run
            is_kept = with_another or not left or self._may_have_worked(session, run, left)
            must(is_kept, "what waits for a person is not interrupted", run, left)
        started = session.started_step(run["id"])
        if started is None or run["mode"] == "compact":
            return
        if not self._alone:
            self._judge_elsewhere(session, run)
            return
        lost = self._lost_since(started, self.owners.get(run["id"])) or self.is_deleting(session)
        if not lost:
            working = self.working_for([run["id"]])
            must(not working, "nothing works for a run that has ended", run, working)
        kept = said(session.transcript.of_run(run["id"]))
        spoken = self.said.get(run["id"], [])
        if lost or self.troubles:
            must(_begins(spoken, kept), "what is kept was said", kept, spoken)
        else:
            must(kept == spoken, "all that was said is kept", run, kept, spoken)

    def _may_have_worked(self, session: WitnessedLog, run: Json, left: list[Json]) -> bool:
        """Whether another call was open beside what it asked in words."""
        parts = [p for m in session.transcript.of_run(run["id"]) for p in m["parts"]]
        open_ones = [p for p in parts if p.get("state") == "interrupted"]
        return len(open_ones) > len(left) and any("questions" in one for one in left)

    def _judge_elsewhere(self, session: WitnessedLog, run: Json) -> None:
        owner = self.owners.get(run["id"]) or ""
        if owner not in self.died and not self.is_deleting(session):
            # Whoever ended it: its owner is dead, stands still, or has stopped itself by then.
            working = self.working_for([run["id"]])
            must(not working, "nothing works for a run that has ended", run, working)
        if owner in self.died and self.is_quick:
            waited = self._loop.now - max(self.died[owner], self.revived_at)
            must(waited <= SETTLED_SECONDS, "the runs of the dead are settled soon", waited, run)

    def _lost_since(self, step: int, *nodes: str | None) -> bool:
        """Whether one of these nodes was lost since then."""
        if any(node in self.losing for node in nodes):
            return True
        return any(loss >= step and who in ("", *nodes) for who, loss in self._losses)

    def is_deleting(self, session: WitnessedLog) -> bool:
        family = (session.id, self.families.get(session.id))
        return any(ask.kind == "delete" and ask.target in family for ask in self.asks)

    def _justified(self, session: WitnessedLog, run: Json) -> Any:
        accepted = session.accepted_step(run["id"])
        asked = [ask for ask in self.asks if ask.reaches(accepted)]
        family = (session.id, self.families.get(session.id))
        here = [ask.kind for ask in asked if ask.target in family]
        above = run.get("parent_run")
        of_run = [ask.kind for ask in asked if ask.target in (run["id"], above)]
        owner, holder = self.owners.get(run["id"]), self.holders.get(run["id"])
        lost = self._lost_since(session.started_step(run["id"]) or accepted, owner)
        left = lost or self._lost_since(accepted, holder)
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
                asked_for = str(session.accepted[run["id"]]["input"])
                closed = left or "leave" in of_run or asked_for in self.unheld
                return above is not None or (run["on_disconnect"] == "cancel" and closed)
            case "server_crashed" | "server_stopped":
                return lost or above in self.ended
            case "storage":
                return self.troubles or lost
            case "internal":
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
