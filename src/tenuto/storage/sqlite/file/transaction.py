"""A connection with named statements: what every private helper takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

Row = tuple[Any, ...]


class Transaction:
    """Statements inside a transaction that someone else opened."""

    def __init__(self, connection: apsw.Connection, sql: Mapping[str, str]) -> None:
        self._connection = connection
        self._sql = sql

    def rows(self, name: str, **values: Any) -> list[Row]:
        return self._connection.execute(self._sql[name], values).fetchall()

    def each(self, name: str, **values: Any) -> Iterator[Row]:
        """Rows as they are asked for: for a search that stops at the first that fits."""
        return iter(self._connection.execute(self._sql[name], values))

    def row(self, name: str, **values: Any) -> Row | None:
        found = self.rows(name, **values)
        return found[0] if found else None

    def run(self, name: str, **values: Any) -> None:
        self._connection.execute(self._sql[name], values)

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(self._sql[name], rows)

    def changes(self) -> int:
        """How many rows this connection has changed so far."""
        return self._connection.total_changes()

    def begin_reading(self) -> None:
        self._connection.execute("BEGIN")

    def begin_writing(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def wal_pages(self) -> int:
        """How many pages the WAL has now."""
        pages, _ = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return max(pages, 0)

    def checkpoint(self) -> None:
        """Between transactions: copy what the WAL has into the file, waiting for nobody."""
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def close(self) -> None:
        self._connection.close()
