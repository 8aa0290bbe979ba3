"""Lines of files that match a regular expression. Standard library only."""

import re
from collections import deque
from collections.abc import Callable
from typing import IO

LOOK_BYTES = 8192
LINE_BYTES = 1 << 20
SHOWN_CHARACTERS = 400


class BadPattern(Exception):
    """The pattern makes no sense."""


class Matcher:
    def __init__(
        self, pattern: str, context: int, names_only: bool, tell: Callable[[str], None]
    ) -> None:
        try:
            self._pattern = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadPattern(str(error)) from error
        self._context = context
        self._names_only = names_only
        self._tell = tell

    def look(self, descriptor: int, path: str) -> None:
        """Tell of each line of this file that matches. The descriptor is closed."""
        with open(descriptor, "rb") as file:
            if b"\0" in file.peek(LOOK_BYTES)[:LOOK_BYTES]:
                return
            if self._names_only:
                if any(match for _, _, match in self._lines(file)):
                    self._tell(path)
                return
            self._tell_lines(file, path)

    def _tell_lines(self, file: IO[bytes], path: str) -> None:
        before: deque[tuple[int, str]] = deque(maxlen=self._context)
        after, told = 0, 0
        for number, text, match in self._lines(file):
            if match:
                if told and self._context and number - len(before) > told + 1:
                    self._tell("--")
                for earlier, line in before:
                    self._tell(f"{path}-{earlier}- {excerpt(line, 0)}")
                before.clear()
                self._tell(f"{path}:{number}: {excerpt(text, match.start())}")
                after, told = self._context, number
            elif after:
                self._tell(f"{path}-{number}- {excerpt(text, 0)}")
                after, told = after - 1, number
            else:
                before.append((number, text))

    def _lines(self, file: IO[bytes]) -> "LinesOf":
        return LinesOf(file, self._pattern)


class LinesOf:
    """Each line with its number, and where the pattern matches in it."""

    def __init__(self, file: IO[bytes], pattern: "re.Pattern[str]") -> None:
        self._file = file
        self._pattern = pattern
        self._number = 1
        self._begins = True

    def __iter__(self) -> "LinesOf":
        return self

    def __next__(self) -> "tuple[int, str, re.Match[str] | None]":
        while line := self._file.readline(LINE_BYTES):
            number, begins = self._number, self._begins
            # A line over the limit is looked at in its first piece only.
            self._begins = line.endswith(b"\n")
            self._number += self._begins
            if begins:
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                return number, text, self._pattern.search(text)
        raise StopIteration


def excerpt(text: str, at: int) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    first = max(0, at - SHOWN_CHARACTERS // 4)
    return f"…{text[first : first + SHOWN_CHARACTERS]}…"
