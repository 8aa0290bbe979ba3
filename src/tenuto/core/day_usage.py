"""Usage by day: what the runs of a day used, by model. It outlives the sessions that it was for."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.run import MOST_TOKENS, Mode, Run, Usage
from tenuto.core.value import Instant, PrincipalId, Value


class UsageKind(StrEnum):
    """What it was for."""

    RUN = "run"
    """Answers, with the summaries that they needed on their way."""
    SUMMARY = "summary"
    """That somebody asked for."""
    TITLE = "title"
    SUB_AGENT = "sub_agent"


DAY_CHARACTERS = len("2030-01-01")


class DayUsage(Value):
    day: str
    """In UTC: when the runs ended."""
    model: str | None
    """None: hidden, of blind panes before the vote."""
    kind: UsageKind = UsageKind.RUN
    runs: int
    """Or titles."""
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
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
            cache_read_tokens=min(self.cache_read_tokens + other.cache_read_tokens, MOST_TOKENS),
            cache_write_tokens=min(self.cache_write_tokens + other.cache_write_tokens, MOST_TOKENS),
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
            cache_read_tokens=-self.cache_read_tokens,
            cache_write_tokens=-self.cache_write_tokens,
            cost_usd=None if self.cost_usd is None else -self.cost_usd,
        )


class Booking(Value):
    """What is to be added to the usage of whoever prompted."""

    by: PrincipalId
    usage: DayUsage


def booking(
    usage: Usage, *, kind: UsageKind, model: str | None, at: Instant, by: PrincipalId
) -> Booking:
    """One run, or one title, that used this."""
    day = DayUsage(
        day=at[:DAY_CHARACTERS],
        model=model,
        kind=kind,
        runs=1,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        exact=usage.exact,
        cost_usd=usage.cost_usd,
    )
    return Booking(by=by, usage=day)


def used_by(ended: Sequence[Run], revealed: Sequence[Run]) -> tuple[Booking, ...]:
    """What a change adds to it: runs that end, and what was hidden moved to its model."""
    return (*_of(ended), *_moved(revealed))


def _of(runs: Sequence[Run]) -> Iterator[Booking]:
    for run in runs:
        # One that never started asked nobody for anything.
        if run.finished_at is not None and run.started_at is not None:
            used = run.usage
            yield booking(used, kind=_kind(run), model=run.model, at=run.finished_at, by=run.by)


def _kind(run: Run) -> UsageKind:
    if run.mode is Mode.COMPACT:
        return UsageKind.SUMMARY
    return UsageKind.RUN if run.parent_run is UNSET else UsageKind.SUB_AGENT


def _moved(revealed: Sequence[Run]) -> Iterator[Booking]:
    for shown in _of(revealed):
        hidden = replace(
            shown.usage, model=None, cost_usd=None, cache_read_tokens=0, cache_write_tokens=0
        )
        yield replace(shown, usage=-hidden)
        yield shown
