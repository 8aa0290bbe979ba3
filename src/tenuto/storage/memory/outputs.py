"""Outputs in a memory store."""

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from tenuto.core.output import OutputPiece
from tenuto.core.value import SessionId
from tenuto.storage.memory.session_rows import State
from tenuto.storage.missing import no_such


class MemoryOutputs:
    _state: State

    async def keep_output(
        self,
        session_id: SessionId,
        name: str,
        piece: OutputPiece,
        *,
        forget: tuple[int, int] = (0, 0),
    ) -> None:
        await checkpoint()
        first, end = forget
        rows = self._state.rows(session_id)
        known = {} if piece.at == 0 else rows.outputs.get(name, {})
        kept = {at: one for at, one in known.items() if not first <= at < end}
        rows.outputs[name] = {**kept, piece.at: piece}
        await checkpoint()

    async def output(self, session_id: SessionId, name: str) -> Sequence[OutputPiece]:
        rows = self._state.by_session.get(session_id)
        if rows is None or name not in rows.outputs:
            raise no_such("output", name)
        return tuple(rows.outputs[name][at] for at in sorted(rows.outputs[name]))
