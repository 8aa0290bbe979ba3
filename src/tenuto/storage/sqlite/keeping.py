"""Kept values in a SQLite file."""

from tenuto.core.error import Conflict
from tenuto.ports.store import KeptValue
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.writer import Written


class SqliteKeeping:
    _db: Database

    async def kept(self, name: str) -> KeptValue | None:
        row = await self._db.read(lambda tx: tx.row("kept", key=name))
        return None if row is None else KeptValue(body=row[0], rev=row[1])

    async def keep(self, name: str, body: bytes, *, rev: int) -> int:
        return await self._db.write(lambda tx: _keep(tx, name, body, rev))


def _keep(tx: Transaction, name: str, body: bytes, rev: int) -> Written[int]:
    before = tx.changes()
    if rev == 0:
        tx.run("keep_first", key=name, body=body)
    else:
        tx.run("keep", key=name, body=body, rev=rev)
    if tx.changes() == before:
        raise Conflict(f"{name} was changed meanwhile")
    return Written(result=rev + 1)
