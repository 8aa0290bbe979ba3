"""Bringing a database file to this version's shape."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import apsw

from tenuto.core.error import StorageTrouble
from tenuto.core.value import Value
from tenuto.storage.sqlite.file.connection import connect

APPLICATION_ID = 0x54656E75
"""Marks the file as ours: "Tenu"."""

_FILE = re.compile(r"(\d{4})_\w+\.sql")


class Migration(Value):
    number: int
    sql: str


def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order."""
    folder = files(__package__).joinpath("migrations")
    found = ((_FILE.fullmatch(entry.name), entry) for entry in folder.iterdir())
    migrations = [
        Migration(number=int(match[1]), sql=entry.read_text(encoding="utf-8"))
        for match, entry in found
        if match
    ]
    return tuple(sorted(migrations, key=lambda migration: migration.number))


def migrate(path: Path, migrations: Sequence[Migration]) -> None:
    """Make the file current; an older one is copied first, a newer one is left untouched."""
    _make_private(path)
    connection = connect(path)
    try:
        # Looking at a file that is not ours must not fold its WAL into it either.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        version = _version(connection, path)
        newest = migrations[-1].number
        if version > newest:
            raise StorageTrouble(
                f"{path} was written by a newer Tenuto (version {version}; this one knows"
                f" {newest}). Use the newer Tenuto, or another data folder"
            )
        if 0 < version < newest:
            _back_up(connection, path, version)
        for migration in migrations:
            if migration.number > version:
                _apply(connection, migration)
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _make_private(path: Path) -> None:
    """What people said is for this user only; SQLite's other files follow this one's mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StorageTrouble(f"{path} cannot be opened to write: {error.strerror}") from error


def _version(connection: apsw.Connection, path: Path) -> int:
    version = int(connection.pragma("user_version"))
    ours = connection.pragma("application_id") == APPLICATION_ID
    empty = not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    if not ours and not (empty and version == 0):
        raise StorageTrouble(
            f"{path} is a database of another program. Move it aside, or choose another folder"
        )
    return version


def _back_up(connection: apsw.Connection, path: Path, version: int) -> None:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    copy = path.with_name(f"{path.name}.backup-v{version}-{stamp}")
    _make_private(copy)
    target = connect(copy)
    try:
        with target.backup("main", connection, "main") as backup:
            backup.step()
    finally:
        target.close()


def _apply(connection: apsw.Connection, migration: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(migration.sql)
        connection.execute(f"PRAGMA user_version = {migration.number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
