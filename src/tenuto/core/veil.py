"""The veil over a blind pane: what may not be seen of it before the vote.

What a log tells is told for good, so nothing that gives the model away may ever enter a blind
pane's log or its rows. It is kept here, where only the engine looks, and the vote lifts it.
"""

import msgspec
from msgspec.structs import replace

from tenuto.core.run import Ending, Run, RunError
from tenuto.core.value import RunId, Value

IN_PLACE_OF_AN_ERROR = "This answer failed. The vote shows why: the reason may name the model."


class Withheld(Value):
    """What a run's ending said that would have given its model away."""

    cost_usd: float | None
    """A price tells the model as well as its name does."""
    error: RunError | None


class Veil(Value):
    model: str
    """The one model of all the pane's runs."""
    withheld: dict[RunId, Withheld] = msgspec.field(default_factory=dict)

    def over(self, run: Run, ending: Ending) -> tuple[Ending, "Veil"]:
        """The ending as it may be seen, and the veil with the rest of it."""
        error, cost = ending.error, ending.usage.cost_usd
        if error is None and cost is None:
            return ending, self
        hidden = None if error is None else replace(error, message=IN_PLACE_OF_AN_ERROR)
        seen = replace(ending, error=hidden, usage=replace(ending.usage, cost_usd=None))
        withheld = Withheld(cost_usd=cost, error=error)
        return seen, replace(self, withheld={**self.withheld, run.id: withheld})

    def lifted(self, run: Run) -> Run:
        """The run with all that was hidden of it."""
        shown = replace(run, model=self.model)
        rest = self.withheld.get(run.id)
        if rest is None:
            return shown
        usage = replace(run.usage, cost_usd=rest.cost_usd)
        return replace(shown, error=rest.error, usage=usage)

    def cost(self) -> float | None:
        """Of all runs together; None if no price is known."""
        costs = [w.cost_usd for w in self.withheld.values() if w.cost_usd is not None]
        return sum(costs) if costs else None
