"""Server-sent events, from bytes as the network cuts them."""

LONGEST_EVENT = 64 * 1024 * 1024
CARRIAGE_RETURN = ord(b"\r")


class EventTooLong(ValueError):
    """An event grew beyond what any answer needs."""


class EventLines:
    """Gives the same events wherever the bytes are cut.

    Only the data of events is kept: the JSON of both wires names its own type.
    """

    def __init__(self) -> None:
        self._open: list[bytes] = []
        """The beginning of a line, as it came."""
        self._data: list[bytes] = []
        """The data lines of the event that is not closed yet."""
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that these bytes complete."""
        if (
            # Nearly every read of a steady stream: one line of data, and the blank one after it.
            chunk.startswith(b"data: ")
            and chunk.find(b"\n") == len(chunk) - 2
            and chunk.endswith(b"\n\n")
            and chunk[-3] != CARRIAGE_RETURN
            and not (self._open or self._data)
        ):
            self._size = 0
            return [chunk[6:-2]]
        self._size += len(chunk)
        if self._size > LONGEST_EVENT:
            raise EventTooLong(f"an event of more than {LONGEST_EVENT} bytes")
        if b"\n" not in chunk:
            self._open.append(chunk)
            return []
        if self._open:
            self._open.append(chunk)
            chunk = b"".join(self._open)
            self._open.clear()
        lines = chunk.split(b"\n")
        if rest := lines.pop():
            self._open.append(rest)
        return self._events(lines)

    def end(self) -> list[bytes]:
        """The last event, if the stream ended without the blank line after it."""
        line = b"".join(self._open)
        self._open.clear()
        return self._events([line, b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
            if line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif not line:
                if data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
                self._size = 0
        return events
