"""Lines of JSON, from bytes as the network cuts them."""

from tenuto.agent.providers.connection.sse import LONGEST_EVENT, EventTooLong

MEDIA_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})


class JsonLines:
    """Gives the same lines wherever the bytes are cut."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        """The beginning of a line, as it came."""
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Each line that these bytes complete."""
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._open, whole[0]))
            self._open.clear()
            self._size = 0
        if rest:
            self._open.append(rest)
            self._size += len(rest)
        if max(self._size, *map(len, whole), 0) > LONGEST_EVENT:
            raise EventTooLong(f"sent a line of more than {LONGEST_EVENT} bytes")
        return [line for line in whole if line.strip()]

    def end(self) -> list[bytes]:
        """The last line, if the stream ended without a line break after it."""
        return self.feed(b"\n")
