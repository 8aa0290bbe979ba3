"""Text that is capped, and says so."""

from collections import deque

from tenuto.core.text import capped, left_out
from tenuto.ports.tool import Place

OUTPUT = "output:"
"""Before the id of a call or a job: the path of what it printed."""
WATCHED = 3
"""Times the limit: as long as an output may grow for those who watch it."""


class Scroll:
    """The beginning and the end of a text of any length, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._left_out = 0

    def add(self, text: str) -> None:
        """Take more of it."""
        room = self._limit - self._limit // 2 - len(self._head)
        self._head += text[:room] if room > 0 else ""
        rest = text[room:] if room > 0 else text
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= self._limit // 2:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left_out += gone

    @property
    def is_cut(self) -> bool:
        return self._left_out > 0 or self._tail_size > self._limit // 2

    def text(self) -> str:
        tail = "".join(self._tail)
        over = max(0, len(tail) - self._limit // 2)
        missing = self._left_out + over
        if not missing:
            return self._head + tail
        return f"{self._head}\n{left_out(missing, self._limit)}\n{tail[over:]}"


class LiveScroll:
    """The same for those who watch it grow: it is only ever added to, until it is much longer than
    the limit; then its middle is left out once, and it grows again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[str] = []
        self._size = 0
        self._head = ""
        self._left_out = 0

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._size += len(text)
        if self._size > WATCHED * self._limit:
            self._shorten()

    def text(self) -> str:
        grown = "".join(self._pieces)
        self._pieces = [grown]
        if not self._left_out:
            return grown
        return f"{self._head}\n{left_out(self._left_out, self._limit)}\n{grown}"

    def _shorten(self) -> None:
        grown = "".join(self._pieces)
        kept = self._limit // 2
        if not self._left_out:
            self._head, grown = grown[: self._limit - kept], grown[self._limit - kept :]
        self._left_out += len(grown) - kept
        self._pieces = [grown[-kept:]]
        self._size = len(self._head) + kept


def whole_at(call_id: str) -> str:
    """Where to find what was left out."""
    return f"[the whole output: `{OUTPUT}{call_id}` as path of read_file or search_files]"


def spilled(text: str, limit: int, place: Place) -> str:
    """The text, or its beginning, and where the whole of it is."""
    if len(text) <= limit:
        return text
    place.keep(limit).add(text)
    return f"{capped(text, limit)}\n{whole_at(place.call_id)}"
