"""Blind panes: nothing names a model before the vote, and a vote is of all panes at once."""

from collections.abc import Sequence

from tests.oracle.rule import Json
from tests.proof.sim.session_log import WitnessedLog
from tests.proof.sim.violation import must


class Blindness:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = [name.encode() for name in names]
        self._panes: dict[str, Sequence[str]] = {}
        self._hidden: dict[str, str] = {}
        """Panes that are not voted on yet: the comparison of each."""
        self._voted: dict[str, int] = {}
        """Comparisons, and the step in which the first pane told of a vote."""

    def laid_out(self, comparison: str, panes: Sequence[str]) -> None:
        """A blind comparison was made, and nobody knows of it yet who could vote."""
        self._panes[comparison] = panes
        self._hidden |= dict.fromkeys(panes, comparison)

    def is_hidden(self, session_id: str) -> bool:
        return session_id in self._hidden

    def look(self, session: WitnessedLog, event: Json, *, step: int) -> None:
        """Called at every event of a session."""
        self.check(step=step)
        if event["type"] == "session.updated" and "comparison" in event["changes"]:
            pane = event["changes"]["comparison"]
            if pane is not None and pane["blind"]:
                self._reveal(session, pane["id"], step)
        self.must_not_name(session.id, session.bodies[-1])

    def must_not_name(self, session_id: str, body: bytes) -> None:
        """Whatever is said of a hidden pane."""
        if session_id in self._hidden:
            named = [name for name in self._names if name in body]
            must(not named, "a blind pane names no model before the vote", named, body)

    def check(self, *, step: int) -> None:
        """A vote that was told in an earlier step was told of all that were there."""
        for comparison, at in list(self._voted.items()):
            if at < step:
                del self._voted[comparison]
                left = [pane for pane in self._panes[comparison] if pane in self._hidden]
                must(not left, "a vote shows all panes or none", comparison, left)

    def gone(self, session_id: str) -> None:
        """It was deleted: nobody will ever vote on it."""
        self._hidden.pop(session_id, None)

    def _reveal(self, session: WitnessedLog, comparison: str, step: int) -> None:
        must(session.id in self._hidden, "a vote comes once", session.id, comparison)
        del self._hidden[session.id]
        self._voted.setdefault(comparison, step)
