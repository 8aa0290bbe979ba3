"""The database file: all blocking work on it goes through here."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import apsw

from tenuto.core.error import StorageTrouble
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.store import Sink
from tenuto.storage.named import load_queries
from tenuto.storage.sqlite.file.appending import Append
from tenuto.storage.sqlite.file.checkpointer import Checkpointer
from tenuto.storage.sqlite.file.identity import Identity
from tenuto.storage.sqlite.file.lock import FileLock
from tenuto.storage.sqlite.file.readers import Readers
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import explained
from tenuto.storage.sqlite.file.writer import Work, Writer, Written
from tenuto.storage.sqlite.migration import Migration, migrate

T = TypeVar("T")


class Database:
    """One file, one writer, a few readers, a checkpointer and a lock."""

    def __init__(
        self,
        path: Path,
        sink: Sink,
        migrations: Sequence[Migration],
        *,
        points: Points = NOWHERE,
    ) -> None:
        self._path = path
        self._points = points
        self._sink = sink
        self._migrations = migrations
        self._lock = FileLock(path)
        self._identity = Identity(path)
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._checkpointer: Checkpointer | None = None

    async def open(self) -> None:
        await anyio.to_thread.run_sync(self._prepare)
        sql = load_queries("tenuto.storage.sqlite")
        self._checkpointer = Checkpointer(self._path, points=self._points)
        self._writer = Writer(self._path, sql, self._sink, self._checkpointer, points=self._points)
        self._readers = Readers(self._path, sql)
        try:
            # The first read finds a file whose header is sound and whose pages are not.
            await self._readers.read(_look)
        except BaseException as error:
            await self.close()
            if isinstance(error.__cause__, apsw.Error):
                raise explained(error.__cause__, self._path) from error
            raise

    async def close(self) -> None:
        """Write what waits and let go of the file."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._stop)

    async def read(self, work: Callable[[Transaction], T]) -> T:
        if self._readers is None:
            raise StorageTrouble("the store is not open")
        return await self._readers.read(work)

    def append(self, append: Append) -> asyncio.Future[int]:
        if self._writer is None:
            raise StorageTrouble("the store is not open")
        return self._writer.append(append)

    async def write(self, work: Work[T]) -> T:
        if self._writer is None:
            raise StorageTrouble("the store is not open")
        return await self._writer.write(work)

    async def check(self) -> None:
        """Try to write only if the last attempt failed: an idle disk stays idle."""
        if self._writer is None or self._readers is None:
            raise StorageTrouble("the store is not open")
        await self.look_at_the_file()
        if self._writer.refuses is not None:
            raise StorageTrouble(self._writer.refuses)
        if self._readers.failing:
            await self._readers.read(_look)
            if self._readers.failing:
                raise StorageTrouble("the database is damaged")
        if self._writer.failing:
            await self._writer.write(_probe)

    async def look_at_the_file(self) -> None:
        """Refuse to write while the file is not the one that was opened: nobody would find it."""
        if self._writer is not None:
            self._writer.refuses = await anyio.to_thread.run_sync(self._identity.complaint)

    def _prepare(self) -> None:
        self._lock.take()
        try:
            self._points.reach(Step.MIGRATING)
            migrate(self._path, self._migrations)
            self._points.reach(Step.MIGRATED)
            self._identity.remember()
        except BaseException as error:
            self._lock.release()
            if isinstance(error, apsw.Error):
                raise explained(error, self._path) from error
            raise

    def _stop(self) -> None:
        for part in (self._readers, self._writer, self._checkpointer):
            if part is not None:
                part.stop()
        self._readers = self._writer = self._checkpointer = None
        self._lock.release()


def _look(transaction: Transaction) -> None:
    transaction.rows("workspaces")


def _probe(transaction: Transaction) -> Written[None]:
    transaction.run("probe")
    return Written(result=None)
