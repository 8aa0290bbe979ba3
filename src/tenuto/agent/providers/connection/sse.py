"""Server-sent events, from bytes as the network cuts them."""

LONGEST_EVENT = 1024 * 1024
"""Of bytes. It is read in one go while all others wait; a tool call's whole arguments fit."""
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
        self._open_size = 0
        self._data_size = 0

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
            return [chunk[6:-2]]
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        if self._open:
            self._open.append(chunk)
            chunk = b"".join(self._open)
            self._open.clear()
            self._open_size = 0
        lines = chunk.split(b"\n")
        rest = lines.pop()
        events = self._events(lines)
        self._keep(rest)
        return events

    def _keep(self, beginning: bytes) -> None:
        if beginning:
            self._open.append(beginning)
            self._open_size += len(beginning)
        self._must_end()

    def _must_end(self) -> None:
        if self._open_size + self._data_size > LONGEST_EVENT:
            raise EventTooLong(f"sent an event of more than {LONGEST_EVENT} bytes")

    def end(self) -> list[bytes]:
        """The last event, if the stream ended without the blank line after it."""
        line = b"".join(self._open)
        self._open.clear()
        self._open_size = 0
        return self._events([line, b""])

    def _events(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
            if line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b"data: ") else line[5:])
                self._data_size += len(line)
                self._must_end()
            elif not line and data:
                events.append(data[0] if len(data) == 1 else b"\n".join(data))
                data.clear()
                self._data_size = 0
        return events
