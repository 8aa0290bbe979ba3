"""Asking a model once, with patience: tried again only while nothing of the answer was shown."""

import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import anyio

from tenuto.agent.context import size_of
from tenuto.core.meter import Meter
from tenuto.ports.model import ModelRequest, Piece, Provider, ProviderError
from tenuto.ports.points import NOWHERE, Points, Step

log = logging.getLogger(__name__)

ATTEMPTS = 4
LONGEST_WAIT_SECONDS = 30.0


class Taker(Protocol):
    def take(self, pieces: Sequence[Piece]) -> None: ...


async def ask(
    provider: Provider,
    request: ModelRequest,
    *,
    meter: Meter,
    taker: Taker,
    shown: Callable[[], bool] = lambda: False,
    room: Callable[[], Awaitable[None] | None] | None = None,
    points: Points = NOWHERE,
) -> None:
    """Give every piece of the answer to `taker`. Raises ProviderError when there is no more hope."""
    for attempt in range(1, ATTEMPTS + 1):
        meter.request(size_of(request.turns, request.system))
        points.reach(Step.ASKING)
        try:
            async with aclosing(provider.stream(request)) as stream:
                await _pour(stream, taker, room, points)
            points.reach(Step.HEARD)
            meter.close()
            return
        except ProviderError as error:
            if shown() or error.retry_after is None or attempt == ATTEMPTS:
                raise
            meter.refused()
            wait = _wait(attempt, error.retry_after)
            log.info("%s; trying again in %.1f s", error, wait)
            await anyio.sleep(wait)


async def _pour(
    stream: AsyncGenerator[Sequence[Piece], None],
    taker: Taker,
    room: Callable[[], Awaitable[None] | None] | None,
    points: Points,
) -> None:
    async for pieces in stream:
        points.reach(Step.READ)
        taker.take(pieces)
        points.reach(Step.TAKEN)
        if room is not None and (making := room()) is not None:
            await making


def _wait(attempt: int, asked_for: float) -> float:
    backoff = 0.5 * 2.0 ** (attempt - 1) * (0.75 + random.random() / 2)
    return min(max(asked_for, backoff), LONGEST_WAIT_SECONDS)
