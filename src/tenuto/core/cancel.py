"""The cancel ledger: which runs a cancel covers."""

import msgspec
from msgspec.structs import replace

from tenuto.core.run import Reason, Run
from tenuto.core.value import RunId, Value


class CancelLedger(Value):
    """A cancel covers every prompt accepted before it and none after.

    So cancelling an idle session cannot poison the next prompt, and a cancel
    that arrives before its run has started is not lost.
    """

    mark: int = 0
    """Every run with an accept number up to this one is covered."""
    reasons: dict[RunId, Reason] = msgspec.field(default_factory=dict)
    """Runs that are covered and have not ended yet. The first reason stays."""

    def cover_all(self, up_to: int, runs: tuple[Run, ...], reason: Reason) -> "CancelLedger":
        ledger = replace(self, mark=max(self.mark, up_to))
        for run in runs:
            ledger = ledger.cover(run, reason)
        return ledger

    def cover(self, run: Run, reason: Reason) -> "CancelLedger":
        return replace(self, reasons={run.id: reason, **self.reasons})

    def reason_for(self, run: Run) -> Reason | None:
        """Why this run must end cancelled; None if no cancel covers it."""
        if run.id in self.reasons:
            return self.reasons[run.id]
        return Reason.USER if run.accept_number <= self.mark else None

    def forget(self, run: Run) -> "CancelLedger":
        kept = {run_id: reason for run_id, reason in self.reasons.items() if run_id != run.id}
        return replace(self, reasons=kept)
