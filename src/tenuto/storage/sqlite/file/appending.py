"""The hot path: appends of many sessions become one insert.

The file has one writer, so what it remembers of a log is the truth until it changes the log
itself: an append needs to read nothing, and to write nothing but its events.
"""

from collections.abc import Iterable, Sequence

import msgspec

from tenuto.core.error import Fenced
from tenuto.core.event import Stored
from tenuto.core.session import Fence
from tenuto.core.value import RunId, StreamId, Value
from tenuto.storage.sqlite.file.transaction import Transaction

REMEMBERED = 10_000
"""Logs; past it all are forgotten and read again when they are needed."""


class Append(Value):
    """Events for a session's log, from whoever holds the fence. Their seqs are not known yet."""

    stream: StreamId
    fence: Fence
    drafts: Sequence[Stored]


class _Log(msgspec.Struct):
    head: int
    active_run: RunId | None
    epoch: int


class Appending:
    def __init__(self) -> None:
        self._logs: dict[StreamId, _Log] = {}
        self._rows: list[tuple[object, ...]] = []

    def add(self, transaction: Transaction, append: Append) -> tuple[Stored, ...]:
        """Number the events; they are inserted by `flush`. Raises Fenced for a past owner."""
        log = self._log(transaction, append.stream)
        fence = append.fence
        if log is None or log.active_run != fence.run_id or log.epoch != fence.epoch:
            raise Fenced(f"run {fence.run_id} is no longer this writer's")
        first = log.head + 1
        log.head += len(append.drafts)
        stored = tuple(
            Stored(seq=first + n, type=draft.type, run_id=draft.run_id, body=draft.body)
            for n, draft in enumerate(append.drafts)
        )
        self._rows += [(append.stream, s.seq, s.type, s.run_id, s.body.decode()) for s in stored]
        return stored

    def flush(self, transaction: Transaction) -> None:
        """Insert what was added; before anything else may look at the logs."""
        if self._rows:
            rows, self._rows = self._rows, []
            transaction.run("insert_events", rows=msgspec.json.encode(rows).decode())

    def forget(self, streams: Iterable[StreamId]) -> None:
        """These logs were changed in another way."""
        for stream in streams:
            self._logs.pop(stream, None)

    def start_over(self) -> None:
        """The group failed: nothing of it is true."""
        self._logs.clear()
        self._rows.clear()

    def _log(self, transaction: Transaction, stream: StreamId) -> _Log | None:
        log = self._logs.get(stream)
        if log is None:
            row = transaction.row("appendable_log", stream=stream)
            if row is None:
                return None
            if len(self._logs) >= REMEMBERED:
                self._logs.clear()
            log = self._logs[stream] = _Log(head=row[0], active_run=row[1], epoch=row[2])
        return log
