"""What one run may still store and spend: the limits that an answer can run into as it comes."""

from collections.abc import Callable

from tenuto.core.run import Reason

CHARACTERS = 16_000_000
CALLS = 128
CALL_CHARACTERS = 1_000_000
"""Of the arguments of one call: they are read in one go, and stored with every step of the call."""
PIECE_CHARACTERS = 16
"""What a piece counts at least for: it is an event, however little it says."""
PART_CHARACTERS = 1_000
"""What the beginning of a part counts for: it is read again with every request and by every page."""


class LimitReached(Exception):
    """The run ends here, and what it has stored is kept. The message is for people."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Allowance:
    def __init__(
        self,
        *,
        characters: int = CHARACTERS,
        calls: int = CALLS,
        is_too_dear: Callable[[], bool] = lambda: False,
    ) -> None:
        self._limit = characters
        self._left = characters
        self._calls = calls
        self._is_too_dear = is_too_dear
        self._dear = False

    def store(self, characters: int) -> None:
        """Count what was just recorded. Raises LimitReached if it was the last that could be."""
        if self._dear:
            self.must_be_cheap()
        self._left -= max(characters, PIECE_CHARACTERS)
        if self._left < 0:
            words = f"The answer grew beyond {self._limit} characters."
            raise LimitReached(Reason.TOO_LARGE, words)

    def begin_part(self) -> None:
        self.store(PART_CHARACTERS)

    def begin_call(self, number: int) -> None:
        """The call of this number in one answer, from one on. Raises LimitReached."""
        if number > self._calls:
            words = f"The model made more than {self._calls} tool calls in one answer."
            raise LimitReached(Reason.TOO_LARGE, words)

    def grow_call(self, characters: int) -> None:
        """The arguments of one call are this long now. Raises LimitReached."""
        if characters > CALL_CHARACTERS:
            words = f"The arguments of a tool call grew beyond {CALL_CHARACTERS} characters."
            raise LimitReached(Reason.TOO_LARGE, words)

    def usage_reported(self) -> None:
        """An answer that is over is kept, whatever it cost; one that goes on is not paid for."""
        self._dear = self._is_too_dear()

    def must_be_cheap(self) -> None:
        """Raises LimitReached if the run has cost what it may."""
        if self._is_too_dear():
            raise LimitReached(Reason.BUDGET, "The run reached its cost limit.")
