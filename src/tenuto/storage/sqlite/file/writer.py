"""The one thread that writes: all that waits goes to disk in one transaction."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from tenuto.core.error import StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId, Value
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.store import Sink
from tenuto.storage.sqlite.file.appending import Append, Appending
from tenuto.storage.sqlite.file.checkpointer import Checkpointer
from tenuto.storage.sqlite.file.connection import writer
from tenuto.storage.sqlite.file.handover import Handover
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.trouble import STILL_USABLE, explained

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

GROUP_LIMIT = 512
"""Jobs in one transaction: enough to share the disk's latency, few enough to answer soon."""
BESIDE_APPENDS = 4
"""Other jobs in a transaction that has appends: a token should not wait for many."""
QUEUE_LIMIT = 20_000
"""Jobs that may wait. Past it a job is refused: the disk is not keeping up."""

log = logging.getLogger(__name__)


class Written(Value, Generic[T_co]):
    """What a job did, to be told once it is on disk."""

    result: T_co
    logs: tuple[tuple[StreamId, tuple[Stored, ...]], ...] = ()
    changed: tuple[SessionId, ...] = ()


Work = Callable[[Transaction], Written[T]]


class _Job:
    def __init__(self, work: Work[Any] | Append, future: asyncio.Future[Any]) -> None:
        self.work = work
        self.future = future


class _Outcome:
    def __init__(self, job: _Job, done: Written[Any] | Exception) -> None:
        self.job = job
        self.done = done


