"""The real clock and real ids."""

import secrets
import threading
import time
from datetime import UTC, datetime, timedelta

from tenuto.core.value import Instant

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without the letters that look like others; its order is the order of the text."""

ID_CHARACTERS = 26
RANDOM_BITS = 80
STEP_BITS = 40


class SystemClock:
    """The machine's time."""

    def __init__(self) -> None:
        self._second = -1
        self._prefix = ""

    def now(self) -> Instant:
        # Asked for every token: the date is written out once a second, not each time.
        second, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        if second != self._second:
            self._prefix = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
            self._second = second
        return Instant(f"{self._prefix}{nanoseconds // 1_000_000:03d}Z")

    def seconds(self) -> float:
        return time.monotonic()

    def later(self, seconds: float) -> Instant:
        moment = datetime.fromtimestamp(time.time_ns() / 1e9, UTC) + timedelta(seconds=seconds)
        return _instant(moment)


class RandomIds:
    """Ids that sort by when they were made and cannot be guessed; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def new(self, prefix: str) -> str:
        with self._lock:
            self._last = self._after(self._last)
            number = self._last
        return f"{prefix}_{_text(number)}"

    def _after(self, last: int) -> int:
        fresh = time.time_ns() // 1_000_000 << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        if fresh >> RANDOM_BITS > last >> RANDOM_BITS:
            return fresh
        # The same millisecond, or a clock that was set back: go on from the last id, by a
        # random step so that one id does not give away the next.
        return last + 1 + secrets.randbits(STEP_BITS)


def _instant(moment: datetime) -> Instant:
    return Instant(moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z")


def _text(number: int) -> str:
    digits = []
    for _ in range(ID_CHARACTERS):
        number, digit = divmod(number, 32)
        digits.append(CROCKFORD[digit])
    return "".join(reversed(digits))
