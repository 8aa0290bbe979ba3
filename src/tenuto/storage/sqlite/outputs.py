"""Outputs in a SQLite file."""

from collections.abc import Sequence

from tenuto.core.output import OutputPiece
from tenuto.core.value import SessionId
from tenuto.storage.missing import no_such
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.writer import Written


class SqliteOutputs:
    _db: Database

    async def keep_output(
        self,
        session_id: SessionId,
        name: str,
        piece: OutputPiece,
        *,
        forget: tuple[int, int] = (0, 0),
    ) -> None:
        def keep(tx: Transaction) -> Written[None]:
            if tx.row("session", session_id=session_id) is None:
                raise no_such("session", session_id)
            first, end = forget
            tx.run(
                "forget_output",
                session_id=session_id,
                output=name,
                at=piece.at,
                first=first,
                end=end,
            )
            body = piece.text.encode()
            tx.run("keep_output", session_id=session_id, output=name, at=piece.at, body=body)
            return Written(result=None)

        await self._db.write(keep)

    async def output(self, session_id: SessionId, name: str) -> Sequence[OutputPiece]:
        rows = await self._db.read(lambda tx: tx.rows("output", session_id=session_id, output=name))
        if not rows:
            raise no_such("output", name)
        return tuple(OutputPiece(at=at, text=body.decode()) for at, body in rows)
