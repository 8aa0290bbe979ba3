"""Bytes and tokens: how many of the one make one of the other, learnt from what providers count."""

from collections import OrderedDict

from tenuto.core.meter import CHARACTERS_PER_TOKEN
from tenuto.core.value import SessionId, Value

LEAST, MOST = 1.5, 6.0
STEP = 0.5
"""Rounded down to it: a measure that changes with every answer would trim something else each time."""
ENOUGH_TOKENS = 500
"""Fewer say little: what surrounds the words weighs too much."""
REMEMBERED = 10_000


class Ruler(Value):
    bytes_per_token: float = CHARACTERS_PER_TOKEN

    def bytes(self, tokens: int) -> int:
        return int(tokens * self.bytes_per_token)


class Rulers:
    """One for each session and model; it learns."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[SessionId, str], Ruler] = OrderedDict()

    def of(self, session_id: SessionId, model: str) -> Ruler:
        return self._known.get((session_id, model), Ruler())

    def learn(self, session_id: SessionId, model: str, *, size: int, tokens: int) -> None:
        """A request of this size was counted as so many tokens."""
        if tokens < ENOUGH_TOKENS:
            return
        ratio = size / tokens // STEP * STEP
        self._known[session_id, model] = Ruler(bytes_per_token=min(max(ratio, LEAST), MOST))
        self._known.move_to_end((session_id, model))
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
