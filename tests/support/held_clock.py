"""A clock that stands still until a test moves it on."""

from datetime import datetime, timedelta

from tenuto.core.value import Instant

NOON = Instant("2030-01-01T12:00:00.000Z")


class HeldClock:
    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> Instant:
        return NOON

    def seconds(self) -> float:
        return self.at

    def later(self, seconds: float) -> Instant:
        moment = datetime.fromisoformat(NOON) + timedelta(seconds=seconds)
        return Instant(f"{moment:%Y-%m-%dT%H:%M:%S}.000Z")
