"""A few threads that read, each with a connection of its own; none waits for the writer."""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import apsw

from tenuto.core.error import StorageTrouble
from tenuto.storage.sqlite.file.connection import reader
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import DAMAGE, explained

T = TypeVar("T")

READERS = 4


class _Job:
    """A read, and after it what it found."""

    def __init__(self, work: Callable[[Transaction], Any], future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future
        self.found: Any = None
        self.error: BaseException | None = None

    def answer(self) -> None:
        """On the loop. One who was cancelled meanwhile no longer waits."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.found)


class Readers:
    """Every read sees the file as it was at one point, the last commit before it began.

    A pool of our own: an executor's futures cost more than most reads, and each of them wakes the
    loop by itself.
    """

    def __init__(self, path: Path, sql: Mapping[str, str]) -> None:
        self._path = path
        self._sql = sql
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._done: deque[_Job] = deque()
        self._telling = False
        self._closed = False
        self.failing = False
        """True from a read that failed to the next one that does not; for ever if it found the
        file damaged: other reads may go well, but nobody can rely on it."""
        self._damaged = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"tenuto-reader-{n}", daemon=True)
            for n in range(READERS)
        ]
        for thread in self._threads:
            thread.start()

    async def read(self, work: Callable[[Transaction], T]) -> T:
        if self._closed:
            raise StorageTrouble("the store is closed")
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(work, future))
        return await future

    def stop(self) -> None:
        """Read what waits, then end the threads and their connections. Blocks."""
        self._closed = True
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        connection = _Connection(self._path, self._sql)
        while (job := self._jobs.get()) is not None:
            try:
                job.found = self._read(connection, job.work)
            except BaseException as error:  # noqa: BLE001  it is the error of whoever asked
                job.error = error
            self._tell(job)
            del job  # What was read is large at times, and the next read may be long in coming.
        connection.close()

    def _read(self, connection: "_Connection", work: Callable[[Transaction], T]) -> T:
        try:
            result = connection.read(work)
        except apsw.Error as error:
            self._damaged = self._damaged or isinstance(error, DAMAGE)
            self.failing = True
            raise explained(error) from error
        self.failing = self._damaged
        return result

    def _tell(self, job: _Job) -> None:
        # First what there is to tell, then whether someone is on the way to tell it.
        self._done.append(job)
        if not self._telling:
            self._telling = True
            self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._telling = False
        while self._done:
            self._done.popleft().answer()


class _Connection:
    """One thread's; made when it is first needed, and anew after it failed."""

    def __init__(self, path: Path, sql: Mapping[str, str]) -> None:
        self._path = path
        self._sql = sql
        self._open: Transaction | None = None

    def read(self, work: Callable[[Transaction], T]) -> T:
        if self._open is None:
            self._open = Transaction(reader(self._path), self._sql)
        try:
            self._open.begin_reading()
            result = work(self._open)
            self._open.commit()
        except apsw.Error:
            self.close()
            raise
        except BaseException:
            self._open.roll_back()
            raise
        return result

    def close(self) -> None:
        opened, self._open = self._open, None
        if opened is not None:
            opened.close()
