"""Who is told of a commit: the sink of this node, in order, and the bell for the others."""

import logging
from collections.abc import Collection, Sequence

from tenuto.core.event import Stored
from tenuto.core.value import SessionId, StreamId
from tenuto.ports.store import Sink
from tenuto.storage.postgres.ringer import Ringer

log = logging.getLogger(__name__)


class _Part:
    """What one write added to a workspace's log, and which writes may have come before it."""

    def __init__(self, base: int, events: tuple[Stored, ...], after: set[int]) -> None:
        self.base = base
        self.events = events
        self.after = after


class Telling:
    """A session's commits are told as they are answered: there is one at a time.

    A workspace's log gets what writes of several sessions share, and their answers may pass each
    other: each is told when no write is left that was under way as its answer came.
    """

    def __init__(self, sink: Sink, ringer: Ringer) -> None:
        self._sink = sink
        self._ringer = ringer
        self._count = 0
        self._writing: dict[StreamId, set[int]] = {}
        self._parts: dict[StreamId, list[_Part]] = {}

    def tell(self, stream: StreamId, events: tuple[Stored, ...]) -> None:
        if not events:
            return
        self._ringer.ring(stream)
        try:
            self._sink.committed(stream, events)
        except Exception:
            # One listener's bug must not hide the other commits.
            log.exception("the sink failed")

    def tell_changed(self, session_ids: Collection[SessionId]) -> None:
        for session_id in session_ids:
            self._ringer.ring_changed(session_id)
            try:
                self._sink.changed(session_id)
            except Exception:
                log.exception("the sink failed")

    def rung(self, stream: StreamId) -> None:
        """Something of ours may be in this log that we cannot tell of: let it be looked at."""
        self._ringer.ring(stream)
        try:
            self._sink.rang((stream,))
        except Exception:
            log.exception("the sink failed")

    def begin(self, workspace: StreamId) -> int:
        """A write is under way that may add to this workspace's log."""
        self._count += 1
        self._writing.setdefault(workspace, set()).add(self._count)
        return self._count

    def end(self, workspace: StreamId, number: int, base: int, events: Sequence[Stored]) -> None:
        """It has been answered; what it added begins after `base`."""
        writing = self._writing[workspace]
        writing.discard(number)
        parts = self._parts.setdefault(workspace, [])
        for part in parts:
            part.after.discard(number)
        if events:
            parts.append(_Part(base, tuple(events), set(writing)))
            parts.sort(key=lambda part: part.base)
        while parts and not parts[0].after:
            self.tell(workspace, parts.pop(0).events)
        if not parts:
            self._parts.pop(workspace, None)
        if not writing:
            self._writing.pop(workspace, None)
