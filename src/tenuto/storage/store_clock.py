"""The clock of a store that has no server of its own: this machine's."""

import time
from datetime import UTC, datetime
from typing import Protocol

from tenuto.core.value import Instant


class LeaseClock(Protocol):
    """What leases are judged by, and what a node may set its own clock by."""

    def now(self) -> Instant: ...

    def seconds(self) -> float:
        """A clock that only goes forward."""


class StoreClock:
    def now(self) -> Instant:
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        return Instant(moment.removesuffix("+00:00") + "Z")

    def seconds(self) -> float:
        return time.monotonic()
