"""Files in a SQLite file."""

from tenuto.core.file import FileInfo
from tenuto.core.value import FileId
from tenuto.ports.query import Once
from tenuto.storage.assemble import decode
from tenuto.storage.missing import no_such
from tenuto.storage.sqlite.desks import at_most_once, remember
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.file.writer import Written
from tenuto.storage.statements import encode


class SqliteFiles:
    _db: Database

    async def put_file(
        self, info: FileInfo, content: bytes, *, once: Once | None = None
    ) -> FileInfo:
        return await self._db.write(
            lambda tx: at_most_once(tx, once, FileInfo, lambda: _put_file(tx, info, content, once))
        )

    async def file(self, file_id: FileId) -> FileInfo:
        return decode((await self._file("file", file_id))[0], FileInfo)

    async def file_content(self, file_id: FileId) -> bytes:
        content: bytes = (await self._file("file_content", file_id))[0]
        return content

    async def _file(self, query: str, file_id: FileId) -> Row:
        row = await self._db.read(lambda tx: tx.row(query, id=file_id))
        if row is None:
            raise no_such("file", file_id)
        return row


def _put_file(
    tx: Transaction, info: FileInfo, content: bytes, once: Once | None
) -> Written[FileInfo]:
    tx.run("put_file", id=info.id, body=encode(info), content=content, now=info.created_at)
    remember(tx, once, None, info)
    return Written(result=info)
