"""Writes that are done once, whatever becomes of their answers."""

import asyncio
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from tenuto.core.error import InDoubt, StorageTrouble
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.storage.postgres.connections import STATEMENT_SECONDS, Connections
from tenuto.storage.postgres.trouble import AGAIN, code_of, explained, is_refusal

PATIENCE_SECONDS = 30.0
RETRY_SECONDS = 0.1
MOST_COLLISIONS = 50
"""So often two may get in each other's way before it is told."""
RECEIPT_SECONDS = 24 * 3600
TAKEN = "23505"
"""The same write was done meanwhile, or the same id was given: asked again, it is said which."""

log = logging.getLogger(__name__)


class Writes:
    """Every write has a token, which is stored with it. If an answer is lost, the same write is
    sent again: if it was done, its token is found and it is not done twice; if it is still under
    way, it is waited for; and if it comes later, the token is taken."""

    def __init__(
        self, connections: Connections, sql: Mapping[str, str], points: Points = NOWHERE
    ) -> None:
        self.connections = connections
        self._points = points
        self._sql = sql
        self._ahead = 0.0
        """Of PostgreSQL's clock, against that of this machine."""

    def set_clock(self, now: float) -> None:
        """What PostgreSQL says the time is: tokens are dropped by it when they are old."""
        self._ahead = now - time.time()

    def seconds(self) -> float:
        """The time, as PostgreSQL has it."""
        return time.time() + self._ahead

    def token(self) -> UUID:
        return token_at(self.seconds())

    async def write(self, name: str, values: Sequence[Any], *, doubt: bool = False) -> Any:
        """The one row that it answers with. Raises InDoubt if nobody could find out, and
        StorageTrouble if it was surely not done. `doubt`: it was sent before."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        collisions = 0
        while True:
            try:
                async with self.connections.take() as connection:
                    return await connection.fetchrow(
                        self._sql[name], *values, timeout=STATEMENT_SECONDS
                    )
            except Exception as error:
                if is_refusal(error):
                    collisions += code_of(error) in AGAIN or code_of(error) == TAKEN
                    if 0 < collisions <= MOST_COLLISIONS and code_of(error) in {*AGAIN, TAKEN}:
                        continue
                elif not isinstance(error, StorageTrouble):
                    log.warning("a write was not answered, it is asked for again: %r", error)
                    doubt = True
                    self._points.reach(Step.ASKING_AGAIN, name)
                if not doubt:
                    raise explained(error) from error
                if time.monotonic() > give_up_at:
                    raise InDoubt("PostgreSQL did not answer: it may have been stored") from error
            await asyncio.sleep(RETRY_SECONDS)


def token_at(seconds: float) -> UUID:
    """Unique, and above every token of earlier seconds."""
    return UUID(int=int(seconds * 1000) << 80 | secrets.randbits(80))


def oldest_token(now: float) -> UUID:
    """Below it nobody asks any more."""
    return UUID(int=int((now - RECEIPT_SECONDS) * 1000) << 80)
