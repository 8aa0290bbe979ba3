"""A sink for a store that nobody watches."""

from collections.abc import Collection, Sequence

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId


class Unheard:
    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None: ...

    def changed(self, session_id: SessionId) -> None: ...

    def rang(self, streams: Collection[StreamId]) -> None: ...

    def rang_changed(self, session_ids: Collection[SessionId]) -> None: ...

    def rang_kept(self, name: str) -> None: ...

    def resync(self) -> None: ...
