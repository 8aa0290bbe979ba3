"""The veil over a blind pane: what may not be seen of it before the vote.

What a log tells is told for good, so nothing that gives the model away may ever enter a blind
pane's log or its rows. It is kept here, where only the engine looks, and the vote lifts it.
"""

import msgspec
from msgspec.structs import replace

from tenuto.core.run import Ending, Run, RunError, Usage
from tenuto.core.value import RunId, Value

IN_PLACE_OF_AN_ERROR = "This answer failed. The vote shows why: the reason may name the model."

IN_PLACE_OF_A_REASON = "The model's provider cannot answer just now."


class Withheld(Value):
    """What a run's ending said that would have given its model away."""

    cost_usd: float | None
    """A price tells the model as well as its name does."""
    error: RunError | None
    cache_read_tokens: int = 0
    """Not every provider keeps what it is told, nor counts it."""
    cache_write_tokens: int = 0


class Veil(Value):
    model: str
    """The one model of all the pane's runs."""
    withheld: dict[RunId, Withheld] = msgspec.field(default_factory=dict)

    def over(self, run: Run, ending: Ending) -> tuple[Ending, "Veil"]:
        """The ending as it may be seen, and the veil with the rest of it."""
        error, used = ending.error, ending.usage
        usage = replace(used, cost_usd=None, cache_read_tokens=0, cache_write_tokens=0)
        if error is None and usage == used:
            return ending, self
        hidden = None if error is None else replace(error, message=IN_PLACE_OF_AN_ERROR)
        seen = replace(ending, error=hidden, usage=usage)
        withheld = Withheld(
            cost_usd=used.cost_usd,
            error=error,
            cache_read_tokens=used.cache_read_tokens,
            cache_write_tokens=used.cache_write_tokens,
        )
        return seen, replace(self, withheld={**self.withheld, run.id: withheld})

    def lifted(self, run: Run) -> Run:
        """The run with all that was hidden of it."""
        shown = replace(run, model=self.model)
        rest = self.withheld.get(run.id)
        if rest is None:
            return shown
        return replace(shown, error=rest.error, usage=_whole(run.usage, rest))

    def whole(self, usage: Usage) -> Usage:
        """Of all runs together, with what was hidden of it."""
        for rest in self.withheld.values():
            usage = usage + _whole(Usage(), rest)
        return usage


def _whole(usage: Usage, rest: Withheld) -> Usage:
    return replace(
        usage,
        cost_usd=rest.cost_usd,
        cache_read_tokens=rest.cache_read_tokens,
        cache_write_tokens=rest.cache_write_tokens,
    )
