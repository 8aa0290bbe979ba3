"""Asking a model once, with patience: tried again only while nothing of the answer was shown."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import count
from typing import Protocol

from tenuto.agent.retries import Retries
from tenuto.agent.sizes import size_of
from tenuto.core.meter import Meter, Price
from tenuto.ports.model import ModelRequest, Piece, Provider, ProviderError
from tenuto.ports.points import NOWHERE, Points, Step


class Taker(Protocol):
    def take(self, pieces: Sequence[Piece]) -> None: ...


async def ask(
    provider: Provider,
    request: ModelRequest,
    *,
    meter: Meter,
    taker: Taker,
    retries: Retries,
    price: Price | None = None,
    size: int | None = None,
    shown: Callable[[], bool] = lambda: False,
    room: Callable[[], Awaitable[None] | None] | None = None,
    points: Points = NOWHERE,
) -> None:
    """Give every piece of the answer to `taker`. Raises ProviderError when there is no more hope.

    `size` is the request's, where it is known already.
    """
    if size is None:
        size = size_of(request.turns, request.system, request.tools)
    for attempt in count(1):
        meter.request(size, price)
        points.reach(Step.ASKING)
        try:
            async with aclosing(provider.stream(request)) as stream:
                await _pour(stream, taker, room, points)
            points.reach(Step.HEARD)
            meter.close()
            return
        except ProviderError as error:
            if shown():
                raise
            seconds = retries.seconds(error, attempt)
            meter.refused()
            await retries.wait(seconds, error, attempt)


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
