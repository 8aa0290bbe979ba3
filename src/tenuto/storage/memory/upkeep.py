"""Folding and purging in a memory store."""

from collections.abc import Sequence

from tenuto.core.session import Parking
from tenuto.core.value import Instant, SessionId, StreamId
from tenuto.storage.folding import shorten
from tenuto.storage.kept_bytes import kept_too_long
from tenuto.storage.memory.session_rows import SessionRows, State, Tape, Unfolded
from tenuto.storage.once import forgotten_before


class MemoryUpkeep:
    _state: State

    async def open(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """Nothing to let go of; what was stored can still be looked at."""

    async def check(self) -> None:
        """Memory can always be written."""

    async def waiting_sessions(self) -> Sequence[SessionId]:
        return tuple(
            session_id
            for session_id, rows in self._state.by_session.items()
            if rows.control.parked is Parking.DUE
            or (
                rows.session.active_run is None
                and not all(rows.runs[run_id].held for run_id in rows.control.queue)
            )
        )

    async def fold_deltas(self, *, before: Instant, limit: int) -> int:
        gone = 0
        for session_id, rows in self._state.by_session.items():
            for message in [m for m in rows.unfolded if m.finished_at < before]:
                if gone >= limit:
                    return gone
                gone += _fold(rows, self._state.tape(session_id), message)
        return gone

    async def purge(self, *, before: Instant) -> int:
        too_old = forgotten_before(before)
        self._state.answers = {
            key: answer for key, answer in self._state.answers.items() if answer.once.at >= too_old
        }
        first, last = kept_too_long(before)
        self._state.files = {
            file_id: (info, content)
            for file_id, (info, content) in self._state.files.items()
            if (self._state.uses.get(file_id) or info.created_at >= too_old)
            and not first <= file_id < last
        }
        gone: list[StreamId] = [
            stream
            for stream, tape in self._state.tapes.items()
            if tape.deleted_at is not None and tape.deleted_at < before
        ]
        for stream in gone:
            del self._state.tapes[stream]
        return len(gone)


def _fold(rows: SessionRows, tape: Tape, message: Unfolded) -> int:
    rows.unfolded.remove(message)
    stretch = [stored for stored in tape.after(message.first) if stored.seq < message.last]
    short = shorten(message.message_id, stretch)
    gone, merged = set(short.gone), {stored.seq: stored for stored in short.merged}
    tape.events = [merged.get(s.seq, s) for s in tape.events if s.seq not in gone]
    tape.folded = max([tape.folded, *merged])
    return len(gone)
