"""Progress: what a tool has said so far, recorded while it works, by what is new of it."""

import asyncio

from msgspec.structs import replace

from tenuto.core.message import ToolPart
from tenuto.core.text import cut
from tenuto.engine.recorder import Recorder

SECONDS = 0.5
REWRITTEN_CHARACTERS = 8_000
"""In a second, of an output that is not only added to: each time, all of it is told again."""
OUTPUT_CHARACTERS = 2_000_000
"""Tools keep a limit of their own; this one holds for one that does not."""


class Progress:
    """Tells soon what is added at the end; what is said anew, the later the longer it is."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._loop = asyncio.get_running_loop()
        self._part: ToolPart | None = None
        self._output = ""
        self._recorded = ""
        self._rewritten_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False

    def begin(self, part: ToolPart) -> None:
        """The call is under way now."""
        self._part = part

    def tell(self, output: str) -> None:
        if self._part is None or self._stopped:
            return
        self._output = cut(output, OUTPUT_CHARACTERS)
        if self._timer is None and self._output != self._recorded:
            self._timer = self._loop.call_later(SECONDS, self._record)

    def record_now(self) -> None:
        """Nothing more will be said: whatever was not recorded yet is."""
        if self._part is not None and not self._stopped and self._output != self._recorded:
            self._recorded = self._output
            self._recorder.update(replace(self._part, output=self._output))

    def stop(self) -> None:
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _record(self) -> None:
        self._timer = None
        if not self._output.startswith(self._recorded):
            due = self._rewritten_at + len(self._output) / REWRITTEN_CHARACTERS
            if self._loop.time() < due:
                self._timer = self._loop.call_at(due, self._record)
                return
            self._rewritten_at = self._loop.time()
        self.record_now()
