"""The time of a world, as clients see it, and its ids."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tenuto.core.value import Instant
from tests.proof.sim.loop import SimLoop

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
MILLISECONDS = tuple(f".{n:03}Z" for n in range(1_000))


class VirtualClock:
    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> Instant:
        moment = round(self._loop.now * 1e6) // 1000
        return Instant(_second(moment // 1000) + MILLISECONDS[moment % 1000])

    def seconds(self) -> float:
        return self._loop.now

    def later(self, seconds: float) -> Instant:
        moment = round((self._loop.now + seconds) * 1e6) // 1000
        return Instant(_second(moment // 1000) + MILLISECONDS[moment % 1000])


class NodeClock:
    """A node's own idea of the time: set wrong, and a little too fast or too slow."""

    def __init__(self, loop: SimLoop, *, ahead: float, pace: float) -> None:
        self._loop = loop
        self._ahead = ahead
        self._pace = pace

    def now(self) -> Instant:
        return self.later(0.0)

    def seconds(self) -> float:
        return self._loop.now * self._pace

    def later(self, seconds: float) -> Instant:
        moment = round((self._loop.now * self._pace + self._ahead + seconds) * 1e6) // 1000
        return Instant(_second(moment // 1000) + MILLISECONDS[moment % 1000])


@lru_cache(maxsize=100_000)
def _second(second: int) -> str:
    return (BEGINNING + timedelta(seconds=second)).isoformat().removesuffix("+00:00")


def moment_of(instant: str) -> datetime:
    return datetime.fromisoformat(instant)


class CountingIds:
    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:06}"
