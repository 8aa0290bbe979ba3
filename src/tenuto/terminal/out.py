"""Standard output and standard error, and what may be written to a terminal."""

import asyncio
import contextlib
import os
import re
import select
import sys

STDOUT = 1
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could move the cursor, or do worse, if a model says it to a terminal."""


def note(text: str) -> None:
    """A line for people; nobody may be there to read it."""
    aside(f"tenuto: {text}\n")


def aside(text: str) -> None:
    """Something for people, as it is."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(CONTROLS.sub(" ", text))
        sys.stderr.flush()


class StdoutClosed(Exception):
    """Nobody reads any more."""


class Stdout:
    """Writes whole texts in order, and never keeps a signal waiting."""

    def __init__(self) -> None:
        self.is_terminal = os.isatty(STDOUT)
        self.at_line_start = True

    async def write(self, text: str) -> None:
        """Raises StdoutClosed."""
        if not text:
            return
        shown = CONTROLS.sub("", text) if self.is_terminal else text
        self.at_line_start = text.endswith("\n")
        try:
            # In a thread: a reader that pauses must not stop the loop that hears signals.
            await asyncio.to_thread(_write_all, shown.encode(errors="replace"))
        except OSError as error:
            raise StdoutClosed from error


def _write_all(content: bytes) -> None:
    left = memoryview(content)
    while left:
        try:
            left = left[os.write(STDOUT, left) :]
        except BlockingIOError:
            select.select([], [STDOUT], [])
