"""Notices a model that goes round in circles: the same calls with the same results, in turns too."""

from collections import deque
from collections.abc import Sequence

from tenuto.core.message import ToolPart

WINDOW = 2
"""A circle may have so many steps for each time that it is gone round, and is still seen."""


class Repeats:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._steps: deque[object] = deque(maxlen=limit * WINDOW)

    def again(self, done: Sequence[ToolPart]) -> bool:
        """Whether this step was made too often lately."""
        now = tuple((part.name, part.input_text, part.output, part.error) for part in done)
        self._steps.append(now)
        return self._steps.count(now) >= self._limit
