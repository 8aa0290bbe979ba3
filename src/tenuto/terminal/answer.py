"""The text of an answer as it grows: each piece once, whatever tells of it."""

from enum import StrEnum

from tenuto.client import Item, Seen
from tenuto.core.event import MessageStarted, PartDelta, PartField, PartStarted, PartUpdated
from tenuto.core.message import Changed, Message, Part, ReasoningPart, TextPart
from tenuto.core.value import PartId, RunId, Value


class PieceKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"


class Piece(Value):
    kind: PieceKind
    text: str


class ShownAnswer:
    """What the assistant says in the runs that it is told of."""

    def __init__(self) -> None:
        self._kinds: dict[PartId, PieceKind] = {}
        self._lengths: dict[PartId, int] = {}
        self._texts: list[list[str]] = []
        self._goes_on = False

    @property
    def text(self) -> str:
        return "".join("".join(pieces) for pieces in self._texts)

    @property
    def last(self) -> str:
        """What was said last, without what was said between tool calls before."""
        return "".join(self._texts[-1]).lstrip("\n") if self._texts else ""

    def know(self, messages: tuple[Message, ...]) -> None:
        """What was said before the cursor: only what comes after it is new."""
        for message in messages:
            for part in message.parts if message.role == "assistant" else ():
                self._learn(part)

    def go_on(self) -> None:
        """The next text is the same one, cut off in the middle."""
        self._goes_on = True

    def take(self, item: Item, run_id: RunId) -> list[Piece]:
        """What is new in it."""
        if isinstance(item, Seen):
            return self._event(item)
        mine = [m for m in item.messages if m.run_id == run_id and m.role == "assistant"]
        return [piece for m in mine for part in m.parts for piece in self._part(part)]

    def _event(self, item: Seen) -> list[Piece]:
        match item.event:
            case MessageStarted(message=message) if message.role == "assistant":
                return [piece for part in message.parts for piece in self._part(part)]
            case PartStarted(part=part) | PartUpdated(part=part):
                return self._part(part)
            case PartDelta(field=PartField.INPUT | PartField.OUTPUT):
                return []
            case PartDelta(part_id=part_id, offset=offset, text=text) if part_id in self._kinds:
                return self._grown(part_id, offset, text)
            case _:
                return []

    def _part(self, part: Part | Changed) -> list[Piece]:
        if not isinstance(part, TextPart | ReasoningPart):
            return []
        self._learn(part)
        return self._grown(part.id, 0, part.text)

    def _learn(self, part: Part | Changed) -> None:
        match part:
            case TextPart():
                self._kinds[part.id] = PieceKind.TEXT
            case ReasoningPart():
                self._kinds[part.id] = PieceKind.REASONING
            case _:
                return

    def _grown(self, part_id: PartId, offset: int, text: str) -> list[Piece]:
        # After `know`, the first delta says where we came in.
        length = self._lengths.get(part_id)
        new = text if length is None else text[max(0, length - offset) :]
        if not new:
            return []
        kind = self._kinds[part_id]
        self._lengths[part_id] = offset + len(text)
        if kind is PieceKind.REASONING:
            return [Piece(kind=kind, text=new)]
        if length is None:
            new = self._gap() + new
            self._texts.append([])
        self._texts[-1].append(new)
        return [Piece(kind=kind, text=new)]

    def _gap(self) -> str:
        goes_on, self._goes_on = self._goes_on, False
        if goes_on or not self._texts:
            return ""
        return "\n" if self._texts[-1][-1].endswith("\n") else "\n\n"
