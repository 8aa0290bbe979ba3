"""What each session has seen of its files, so that it does not write over what it never read."""

from collections import OrderedDict
from collections.abc import Hashable

from tenuto.core.value import SessionId

MOST_SESSIONS = 500
MOST_FILES = 5_000
"""Of one session. Beyond these the oldest are forgotten."""


class SeenFiles:
    """Kept in memory only: after a restart a file is read once more, which does no harm."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[SessionId, _OfSession] = OrderedDict()

    def note(self, session_id: SessionId, path: str, state: Hashable) -> None:
        """The session knows the file as it is now."""
        self._of(session_id).note(path, state)

    def knows(self, session_id: SessionId, path: str, state: Hashable) -> bool:
        """Whether the session has read the file as it is."""
        return self._of(session_id).knows(path, state)

    def is_news(self, session_id: SessionId, path: str, state: Hashable) -> bool:
        """Whether the session never read the file, or it changed since. True once for each such
        state: who insists may go on."""
        return self._of(session_id).is_news(path, state)

    def is_untold(self, session_id: SessionId, path: str) -> bool:
        """Whether this was not told in the session before; from now on it was."""
        return self._of(session_id).is_untold(path)

    def _of(self, session_id: SessionId) -> "_OfSession":
        known = self._sessions.setdefault(session_id, _OfSession())
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return known


class _OfSession:
    def __init__(self) -> None:
        self._states: OrderedDict[str, Hashable] = OrderedDict()
        self._refused: set[tuple[str, Hashable]] = set()
        self._told: set[str] = set()

    def note(self, path: str, state: Hashable) -> None:
        self._states[path] = state
        self._states.move_to_end(path)
        if len(self._states) > MOST_FILES:
            self._states.popitem(last=False)

    def knows(self, path: str, state: Hashable) -> bool:
        return self._states.get(path) == state

    def is_news(self, path: str, state: Hashable) -> bool:
        if self.knows(path, state) or (path, state) in self._refused:
            return False
        self._refused.add((path, state))
        return True

    def is_untold(self, path: str) -> bool:
        if path in self._told or len(self._told) >= MOST_FILES:
            return False
        self._told.add(path)
        return True
