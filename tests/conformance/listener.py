"""A sink that remembers what it was told."""

from collections.abc import Sequence

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[StreamId, tuple[Stored, ...]]] = []
        self.changes: list[SessionId] = []

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        self.heard.append((stream, tuple(events)))

    def changed(self, session_id: SessionId) -> None:
        self.changes.append(session_id)

    def of(self, stream: str) -> list[Stored]:
        """Everything told of one log, in the order of telling."""
        return [stored for log, events in self.heard if log == stream for stored in events]
