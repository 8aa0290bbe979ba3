"""The builder turns the pieces of one answer into parts of the message."""

from collections.abc import Sequence
from itertools import groupby

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.agent.allowance import Allowance
from tenuto.agent.overlap import Overlap
from tenuto.core.event import PartField
from tenuto.core.message import Part, ReasoningPart, Seal, TextPart, ToolPart, ToolState
from tenuto.core.meter import Meter
from tenuto.core.value import CallId, PartId
from tenuto.engine.recorder import Recorder
from tenuto.ports.model import (
    CallPiece,
    CallStarted,
    Finished,
    Notice,
    Piece,
    ReasoningPiece,
    SealPiece,
    TextPiece,
    UsagePiece,
)


class AnswerBuilder:
    """One per request. What it has taken was shown, so the request cannot be made again.

    Raises LimitReached when the answer outgrows its allowance; what came before is recorded.
    """

    def __init__(
        self,
        recorder: Recorder,
        meter: Meter,
        allowance: Allowance,
        *,
        stem: str,
        onto: TextPart | None = None,
    ) -> None:
        """`onto` is the text that this answer goes on with: it was cut or broke off there."""
        self._recorder = recorder
        self._meter = meter
        self._allowance = allowance
        self._stem = stem
        self._count = 0
        self._current: Part | None = onto
        self._overlap = Overlap(onto.text) if onto else None
        self._calls: dict[int, ToolPart] = {}
        self._call_ids: set[CallId] = set()
        self._lengths: dict[int, int] = {}
        self._said = False
        self.finished: Finished | None = None
        self.notices: list[str] = []
        """What the provider did not take and was asked without."""

    @property
    def shown(self) -> bool:
        return self._count > 0 or self._said

    @property
    def said(self) -> bool:
        """Whether any of it is text."""
        return self._said

    @property
    def was_cut(self) -> bool:
        return self.finished is not None and self.finished.reason == "max_tokens"

    @property
    def was_filtered(self) -> bool:
        return self.finished is not None and self.finished.reason == "content_filter"

    def take(self, pieces: Sequence[Piece]) -> None:
        if self._overlap is not None:
            pieces = self._without_repetition(pieces, self._overlap)
        if len(pieces) == 1 and type(pieces[0]) is TextPiece:
            # Nearly every read of a steady stream.
            self._grow(TextPart, [pieces[0].text])
            return
        # What came in one read is recorded in one go: under load a read holds many tokens.
        for kind, group in groupby(pieces, key=type):
            if kind is TextPiece:
                self._grow(TextPart, [piece.text for piece in group])  # type: ignore[union-attr]
            elif kind is ReasoningPiece:
                self._think([piece for piece in group if isinstance(piece, ReasoningPiece)])
            else:
                for piece in group:
                    self._take_one(piece)

    def _take_one(self, piece: Piece) -> None:
        match piece:
            case CallStarted():
                self._call(piece)
            case CallPiece():
                self._grow_call(piece)
            case SealPiece():
                self._seal(piece.seal)
            case UsagePiece():
                self._meter.report(piece.usage)
                self._allowance.usage_reported()
            case Finished():
                self.finished = piece
            case Notice():
                self.notices.append(piece.text)
            case _:
                raise TypeError(f"cannot take {piece!r}")

    def fail_cut_call(self, why: str) -> tuple[ToolPart, ...]:
        """The calls, the last of them failed if the answer reached its limit inside of it."""
        *whole, last = self.calls()
        if not self.was_cut or _is_object(last.input_text):
            return (*whole, last)
        cut = replace(last, state=ToolState.FAILED, error=why)
        self._recorder.update(cut)
        return (*whole, cut)

    def end(self) -> None:
        """Nothing more comes: what was held back is shown."""
        if self._overlap is not None and (left := self._overlap.end()):
            self._grow(TextPart, [left])

    def fail_calls(self, why: str) -> None:
        """The connection broke: nobody knows whether a call was whole, so none of them is done."""
        for call in self.calls():
            self._recorder.update(replace(call, state=ToolState.FAILED, error=why))

    def calls(self) -> tuple[ToolPart, ...]:
        """The tool calls of the answer, with all their input."""
        parts = (self._recorder.part(call.id) for call in self._calls.values())
        return tuple(part for part in parts if isinstance(part, ToolPart))

    def _without_repetition(self, pieces: Sequence[Piece], overlap: Overlap) -> list[Piece]:
        new: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, TextPiece):
                # Also what is held back cannot be asked for again.
                self._said = True
                said = overlap.take(piece.text)
            else:
                said = overlap.end() if isinstance(piece, CallStarted | Finished) else ""
            new += [TextPiece(text=said)] if said else []
            new += [] if isinstance(piece, TextPiece) else [piece]
        if overlap.over:
            self._overlap = None
        return new

    def _grow(self, kind: type[TextPart] | type[ReasoningPart], texts: list[str]) -> None:
        text = "".join(texts)
        if not text:
            return
        if kind is TextPart:
            self._said = True
            self._meter.output(texts)
        else:
            self._meter.reasoning(texts)
        if not isinstance(self._current, kind):
            self._current = self._start(kind(id=self._next_id()))
        self._recorder.grow(self._current.id, text)
        self._allowance.store(len(text))

    def _grow_call(self, piece: CallPiece) -> None:
        self._meter.output([piece.text])
        length = self._lengths[piece.index] = self._lengths[piece.index] + len(piece.text)
        self._allowance.grow_call(length)
        self._recorder.grow(self._calls[piece.index].id, piece.text, PartField.INPUT)
        self._allowance.store(len(piece.text))

    def _think(self, pieces: list[ReasoningPiece]) -> None:
        if (seal := pieces[0].seal) is not None and pieces[0].text:
            self._current = self._start(ReasoningPart(id=self._next_id(), seal=seal))
        self._grow(ReasoningPart, [piece.text for piece in pieces])

    def _seal(self, seal: Seal) -> None:
        # A part of its own: an update would repeat all that was thought.
        self._start(ReasoningPart(id=self._next_id(), seal=seal))
        self._allowance.store(len(seal.data))
        self._current = None

    def _call(self, piece: CallStarted) -> None:
        self._allowance.begin_call(len(self._calls) + 1)
        part_id = self._next_id()
        # Some servers leave ids out or give the same one twice; a result must find its call.
        taken = not piece.id or piece.id in self._call_ids
        call_id = CallId(f"call_{part_id}") if taken else piece.id
        self._call_ids.add(call_id)
        self._lengths[piece.index] = 0
        part = ToolPart(id=part_id, call_id=call_id, name=piece.name, seal=piece.seal or UNSET)
        self._calls[piece.index] = part
        self._current = self._start(part)

    def _start(self, part: Part) -> Part:
        self._recorder.start(part)
        self._allowance.begin_part()
        return part

    def _next_id(self) -> PartId:
        self._count += 1
        return PartId(f"prt_{self._stem}_{self._count}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (ValueError, RecursionError):
        return False


class Listener:
    """Keeps only the text of an answer: for titles and summaries, which nobody sees come.

    Raises LimitReached when the answer outgrows its allowance.
    """

    def __init__(self, meter: Meter, allowance: Allowance) -> None:
        self._meter = meter
        self._allowance = allowance
        self._texts: list[str] = []

    def take(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            match piece:
                case TextPiece():
                    self._meter.output([piece.text])
                    self._texts.append(piece.text)
                    self._allowance.store(len(piece.text))
                case ReasoningPiece():
                    self._meter.reasoning([piece.text])
                    self._allowance.store(len(piece.text))
                case UsagePiece():
                    self._meter.report(piece.usage)
                case _:
                    pass

    def text(self) -> str:
        return "".join(self._texts).strip()