class Writer:
    """Group commit without lingering: a group is whatever came while the last one was written.

    A job that raises before it has written takes nobody with it. If a group fails otherwise,
    each of its jobs is tried alone, so that only those fail which must.
    """

    def __init__(
        self,
        path: Path,
        sql: Mapping[str, str],
        sink: Sink,
        checkpointer: Checkpointer,
        *,
        points: Points = NOWHERE,
    ) -> None:
        self._path = path
        self._points = points
        self._sql = sql
        self._sink = sink
        self._checkpointer = checkpointer
        self._loop = asyncio.get_running_loop()
        self._jobs: Handover[_Job] = Handover(self._loop)
        self._transaction: Transaction | None = None
        self._appending = Appending()
        self._closed = False
        self.failing = False
        """True from a write that failed to the next one that does not."""
        self.refuses: str | None = None
        """Why nothing may be written now: it would be lost. None: all is well."""
        self._thread = threading.Thread(target=self._serve, name="tenuto-writer", daemon=True)
        self._thread.start()

    async def write(self, work: Work[T]) -> T:
        """Do this work in a transaction; return when it is on disk."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._check()
        self._jobs.put(_Job(work, future))
        return await future

    def append(self, append: Append) -> asyncio.Future[int]:
        """Append these events; the future is done when they are on disk."""
        future: asyncio.Future[int] = self._loop.create_future()
        self._check()
        self._jobs.put_quick(_Job(append, future))
        return future

    def stop(self) -> None:
        """Write what waits, then end the thread. Blocks."""
        self._closed = True
        self._jobs.end()
        self._thread.join()

    def _check(self) -> None:
        if self._closed:
            raise StorageTrouble("the store is closed")
        if self.refuses is not None:
            raise StorageTrouble(self.refuses)
        if len(self._jobs) >= QUEUE_LIMIT:
            raise StorageTrouble("the disk that holds the database does not keep up")

    def _serve(self) -> None:
        while jobs := self._jobs.take(GROUP_LIMIT, slow_beside_quick=BESIDE_APPENDS):
            outcomes = self._outcomes(jobs)
            self._loop.call_soon_threadsafe(self._deliver, outcomes)
            self._checkpoint()
        self._drop_connection()

    def _outcomes(self, jobs: Sequence[_Job]) -> list[_Outcome]:
        try:
            return self._write_group(jobs)
        except Exception:
            # A writer that dies would leave everyone waiting for ever.
            log.exception("the writer stumbled")
            self._transaction = None
            trouble = StorageTrouble("the database could not be written")
            return [_Outcome(job, trouble) for job in jobs]

    def _checkpoint(self) -> None:
        try:
            if self._transaction is not None:
                self._checkpointer.between_groups(self._transaction)
        except Exception:
            # What was written is safe; the WAL only stays longer for now.
            log.exception("the checkpoint failed")

    def _write_group(self, jobs: Sequence[_Job]) -> list[_Outcome]:
        try:
            return self._together(jobs)
        except Exception as error:  # noqa: BLE001  each caller gets the error of its own job
            self._recover(error)
            if len(jobs) == 1:
                return [_Outcome(jobs[0], explained(error))]
        return [outcome for job in jobs for outcome in self._write_group([job])]

    def _together(self, jobs: Sequence[_Job]) -> list[_Outcome]:
        transaction = self._connected()
        before = transaction.changes()
        # Appends alone are one statement, and that is a transaction by itself: with every step
        # into SQLite this thread gives up the interpreter, and has to queue for it again.
        only_appends = all(isinstance(job.work, Append) for job in jobs)
        if not only_appends:
            transaction.begin_writing()
        outcomes = [self._attempt(transaction, job) for job in jobs]
        self._reach(Step.COMMITTING, outcomes)
        self._appending.flush(transaction)
        if not only_appends:
            transaction.commit()
        self._reach(Step.COMMITTED, outcomes)
        if transaction.changes() != before:
            self.failing = False
        return outcomes

    def _attempt(self, transaction: Transaction, job: _Job) -> _Outcome:
        before = transaction.changes()
        try:
            if isinstance(job.work, Append):
                return _Outcome(job, self._append(transaction, job.work))
            self._appending.flush(transaction)
            before = transaction.changes()
            return _Outcome(job, self._work(transaction, job.work))
        except apsw.Error:
            raise
        except Exception as error:
            if transaction.changes() != before:
                raise
            return _Outcome(job, error)

    def _append(self, transaction: Transaction, append: Append) -> Written[int]:
        stored = self._appending.add(transaction, append)
        return Written(result=stored[-1].seq, logs=((append.stream, stored),))

    def _work(self, transaction: Transaction, work: Work[Any]) -> Written[Any]:
        written = work(transaction)
        self._appending.forget(stream for stream, _ in written.logs)
        self._appending.forget(StreamId(session_id) for session_id in written.changed)
        return written

    def _connected(self) -> Transaction:
        if self._transaction is None:
            self._transaction = Transaction(writer(self._path), self._sql)
        return self._transaction

    def _recover(self, error: Exception) -> None:
        """Leave nothing of the failed group behind; the next one starts clean."""
        self._appending.start_over()
        if isinstance(error, apsw.Error):
            self.failing = True
            log.warning("a write failed: %s", error)
        if isinstance(error, apsw.Error) and not isinstance(error, STILL_USABLE):
            self._drop_connection()
        elif self._transaction is not None:
            try:
                self._transaction.roll_back()
            except apsw.Error:
                self._drop_connection()

    def _drop_connection(self) -> None:
        transaction, self._transaction = self._transaction, None
        if transaction is None:
            return
        try:
            transaction.close()
        except apsw.Error as error:
            log.warning("the connection could not be closed cleanly: %s", error)

    def _deliver(self, outcomes: Sequence[_Outcome]) -> None:
        """On the event loop: answer everyone, then tell the sink, both in commit order."""
        self._reach(Step.TELLING, outcomes)
        for outcome in outcomes:
            # A caller that was cancelled meanwhile no longer waits; what it asked for is done.
            if outcome.job.future.done():
                continue
            if isinstance(outcome.done, Exception):
                outcome.job.future.set_exception(outcome.done)
            else:
                outcome.job.future.set_result(outcome.done.result)
        for outcome in outcomes:
            if isinstance(outcome.done, Written):
                self._tell(outcome.done)
        self._reach(Step.TOLD, outcomes)

    def _tell(self, written: Written[Any]) -> None:
        try:
            for stream, stored in written.logs:
                self._sink.committed(stream, stored)
            for session_id in written.changed:
                self._sink.changed(session_id)
        except Exception:
            # One listener's bug must not hide the other commits of the group.
            log.exception("the sink failed")

    def _reach(self, step: Step, outcomes: Sequence[_Outcome]) -> None:
        if self._points.armed:
            for outcome in outcomes:
                if isinstance(outcome.done, Written):
                    self._points.reach(step, _what(outcome.done))


def _what(written: Written[Any]) -> str:
    """The kinds of events that were written, in their order."""
    if not written.logs:
        return "control" if written.changed else "no event"
    _, stored = written.logs[0]
    kinds = ("parts" if one.type.startswith("part.") else one.type for one in stored)
    return "+".join(dict.fromkeys(kinds))
