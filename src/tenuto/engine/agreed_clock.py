"""The time that nodes agree on: each sets its clock by the store's."""

from datetime import datetime

from tenuto.core.value import Instant
from tenuto.ports.clock import Clock

FAR_SECONDS = 1.0
"""An answer that took longer tells too little of when it was given."""
CLOSE_SECONDS = 0.2
"""What is as right as this is left as it is."""


class AgreedClock:
    """This machine's clock, as far ahead as the store's is. It never goes back."""

    def __init__(self, own: Clock) -> None:
        self._own = own
        self._ahead = 0.0
        self._last = Instant("")
        self._is_set = False
        """Before it is set the first time nothing is done by it that others see."""
        # Asked for every token: a clock that nobody has to set is the machine's own.
        self.now = own.now

    def seconds(self) -> float:
        return self._own.seconds()

    def later(self, seconds: float) -> Instant:
        return self._own.later(self._ahead + seconds)

    def set_by(self, now: Instant, *, asked: float) -> None:
        """The store said that it was `now` when we had `asked` by our own seconds."""
        took = self._own.seconds() - asked
        if took > FAR_SECONDS:
            return
        ahead = (_moment(now) - _moment(self._own.now())).total_seconds() + took / 2
        if abs(ahead - self._ahead) > CLOSE_SECONDS:
            if self._is_set:
                self._last = self.now()
            self._ahead = ahead
            self.now = self._corrected
        self._is_set = True

    def _corrected(self) -> Instant:
        self._last = max(self._last, self._own.later(self._ahead))
        return self._last


def _moment(instant: Instant) -> datetime:
    return datetime.fromisoformat(instant)
