"""A SQLite file as rows, to be moved."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import apsw

from tenuto.core.message import Message
from tenuto.core.session import Session
from tenuto.core.value import SessionId
from tenuto.storage.assemble import decode
from tenuto.storage.moving import Row, Table
from tenuto.storage.named import load_queries
from tenuto.storage.sqlite import search
from tenuto.storage.sqlite.file.connection import writer
from tenuto.storage.sqlite.file.lock import FileLock
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.store import SqliteStore
from tenuto.storage.statements import TITLE, TextRow
from tenuto.storage.unheard import Unheard

BOOLEANS = frozenset({"archived", "exact", "open"})
"""Columns that are numbers here."""


class SqliteChest:
    """It holds the file's lock while it is open, as a server would."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path)
        self._sql = load_queries("tenuto.storage.sqlite")
        self._open: apsw.Connection | None = None

    @asynccontextmanager
    async def store(self) -> AsyncIterator[SqliteStore]:
        store = SqliteStore(self._path, Unheard())
        await store.open()
        try:
            yield store
        finally:
            await store.close()

    async def open(self) -> None:
        self._lock.take()
        self._open = writer(self._path)

    async def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._lock.release()

    async def take(self, table: Table, after: Row | None) -> Sequence[Row]:
        return await anyio.to_thread.run_sync(self._take, table, after)

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        await anyio.to_thread.run_sync(self._put, table, rows)

    async def count(self, table: Table) -> int:
        (found,) = self._connection().execute(f"SELECT COUNT(*) FROM {table.name}").fetchall()
        (n,) = found
        assert isinstance(n, int)
        return n

    def _connection(self) -> apsw.Connection:
        assert self._open is not None
        return self._open

    def _take(self, table: Table, after: Row | None) -> list[Row]:
        # A log's head may be ahead of its row.
        source = "logs_now JOIN logs USING (stream)" if table.name == "logs" else table.name
        columns = [
            f"logs.{c}" if table.name == "logs" and c not in ("stream", "head") else c
            for c in table.columns
        ]
        if table.name == "logs":
            columns = [c if c != "head" else "logs_now.head" for c in columns]
        key = ", ".join(table.key)
        where = "" if after is None else f"WHERE ({key}) > ({_marks(table.key)})"
        sql = (
            f"SELECT {', '.join(columns)} FROM {source} {where} ORDER BY {key} LIMIT {table.batch}"
        )
        rows = self._connection().execute(sql, after or ()).fetchall()
        if BOOLEANS & set(table.columns):
            return [_with_booleans(table, row) for row in rows]
        return list(rows)

    def _put(self, table: Table, rows: Sequence[Row]) -> None:
        columns = ", ".join(table.columns)
        sql = f"INSERT OR REPLACE INTO {table.name} ({columns}) VALUES ({_marks(table.columns)})"
        connection = self._connection()
        transaction = Transaction(connection, self._sql)
        with connection:
            connection.executemany(sql, rows)
            for row in rows:
                for text in _texts(table, row):
                    search.leave(transaction, text.session_id, text.message_id)
                    search.enter(transaction, text)


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _with_booleans(table: Table, row: Row) -> Row:
    named = zip(table.columns, row, strict=True)
    return tuple(bool(v) if c in BOOLEANS else v for c, v in named)


def _texts(table: Table, row: Row) -> Sequence[TextRow]:
    named = dict(zip(table.columns, row, strict=True))
    if table.name == "sessions":
        return [TextRow(SessionId(named["id"]), TITLE, decode(named["body"], Session).title)]
    if table.name == "messages":
        message = decode(named["body"], Message)
        if message.finish_reason is not None:
            return [TextRow(message.session_id, message.id, message.text())]
    return []
