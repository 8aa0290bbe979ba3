"""Usage by day: what the runs of a day used, by model. It outlives the sessions that it was for."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from tenuto.core.run import MOST_TOKENS, Run
from tenuto.core.value import PrincipalId, Value

DAY_CHARACTERS = len("2030-01-01")


class DayUsage(Value):
    day: str
    """In UTC: when the runs ended."""
    model: str | None
    """None: hidden, of blind panes before the vote."""
    runs: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    exact: bool
    """Whether the providers themselves counted all of it."""
    cost_usd: float | None
    """None: no price is known."""

    def __add__(self, other: "DayUsage") -> "DayUsage":
        costs = [c for c in (self.cost_usd, other.cost_usd) if c is not None]
        return replace(
            self,
            runs=self.runs + other.runs,
            input_tokens=min(self.input_tokens + other.input_tokens, MOST_TOKENS),
            output_tokens=min(self.output_tokens + other.output_tokens, MOST_TOKENS),
            reasoning_tokens=min(self.reasoning_tokens + other.reasoning_tokens, MOST_TOKENS),
            exact=self.exact and other.exact,
            cost_usd=round(sum(costs), 9) if costs else None,
        )

    def __neg__(self) -> "DayUsage":
        return replace(
            self,
            runs=-self.runs,
            input_tokens=-self.input_tokens,
            output_tokens=-self.output_tokens,
            reasoning_tokens=-self.reasoning_tokens,
            cost_usd=None if self.cost_usd is None else -self.cost_usd,
        )


class Booking(Value):
    """What is to be added to the usage of whoever prompted."""

    by: PrincipalId
    usage: DayUsage


def used_by(ended: Sequence[Run], revealed: Sequence[Run]) -> tuple[Booking, ...]:
    """What a change adds to it: runs that end, and what was hidden moved to its model."""
    return (*_of(ended), *_moved(revealed))


def _of(runs: Sequence[Run]) -> Iterator[Booking]:
    for run in runs:
        # One that never started asked nobody for anything.
        if run.finished_at is not None and run.started_at is not None:
            usage = DayUsage(
                day=run.finished_at[:DAY_CHARACTERS],
                model=run.model,
                runs=1,
                input_tokens=run.usage.input_tokens,
                output_tokens=run.usage.output_tokens,
                reasoning_tokens=run.usage.reasoning_tokens,
                exact=run.usage.exact,
                cost_usd=run.usage.cost_usd,
            )
            yield Booking(by=run.by, usage=usage)


def _moved(revealed: Sequence[Run]) -> Iterator[Booking]:
    for booking in _of(revealed):
        hidden = replace(booking.usage, model=None, cost_usd=None)
        yield replace(booking, usage=-hidden)
        yield booking
