"""A few connections to PostgreSQL, opened when they are needed and again when they broke."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from tenuto.core.error import StorageTrouble
from tenuto.storage.postgres.trouble import explained, is_refusal

CONNECT_SECONDS = 5.0
TURN_SECONDS = 10.0
"""How long one may wait for a connection that others use."""
STATEMENT_SECONDS = 15.0
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.5
"""While it is away nobody tries more often: everyone else is told so at once."""
STATEMENTS = 200
"""That a connection remembers."""
NO_STATEMENTS = 0
"""Behind a pooler the next one may go to a server that has never heard of the last."""

log = logging.getLogger(__name__)


class Connections:
    """One who takes a connection has it alone; who breaks it pays with a new one."""

    def __init__(
        self,
        url: str,
        *,
        size: int,
        name: str,
        settings: Mapping[str, str] | None = None,
        statements: int = STATEMENTS,
    ) -> None:
        self._url = url
        self._statements = statements
        self._settings = {"application_name": name, **(settings or {})}
        self._turns = asyncio.Semaphore(size)
        self._idle: list[Any] = []
        self._closed = False
        self._away: StorageTrouble | None = None
        self._away_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS

    @asynccontextmanager
    async def take(self) -> AsyncIterator[Any]:
        """A connection. Raises StorageTrouble, at once while PostgreSQL is known to be away."""
        if self._away is not None and time.monotonic() < self._away_until:
            raise StorageTrouble(str(self._away))
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turns.acquire()
        except TimeoutError:
            raise StorageTrouble("PostgreSQL is not keeping up") from None
        try:
            connection = await self._connection()
            try:
                yield connection
            except Exception as error:
                if not is_refusal(error):
                    connection.terminate()
                raise
            finally:
                self._give_back(connection)
        finally:
            self._turns.release()

    async def fetch(self, sql: str, *values: Any) -> list[Any]:
        """The rows of a statement that changes nothing: it is sent again if a connection broke."""
        for last in (False, True):
            try:
                async with self.take() as connection:
                    rows: list[Any] = await connection.fetch(
                        sql, *map(storable, values), timeout=STATEMENT_SECONDS
                    )
                    return rows
            except Exception as error:
                if last or is_refusal(error) or isinstance(error, StorageTrouble):
                    raise explained(error) from error
        raise AssertionError

    async def close(self) -> None:
        self._closed = True
        idle, self._idle = self._idle, []
        for connection in idle:
            try:
                await connection.close(timeout=1.0)
            except Exception:  # noqa: BLE001  it goes in any case
                connection.terminate()

    async def _connection(self) -> Any:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        if self._closed:
            raise StorageTrouble("the store is not open")
        try:
            connection = await connect(self._url, self._settings, statements=self._statements)
        except Exception as error:
            trouble = explained(error)
            if isinstance(trouble, StorageTrouble):
                self._away, self._away_until = trouble, time.monotonic() + self._pause
                self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            raise trouble from error
        self._away, self._pause = None, FIRST_PAUSE_SECONDS
        return connection

    def _give_back(self, connection: Any) -> None:
        if connection.is_closed():
            return
        if self._closed:
            connection.terminate()
        else:
            self._idle.append(connection)


async def connect(url: str, settings: Mapping[str, str], *, statements: int = STATEMENTS) -> Any:
    """A new connection. Whoever is cancelled meanwhile waits for its end: it cannot be left alone
    half open."""
    opening = asyncio.ensure_future(
        asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            statement_cache_size=statements,
            max_cached_statement_lifetime=0,
            server_settings=dict(settings),
        )
    )
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            opening.result().terminate()
        raise


def storable(value: Any) -> Any:
    """Text that PostgreSQL can compare: it knows neither NUL nor halves of characters."""
    if isinstance(value, str) and ("\0" in value or not value.isascii()):
        whole = value.encode("utf-8", "replace").decode()
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return value
