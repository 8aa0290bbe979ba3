"""To ask the store again while it is away: a run must not end because it restarts."""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from tenuto.core.error import InDoubt, StorageTrouble
from tenuto.engine.recorder import RETRY_SECONDS, STORE_PATIENCE_SECONDS
from tenuto.ports.clock import Clock

log = logging.getLogger(__name__)

T = TypeVar("T")


async def insist(ask: Callable[[], Awaitable[T]], *, clock: Clock) -> T:
    """What it answers, as soon as the store is back; never again what may have been stored."""
    give_up_at = clock.seconds() + STORE_PATIENCE_SECONDS
    while True:
        try:
            return await ask()
        except InDoubt:
            raise
        except StorageTrouble as trouble:
            if clock.seconds() >= give_up_at:
                raise
            log.warning("the store is away, trying again: %s", trouble)
        await anyio.sleep(RETRY_SECONDS)
