"""What a run used: told by the provider where it says so, counted where it does not."""

from collections.abc import Sequence

from msgspec.structs import replace

from tenuto.core.run import Usage, used_below
from tenuto.core.value import Value

CHARACTERS_PER_TOKEN = 4
MOST_USD = 1e12
"""A cost is a number that can be added up and sent, whatever was counted and set."""


def estimate_tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


class Price(Value):
    """Dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    """For input that the provider had kept. None: as other input, so the cost is never too low."""
    cache_write: float | None = None
    """For input that it was paid to keep. None: as other input."""


class Meter:
    """Adds up the requests of one run, the one under way included."""

    def __init__(self, usage: Usage | None = None) -> None:
        self._done = usage or Usage()
        self._reported: Usage | None = None
        self._price: Price | None = None
        self.last: Usage | None = None
        """What the provider said of the last request that is over; None if it said nothing."""
        self._input_characters = 0
        self._output = _Count()
        self._reasoning = _Count()
        self._open = False

    def request(self, input_characters: int, price: Price | None = None) -> None:
        """A request goes out: it costs something even if it never answers."""
        self.close()
        self._open = True
        self._price = price
        self._input_characters = input_characters

    def output(self, texts: Sequence[str]) -> None:
        self._output.add(texts)

    def reasoning(self, texts: Sequence[str]) -> None:
        self._reasoning.add(texts)

    def report(self, usage: Usage) -> None:
        """What the provider says of the request under way."""
        self._reported = usage

    def below(self, usage: Usage) -> None:
        """What a sub-agent used."""
        self._done += used_below(usage)

    def refused(self) -> None:
        """The request under way was never worked on."""
        self._open = False

    def close(self) -> None:
        """The request under way is over."""
        self._done, self.last = self.total(), self._reported
        self._open, self._reported = False, None
        self._output, self._reasoning = _Count(), _Count()

    def total(self) -> Usage:
        if not self._open:
            return self._done
        used = self._reported or self._counted()
        return self._done + (priced(used, self._price) if self._price else used)

    def _counted(self) -> Usage:
        reasoning = self._reasoning.tokens()
        return Usage(
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


def priced(usage: Usage, price: Price) -> Usage:
    """The usage with its cost."""
    read = min(usage.cache_read_tokens, usage.input_tokens)
    written = min(usage.cache_write_tokens, usage.input_tokens - read)
    asked = (
        _cost(usage.input_tokens - read - written, price.input)
        + _cost(read, price.input if price.cache_read is None else price.cache_read)
        + _cost(written, price.input if price.cache_write is None else price.cache_write)
    )
    # The least of the two also for what is not a number.
    cost = min(MOST_USD, asked + _cost(usage.output_tokens, price.output))
    return replace(usage, cost_usd=round(cost, 9))


def _cost(tokens: int, price: float) -> float:
    return tokens * price / 1_000_000
