"""How long to keep trying a server that does not answer."""

import random
import time

from tenuto.core.value import Value


class ConnectionLost(Exception):
    """The server could not be reached, or it is not known whether it did what was asked."""


class Patience(Value):
    limit_seconds: float = 60.0
    """Give up after this long without any progress."""
    first_seconds: float = 0.1
    longest_seconds: float = 5.0
    """The wait doubles from the first to the longest."""
    silence_seconds: float = 30.0
    """A connection that says nothing for this long, not even a heartbeat, is dropped."""


class Backoff:
    """Waits longer after each failure in a row, until the patience is over."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failures = 0
        self._since: float | None = None

    def reset(self) -> None:
        self._failures = 0
        self._since = None

    def next_delay(self, *, at_least: float = 0.0) -> float | None:
        """Seconds to wait before the next try; None if there is to be none."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        step = self._patience.first_seconds * 2**self._failures
        # Jitter: clients that a restart cut off together must not come back together.
        delay = min(step, self._patience.longest_seconds) * random.uniform(0.5, 1.0)
        delay = max(delay, at_least)
        self._failures = min(self._failures + 1, 30)
        return delay if now + delay - self._since <= self._patience.limit_seconds else None
