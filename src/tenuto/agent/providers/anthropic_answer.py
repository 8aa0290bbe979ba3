"""An answer on the Anthropic messages wire, event by event."""

from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from tenuto.agent.providers.border import Border
from tenuto.agent.providers.seam import Seam, decode_odd
from tenuto.core.run import Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    CallPiece,
    CallStarted,
    Finished,
    Piece,
    ProviderError,
    ReasoningPiece,
    TextPiece,
    UsagePiece,
)

Ending = Literal["end_turn", "max_tokens", "content_filter", "tool_calls"]

_ENDINGS: dict[str, Ending] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "pause_turn": "end_turn",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class _Usage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""
    text: str | None = None
    thinking: str | None = None
    input: Any = None


class _Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Message(msgspec.Struct, gc=False):
    content: list[_Block] = []
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None
    content: list[_Block] | None = None
    """In an answer that is not streamed."""
    stop_reason: str | None = None


_decoder = msgspec.json.Decoder(_Event)


class AnthropicAnswer:
    """Makes pieces of events; kinds of event and block that are not known are passed over."""

    def __init__(self, border: Border) -> None:
        self.finished = False
        self.over = False
        self.error: ProviderError | None = None
        self._border = border
        self._ending: Ending = "end_turn"
        self._calls: dict[int, int] = {}
        """A block's index, and the index of the call that it is."""
        self._usage = Usage()
        self._odd = False
        self._seams: dict[tuple[str, int], Seam] = {}

    def feed(self, events: list[bytes]) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            for event in events:
                self._take(self._decode(event), pieces)
        except ProviderError as error:
            self.error = error
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        message = self._decode(body)
        if message.error:
            raise self._border.complained(message.error)
        if message.content is None:
            raise self._border.unreadable("an answer without content")
        for index, block in enumerate(message.content):
            self._begin(index, block, pieces)
        self._count(message.usage, pieces)
        self._finish(message.stop_reason)
        self.over = True
        return pieces

    def end(self) -> list[Piece]:
        if not (self.finished or self.over):
            raise self._border.broke_off()
        pieces: list[Piece] = []
        for (kind, index), seam in self._seams.items():
            if left := seam.end():
                pieces.append(_piece(kind, index, left))
        pieces.append(Finished(reason=self._ending))
        return pieces

    def _decode(self, event: bytes) -> _Event:
        self._odd = False
        try:
            return _decoder.decode(event)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._odd = True
        try:
            return msgspec.convert(decode_odd(event), _Event, strict=False)
        except (msgspec.ValidationError, ValueError) as error:
            raise self._border.unreadable(str(error)) from error

    def _take(self, event: _Event, pieces: list[Piece]) -> None:
        match event.type:
            case "content_block_delta" if event.delta:
                self._go_on(event.index, event.delta, pieces)
            case "content_block_start" if event.content_block:
                self._begin(event.index, event.content_block, pieces)
            case "message_start" if event.message:
                self._count(event.message.usage, pieces)
            case "message_delta":
                self._count(event.usage, pieces)
                self._finish(event.delta.stop_reason if event.delta else None)
            case "message_stop":
                self.over = True
            case "error":
                raise self._border.complained(event.error)

    def _begin(self, index: int, block: _Block, pieces: list[Piece]) -> None:
        if block.type == "tool_use":
            call = self._calls[index] = len(self._calls)
            pieces.append(CallStarted(index=call, id=CallId(block.id), name=block.name))
            if block.input:
                self._say("call", call, msgspec.json.encode(block.input).decode(), pieces)
        self._say("reasoning", index, block.thinking, pieces)
        self._say("text", index, block.text, pieces)

    def _go_on(self, index: int, delta: _Delta, pieces: list[Piece]) -> None:
        if delta.text:
            self._say("text", index, delta.text, pieces)
        elif delta.thinking:
            self._say("reasoning", index, delta.thinking, pieces)
        elif delta.partial_json and index in self._calls:
            self._say("call", self._calls[index], delta.partial_json, pieces)

    def _count(self, given: _Usage | None, pieces: list[Piece]) -> None:
        """Add to what was counted: the input is told at the start, the output at the end."""
        if given is None:
            return
        read, made = given.cache_read_input_tokens or 0, given.cache_creation_input_tokens or 0
        asked = (given.input_tokens or 0) + read + made
        self._usage = replace(
            self._usage,
            input_tokens=max(self._usage.input_tokens, asked),
            output_tokens=max(self._usage.output_tokens, given.output_tokens or 0),
        )
        pieces.append(UsagePiece(usage=self._usage))

    def _finish(self, reason: str | None) -> None:
        if reason is not None:
            self.finished = True
            self._ending = _ENDINGS.get(reason, "end_turn")

    def _say(self, kind: str, index: int, text: str | None, pieces: list[Piece]) -> None:
        if text and (self._odd or (kind, index) in self._seams):
            text = self._seams.setdefault((kind, index), Seam()).join(text)
        if text:
            pieces.append(_piece(kind, index, text))


def _piece(kind: str, index: int, text: str) -> Piece:
    if kind == "text":
        return TextPiece(text=text)
    if kind == "reasoning":
        return ReasoningPiece(text=text)
    return CallPiece(index=index, text=text)
