"""Asking a provider again: how long to wait before, and who is told."""

import logging
import random
from collections.abc import Awaitable, Callable

import anyio

from tenuto.core.run import Waiting
from tenuto.ports.clock import Clock
from tenuto.ports.model import ProviderError, Trouble

log = logging.getLogger(__name__)

Tell = Callable[[Waiting | None], Awaitable[None]]

SECONDS = 300.0
FIRST_WAIT_SECONDS = 0.5
ATTEMPTS = 5
PATIENT_ATTEMPTS = 6
"""Of a provider that is there, and only has too much to do."""
HAS_TOO_MUCH_TO_DO = frozenset({Trouble.BUSY, Trouble.OVERLOADED})


async def tell_nobody(_: Waiting | None) -> None:
    """For what nobody watches."""


class Retries:
    """Of one run. A wait is told before it begins and when it is over; a cancel ends it at once."""

    def __init__(self, clock: Clock, *, seconds: float = SECONDS, tell: Tell = tell_nobody) -> None:
        self._clock = clock
        self._seconds = seconds
        self._tell = tell

    def seconds(self, error: ProviderError, attempt: int) -> float:
        """How long to wait, after this many attempts. Raises the error when there is no hope."""
        most = PATIENT_ATTEMPTS if error.trouble in HAS_TOO_MUCH_TO_DO else ATTEMPTS
        if error.retry_after is None or attempt >= most:
            raise error
        if error.retry_after > self._seconds:
            raise _too_long(error, self._clock)
        backoff = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) * (0.75 + random.random() / 2)
        return max(error.retry_after, min(backoff, self._seconds))

    async def wait(self, seconds: float, error: ProviderError, attempt: int) -> None:
        log.info("%s; trying again in %.1f s", error, seconds)
        until = self._clock.later(seconds)
        await self._tell(
            Waiting(reason=f"{str(error).rstrip('.')}.", attempt=attempt + 1, until=until)
        )
        await anyio.sleep(seconds)
        await self._tell(None)


def _too_long(error: ProviderError, clock: Clock) -> ProviderError:
    until = clock.later(error.retry_after or 0.0)
    words = f"{error}; it wants to be asked again no earlier than {until}, and we wait no longer"
    return ProviderError(error.reason, words, trouble=error.trouble)
