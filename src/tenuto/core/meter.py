"""What a run used: told by the provider where it says so, counted where it does not."""

from collections.abc import Sequence

from msgspec.structs import replace

from tenuto.core.run import MOST_TOKENS, Usage

CHARACTERS_PER_TOKEN = 4
MOST_USD = 1e12
"""A cost is a number that can be added up and sent, whatever was counted and set."""


def estimate_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


class Meter:
    """Adds up the requests of one run, the one under way included."""

    def __init__(self, usage: Usage | None = None) -> None:
        self._done = usage or Usage()
        self._done_cached = 0
        self._reported: Usage | None = None
        self._cached = 0
        self._input_characters = 0
        self._output = _Count()
        self._reasoning = _Count()
        self._open = False

    def request(self, input_characters: int) -> None:
        """A request goes out: it costs something even if it never answers."""
        self.close()
        self._open = True
        self._input_characters = input_characters

    def output(self, texts: Sequence[str]) -> None:
        self._output.add(texts)

    def reasoning(self, texts: Sequence[str]) -> None:
        self._reasoning.add(texts)

    def report(self, usage: Usage, *, cached: int = 0) -> None:
        """What the provider says of the request under way, and how much of its input it had kept."""
        self._reported, self._cached = usage, cached

    def refused(self) -> None:
        """The request under way was never worked on."""
        self._open = False

    def close(self) -> None:
        """The request under way is over."""
        self._done, self._done_cached = self.total(), self.cached()
        self._open, self._reported, self._cached = False, None, 0
        self._output, self._reasoning = _Count(), _Count()

    def cached(self) -> int:
        """Of all input tokens, those that the provider had kept from earlier requests."""
        return min(self._done_cached + (self._cached if self._open else 0), MOST_TOKENS)

    def total(self) -> Usage:
        if not self._open:
            return self._done
        if self._reported is not None:
            return self._done + self._reported
        reasoning = self._reasoning.tokens()
        return self._done + Usage(
            input_tokens=estimate_tokens(self._input_characters),
            output_tokens=self._output.tokens() + reasoning,
            reasoning_tokens=reasoning,
            exact=False,
        )


class _Count:
    def __init__(self) -> None:
        self.pieces = 0
        self.characters = 0

    def add(self, texts: Sequence[str]) -> None:
        self.pieces += len(texts)
        self.characters += sum(map(len, texts))

    def tokens(self) -> int:
        # Providers mostly send a token a piece; those that send more are caught by the length.
        return max(self.pieces, estimate_tokens(self.characters))


def priced(
    usage: Usage,
    *,
    input_price: float,
    output_price: float,
    cached: int = 0,
    cached_price: float | None = None,
) -> Usage:
    """The usage with its cost; prices are dollars per million tokens.

    Input that the provider had kept has its own price; without one it is priced as any other.
    """
    kept = min(cached, usage.input_tokens) if cached_price is not None else 0
    asked = (usage.input_tokens - kept) * input_price + kept * (cached_price or 0.0)
    cost = (asked + usage.output_tokens * output_price) / 1_000_000
    # So also for what is not a number.
    cost = min(MOST_USD, cost)
    return replace(usage, cost_usd=round(cost, 9))
