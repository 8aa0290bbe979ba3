"""A few threads that read, each with a connection of its own; none waits for the writer."""

import asyncio
import queue
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from tenuto.core.error import StorageTrouble
from tenuto.storage.sqlite.file.connection import reader
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import DAMAGE, explained

T = TypeVar("T")

READERS = 4


class Readers:
    """Every read sees the file as it was at one point, the last commit before it began."""

    def __init__(self, path: Path, sql: Mapping[str, str]) -> None:
        self._path = path
        self._sql = sql
        self._loop = asyncio.get_running_loop()
        # Never more entries than threads: each takes one out before it puts one back.
        self._idle: queue.SimpleQueue[Transaction] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="tenuto-reader")
        self._closed = False
        self.failing = False
        """True from a read that failed to the next one that does not; for ever if it found the
        file damaged: other reads may go well, but nobody can rely on it."""
        self._damaged = False

    async def read(self, work: Callable[[Transaction], T]) -> T:
        if self._closed:
            raise StorageTrouble("the store is closed")
        return await self._loop.run_in_executor(self._threads, self._read, work)

    def stop(self) -> None:
        """End the threads and their connections. Blocks."""
        self._closed = True
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get().close()

    def _read(self, work: Callable[[Transaction], T]) -> T:
        try:
            transaction = self._connected()
        except apsw.Error as error:
            self.failing = True
            raise explained(error) from error
        try:
            transaction.begin_reading()
            result = work(transaction)
            transaction.commit()
        except apsw.Error as error:
            self._failed(transaction, error)
            raise explained(error) from error
        except BaseException:
            transaction.roll_back()
            self._idle.put(transaction)
            raise
        self._idle.put(transaction)
        self.failing = self._damaged
        return result

    def _failed(self, transaction: Transaction, error: apsw.Error) -> None:
        self._damaged = self._damaged or isinstance(error, DAMAGE)
        self.failing = True
        transaction.close()

    def _connected(self) -> Transaction:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return Transaction(reader(self._path), self._sql)
