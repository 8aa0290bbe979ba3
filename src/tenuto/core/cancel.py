"""The cancel ledger: which runs a cancel covers."""

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.principal import By
from tenuto.core.run import Reason, Run
from tenuto.core.value import PrincipalId, RunId, Value


class CancelLedger(Value):
    """A cancel covers every prompt accepted before it and none after.

    So cancelling an idle session cannot poison the next prompt, and a cancel
    that arrives before its run has started is not lost.
    """

    mark: int = 0
    """Every run with an accept number up to this one is covered."""
    reasons: dict[RunId, Reason] = msgspec.field(default_factory=dict)
    """Runs that are covered and have not ended yet. The first reason stays."""
    by: dict[RunId, PrincipalId] = msgspec.field(default_factory=dict)
    """Who gave that first reason; nobody for the server's own."""

    def cover_all(
        self, up_to: int, runs: tuple[Run, ...], reason: Reason, *, by: By = UNSET
    ) -> "CancelLedger":
        ledger = replace(self, mark=max(self.mark, up_to))
        for run in runs:
            ledger = ledger.cover(run, reason, by=by)
        return ledger

    def cover(self, run: Run, reason: Reason, *, by: By = UNSET) -> "CancelLedger":
        if run.id in self.reasons:
            return self
        whose = self.by if by is UNSET else {**self.by, run.id: by}
        return replace(self, reasons={**self.reasons, run.id: reason}, by=whose)

    def reason_for(self, run: Run) -> Reason | None:
        """Why this run must end cancelled; None if no cancel covers it."""
        if run.id in self.reasons:
            return self.reasons[run.id]
        return Reason.USER if run.accept_number <= self.mark else None

    def by_whom(self, run: Run) -> By:
        """Who cancelled this run."""
        return self.by.get(run.id, UNSET)

    def forget(self, run: Run) -> "CancelLedger":
        reasons = {run_id: reason for run_id, reason in self.reasons.items() if run_id != run.id}
        by = {run_id: who for run_id, who in self.by.items() if run_id != run.id}
        return replace(self, reasons=reasons, by=by)
