"""An answer on the Anthropic messages wire, event by event."""

import json
from typing import Any, Literal

import msgspec

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.foreign import (
    MOST_CALLS,
    UNREADABLE,
    at,
    call_started,
    decode,
    tokens,
)
from tenuto.agent.providers.wires.channels import TEXT, THOUGHT, Channels
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.core.run import Usage
from tenuto.ports.model import (
    Finished,
    Piece,
    ProviderError,
    SealPiece,
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


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    id: str = ""
    name: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    """Of a thought that is kept from us."""
    input: Any = None


class _Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Message(msgspec.Struct, gc=False):
    content: list[_Block] = []
    stop_reason: str | None = None
    usage: Any = None


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: Any = None
    error: Any = None
    content: list[_Block] | None = None
    """In an answer that is not streamed."""
    stop_reason: str | None = None


_decoder = msgspec.json.Decoder(_Event)


class AnthropicAnswer:
    """Makes pieces of events; kinds of event and block that are not known are passed over."""

    def __init__(self, border: Border, sealer: Sealer) -> None:
        self.finished = False
        self.over = False
        self.error: ProviderError | None = None
        self._border = border
        self._sealer = sealer
        self._signature: list[str] = []
        self._ending: Ending = "end_turn"
        self._calls: dict[int, int] = {}
        """A block's index, and the index of the call that it is."""
        self._count_of_calls = 0
        self._asked = self._read = self._written = self._said = 0
        self._channels = Channels()

    def feed(self, events: list[bytes]) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            for event in events:
                self._take(self._decode(event), pieces)
        except ProviderError as error:
            self.error = error
        except UNREADABLE as error:
            self.error = self._border.unreadable(error)
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        try:
            return self._whole(self._decode(body))
        except UNREADABLE as error:
            raise self._border.unreadable(error) from None

    def _whole(self, message: _Event) -> list[Piece]:
        pieces: list[Piece] = []
        if message.error:
            raise self._border.complained(message.error)
        if message.content is None:
            raise self._border.unreadable("an answer without content")
        for index, block in enumerate(message.content):
            self._begin(index, block, pieces)
        self._seal(pieces)
        self._count(message.usage, pieces)
        self._finish(message.stop_reason)
        self.over = True
        return pieces

    def end(self) -> list[Piece]:
        if not (self.finished or self.over):
            raise self._border.broke_off()
        pieces: list[Piece] = []
        self._channels.close_all(pieces)
        pieces.append(Finished(reason=self._ending))
        return pieces

    def _decode(self, event: bytes) -> _Event:
        said, self._channels.odd = decode(event, _decoder)
        return said

    def _take(self, event: _Event, pieces: list[Piece]) -> None:
        match event.type:
            case "content_block_delta" if event.delta:
                self._go_on(event.index, event.delta, pieces)
            case "content_block_start" if event.content_block:
                self._begin(event.index, event.content_block, pieces)
            case "content_block_stop":
                self._seal(pieces)
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
        # Half a character at the end of one block is not continued in the next.
        self._channels.close(TEXT, pieces)
        self._seal(pieces)
        if block.type == "tool_use":
            self._begin_call(index, block, pieces)
        self._channels.say(THOUGHT, block.thinking, pieces)
        self._channels.say(TEXT, block.text, pieces)
        if block.signature:
            self._signature.append(block.signature)
        if block.type == "redacted_thinking" and (
            seal := self._sealer.seal({"redacted": block.data})
        ):
            pieces.append(SealPiece(seal=seal))

    def _seal(self, pieces: list[Piece]) -> None:
        """A thought is over; its signature, if it has one, comes at its end."""
        self._channels.close(THOUGHT, pieces)
        signature, self._signature = "".join(self._signature), []
        if signature and (seal := self._sealer.seal({"signature": signature})):
            pieces.append(SealPiece(seal=seal))

    def _begin_call(self, index: int, block: _Block, pieces: list[Piece]) -> None:
        if self._count_of_calls == MOST_CALLS:
            raise self._border.too_large(f"made more than {MOST_CALLS} tool calls in one answer")
        call = self._calls[index] = self._count_of_calls
        self._count_of_calls += 1
        pieces.append(call_started(call, call_id=block.id, name=block.name))
        if block.input:
            # Not msgspec, which refuses the half characters that the seam will mend.
            given = json.dumps(block.input, ensure_ascii=False, separators=(",", ":"))
            self._channels.say(call, given, pieces)

    def _go_on(self, index: int, delta: _Delta, pieces: list[Piece]) -> None:
        if delta.text:
            self._channels.say(TEXT, delta.text, pieces)
        elif delta.thinking:
            self._channels.say(THOUGHT, delta.thinking, pieces)
        elif delta.signature:
            self._signature.append(delta.signature)
        elif delta.partial_json and index in self._calls:
            self._channels.say(self._calls[index], delta.partial_json, pieces)

    def _count(self, given: Any, pieces: list[Piece]) -> None:
        """Add to what was counted: the input is told at the start, the output at the end."""
        asked, said = tokens(at(given, "input_tokens")), tokens(at(given, "output_tokens"))
        read = tokens(at(given, "cache_read_input_tokens")) or 0
        made = tokens(at(given, "cache_creation_input_tokens")) or 0
        if asked is None and said is None and not read and not made:
            return
        self._asked = max(self._asked, tokens((asked or 0) + read + made) or 0)
        self._read, self._written = max(self._read, read), max(self._written, made)
        self._said = max(self._said, said or 0)
        usage = Usage(
            input_tokens=self._asked,
            output_tokens=self._said,
            cache_read_tokens=self._read,
            cache_write_tokens=self._written,
        )
        pieces.append(UsagePiece(usage=usage))

    def _finish(self, reason: str | None) -> None:
        if reason is not None:
            self.finished = True
            self._ending = _ENDINGS.get(reason, "end_turn")
