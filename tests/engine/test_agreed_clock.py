"""Nodes agree on the time, whatever their own clocks say."""

from tenuto.core.value import Instant
from tenuto.engine.agreed_clock import AgreedClock
from tests.support.held_clock import HeldClock

NOON = "2030-01-01T12:00:00.000Z"


class OwnClock(HeldClock):
    """Stands at noon, plus what a test says."""

    def later(self, seconds: float) -> Instant:
        minutes, rest = divmod(round((self.at + seconds) * 1000), 60_000)
        return Instant(f"2030-01-01T12:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}Z")

    def now(self) -> Instant:
        return self.later(0.0)


def test_a_clock_that_nobody_sets_is_the_machines() -> None:
    own = OwnClock()
    clock = AgreedClock(own)
    assert clock.now() == NOON
    assert clock.later(2.5) == "2030-01-01T12:00:02.500Z"


def test_a_clock_that_is_behind_is_set_by_the_stores() -> None:
    own = OwnClock()
    clock = AgreedClock(own)
    own.at = 0.5
    # Half of the time that the answer took is its age.
    clock.set_by(Instant("2030-01-01T12:00:40.000Z"), asked=0.0)
    assert clock.now() == "2030-01-01T12:00:40.250Z"
    own.at = 10.5
    assert clock.now() == "2030-01-01T12:00:50.250Z"
    assert clock.later(-50.25) == NOON
    assert clock.seconds() == 10.5


def test_a_clock_that_is_ahead_waits_and_never_goes_back() -> None:
    own = OwnClock()
    clock = AgreedClock(own)
    clock.set_by(Instant(NOON), asked=0.0)
    own.at = 40.0
    before = clock.now()
    clock.set_by(Instant("2030-01-01T12:00:10.000Z"), asked=40.0)
    assert clock.now() == before
    own.at = 69.0
    assert clock.now() == before
    own.at = 71.0
    assert clock.now() == "2030-01-01T12:00:41.000Z"


def test_a_clock_that_was_never_set_is_set_back_at_once() -> None:
    own = OwnClock()
    own.at = 40.0
    clock = AgreedClock(own)
    clock.set_by(Instant("2030-01-01T12:00:10.000Z"), asked=40.0)
    assert clock.now() == "2030-01-01T12:00:10.000Z"


def test_an_answer_that_took_long_sets_nothing() -> None:
    own = OwnClock()
    clock = AgreedClock(own)
    own.at = 5.0
    clock.set_by(Instant("2030-01-01T12:00:40.000Z"), asked=0.0)
    assert clock.now() == "2030-01-01T12:00:05.000Z"


def test_what_is_nearly_right_is_left_alone() -> None:
    own = OwnClock()
    clock = AgreedClock(own)
    clock.set_by(Instant("2030-01-01T12:00:00.100Z"), asked=0.0)
    assert clock.now() == NOON
