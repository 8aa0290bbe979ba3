"""How each connection to the file is set up."""

from pathlib import Path

import apsw

BUSY_MILLISECONDS = 10_000
READ_CACHE_KIB = 8_192


def connect(path: Path) -> apsw.Connection:
    """A plain connection that changes nothing by being opened or closed.

    It makes no file: one that was taken away under the server must not be found empty.
    """
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    return connection


def writer(path: Path) -> apsw.Connection:
    """Every commit is on disk when it returns; checkpoints are another thread's work."""
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def reader(path: Path) -> apsw.Connection:
    connection = connect(path)
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{READ_CACHE_KIB}")
    return connection
