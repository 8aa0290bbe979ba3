"""A clock that stands still until a test moves it on."""

from tenuto.core.value import Instant

NOON = Instant("2030-01-01T12:00:00.000Z")


class HeldClock:
    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> Instant:
        return NOON

    def seconds(self) -> float:
        return self.at
