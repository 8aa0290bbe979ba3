"""The record of a history: one JSON object per line, described in docs/history-format.md.

Nothing here knows the server's code: whoever has the file and its description can check it.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

FORMAT = 1

Left = Literal["left", "ended", "broken", "refused"]


class Line(msgspec.Struct, tag_field="kind", kw_only=True, omit_defaults=True):
    """All times are seconds of one clock that only goes forward."""


class History(Line, tag="history"):
    """The first line."""

    format: int
    seed: int
    seconds: float
    folds: bool = False
    """True if the server may have folded old deltas away while this was recorded."""
    lease: float | None = None
    """Of each node, in seconds; None: there was one server only."""


class Request(Line, tag="request"):
    id: str
    client: str
    method: str
    path: str
    sent_at: float
    """Taken before the first byte was sent."""
    body: Any = None
    key: str | None = None
    """Its Idempotency-Key."""


class Answer(Line, tag="answer"):
    id: str
    """Of the request."""
    at: float
    """Taken after the last byte had come."""
    status: int | None = None
    """None: it was lost, and the request may have been done or not."""
    body: Any = None
    lost: str | None = None


class Opened(Line, tag="open"):
    """A stream of events was asked for."""

    connection: str
    client: str
    stream: str
    sent_at: float
    after: str | None = None
    """The cursor that was sent; None: from the beginning."""
    request: str | None = None
    """The prompt whose answer this stream is."""


class Seen(Line, tag="event"):
    connection: str
    seq: int
    type: str
    at: float
    data: msgspec.Raw
    """The frame's JSON, byte for byte."""


class Closed(Line, tag="close"):
    connection: str
    how: Left
    at: float
    status: int | None = None


class Misfortune(Line, tag="nemesis"):
    action: str
    began: float = msgspec.field(name="from")
    ended: float = msgspec.field(name="to")
    detail: str | None = None


Entry = History | Request | Answer | Opened | Seen | Closed | Misfortune

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


class Unreadable(Exception):
    """This is not a record, or not of this format."""


class Record:
    """A file that is written line by line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=1 << 20)
        self.seen = 0

    def write(self, entry: Entry) -> None:
        self._file.write(_encoder.encode(entry) + b"\n")
        self.seen += isinstance(entry, Seen)

    def close(self) -> None:
        self._file.close()


def now() -> float:
    """The one clock of a history: on one machine it is the same in every process."""
    return time.monotonic()


def read(path: Path) -> Iterator[Entry]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield parse(line, number)


def parse(line: bytes, number: int = 0) -> Entry:
    try:
        entry = _decoder.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Unreadable(f"line {number}: {error}") from None
    if isinstance(entry, History) and entry.format != FORMAT:
        raise Unreadable(f"format {entry.format} is not {FORMAT}")
    return entry
