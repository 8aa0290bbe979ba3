"""What must never end while the server runs, and who sees to it."""

import logging
from collections.abc import Awaitable, Callable

import anyio

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
"""Short: a node whose heartbeat dies is thought dead by the others soon."""


async def keep_going(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do this for ever: when it dies it is logged and begun again."""
    while True:
        try:
            await work()
            log.error("the %s came to its end and is started again", name)
        except Exception:
            log.exception("the %s died and is started again", name)
        await anyio.sleep(AGAIN_SECONDS)
