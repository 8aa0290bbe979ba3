"""Time and names, so that a test can hold both."""

from typing import Protocol

from tenuto.core.value import Instant


class Clock(Protocol):
    def now(self) -> Instant: ...

    def seconds(self) -> float:
        """A clock that only goes forward, for durations."""

    def later(self, seconds: float) -> Instant:
        """The instant that many seconds from now (before it, if negative)."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A new id `prefix_…`, never given before; ids made later sort later."""
