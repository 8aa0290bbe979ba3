"""Server-sent events, from bytes to frames."""

from tenuto.core.value import Value


class Frame(Value):
    """One whole frame of an event stream."""

    id: str
    """Empty if the frame had none."""
    event: str
    data: str


class FrameParser:
    """Turns bytes, cut anywhere, into whole frames; a frame that never ends is never given."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, list[str]] = {}

    def feed(self, chunk: bytes) -> list[Frame]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        frames = []
        for line in lines:
            frame = self._take(line.removesuffix(b"\r").decode())
            if frame is not None:
                frames.append(frame)
        return frames

    def _take(self, line: str) -> Frame | None:
        if line:
            name, _, value = line.partition(":")
            # A line that begins with a colon is a comment: the server's heartbeat.
            if name:
                self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        return Frame(
            id=fields.get("id", [""])[-1],
            event=fields.get("event", ["message"])[-1],
            data="\n".join(fields["data"]),
        )
