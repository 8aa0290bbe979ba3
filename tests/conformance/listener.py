"""A sink that remembers what it was told."""

from collections.abc import Collection, Sequence

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[StreamId, tuple[Stored, ...]]] = []
        self.changes: list[SessionId] = []
        self.rung: list[StreamId] = []
        self.rung_changes: list[SessionId] = []
        self.kept: list[str] = []
        self.resyncs = 0

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        self.heard.append((stream, tuple(events)))

    def changed(self, session_id: SessionId) -> None:
        self.changes.append(session_id)

    def rang(self, streams: Collection[StreamId]) -> None:
        self.rung += streams

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        self.rung_changes += session_ids

    def rang_kept(self, name: str) -> None:
        self.kept.append(name)

    def resync(self) -> None:
        self.resyncs += 1

    def of(self, stream: str) -> list[Stored]:
        """Everything told of one log, in the order of telling."""
        return [stored for log, events in self.heard if log == stream for stored in events]
