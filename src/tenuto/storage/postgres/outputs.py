"""Outputs in PostgreSQL."""

from collections.abc import Sequence

from tenuto.core.output import OutputPiece
from tenuto.core.value import SessionId
from tenuto.storage.missing import no_such
from tenuto.storage.postgres.connections import storable
from tenuto.storage.postgres.parts import StoreParts


class PostgresOutputs:
    _parts: StoreParts

    async def keep_output(
        self,
        session_id: SessionId,
        name: str,
        piece: OutputPiece,
        *,
        forget: tuple[int, int] = (0, 0),
    ) -> None:
        # Without a token: done twice it is what it is done once.
        values = [session_id, storable(name), piece.at, piece.text.encode(), *forget]
        if await self._parts.writes.write("keep_output", values) is None:
            raise no_such("session", session_id)

    async def output(self, session_id: SessionId, name: str) -> Sequence[OutputPiece]:
        rows = await self._parts.fetch("output", storable(session_id), storable(name))
        if not rows:
            raise no_such("output", name)
        return tuple(OutputPiece(at=row["at"], text=row["body"].decode()) for row in rows)
