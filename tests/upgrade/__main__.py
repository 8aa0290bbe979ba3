"""Freezes a database of the present version; one that is frozen stays as it is."""

import asyncio
import gzip
import sys
import tempfile
from pathlib import Path

import apsw
import msgspec

from tenuto.storage.sqlite import SqliteStore
from tests.conformance.listener import Listener
from tests.upgrade.content import fill
from tests.upgrade.kept import FOLDER, database_of, everything, told_of


async def freeze() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tenuto.sqlite3"
        store = SqliteStore(path, Listener())
        await store.open()
        await fill(store)
        told = await everything(store)
        await store.close()
        connection = apsw.Connection(str(path))
        version = int(connection.pragma("user_version"))
        connection.pragma("journal_mode", "DELETE")
        connection.execute("VACUUM")
        connection.close()
        if told_of(version).exists():
            sys.stdout.write(f"version {version} is frozen already\n")
            return 1
        FOLDER.mkdir(exist_ok=True)
        database_of(version).write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        told_of(version).write_bytes(
            msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
        )
    sys.stdout.write(f"frozen: version {version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(freeze()))
