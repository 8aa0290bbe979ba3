"""Text that is capped, and says so."""

from collections import deque

from tenuto.core.text import left_out


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

    def text(self) -> str:
        tail = "".join(self._tail)
        over = max(0, len(tail) - self._limit // 2)
        missing = self._left_out + over
        if not missing:
            return self._head + tail
        return f"{self._head}\n{left_out(missing, self._limit)}\n{tail[over:]}"
