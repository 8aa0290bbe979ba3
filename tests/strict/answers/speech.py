"""An answer as it goes over the line: events, which a test may cut where it likes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

Framing = Literal["events", "named events", "lines"]
PIECE = 7
"""Characters that come at once."""


@dataclass(frozen=True)
class Speech:
    events: tuple[Any, ...]
    framing: Framing
    done: bytes = b""
    """What is said when all is over."""

    def payloads(self) -> list[bytes]:
        """Each event by itself."""
        return [*map(msgspec.json.encode, self.events), *([self.done] if self.done else [])]

    def frames(self) -> list[bytes]:
        """The same, with what goes around it on the line."""
        names = [event.get("type", "") for event in self.events] + [""]
        return [
            self._frame(name, payload)
            for name, payload in zip(names, self.payloads(), strict=False)
        ]

    def frame(self, event: Any) -> bytes:
        return self._frame(event.get("type", ""), msgspec.json.encode(event))

    def _frame(self, name: str, payload: bytes) -> bytes:
        if self.framing == "lines":
            return payload + b"\n"
        head = f"event: {name}\n".encode() if self.framing == "named events" else b""
        return head + b"data: " + payload + b"\n\n"


def pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), PIECE):
        yield text[at : at + PIECE]
