"""An answer on the OpenAI Responses wire, event by event."""

from typing import Any, Literal

import msgspec

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.foreign import (
    MOST_CALLS,
    UNREADABLE,
    at,
    call_started,
    decode,
)
from tenuto.agent.providers.wires.channels import TEXT, THOUGHT, Channels
from tenuto.agent.providers.wires.counts import used
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.ports.model import (
    Finished,
    Piece,
    ProviderError,
    SealPiece,
)

Ending = Literal["end_turn", "max_tokens", "content_filter", "tool_calls"]

PARAGRAPH = "\n\n"
"""Between two parts of a summary."""
_DELTAS: dict[str, str] = {
    "response.output_text.delta": TEXT,
    "response.refusal.delta": TEXT,
    "response.reasoning_summary_text.delta": THOUGHT,
    "response.reasoning_text.delta": THOUGHT,
}
_INCOMPLETE: dict[str, Ending] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "content_filter",
}


class _Event(msgspec.Struct, gc=False):
    type: str = ""
    delta: Any = None
    output_index: int = 0
    summary_index: int = 0
    item: Any = None
    response: Any = None
    code: Any = None
    message: Any = None
    error: Any = None
    output: Any = None
    """In an answer that is not streamed."""
    status: Any = None
    usage: Any = None
    incomplete_details: Any = None


_decoder = msgspec.json.Decoder(_Event)


class ResponsesAnswer:
    """Makes pieces of events; kinds of event and item that are not known are passed over."""

    def __init__(self, border: Border, sealer: Sealer) -> None:
        self.finished = False
        self.over = False
        self.error: ProviderError | None = None
        self._border = border
        self._sealer = sealer
        self._ending: Ending = "end_turn"
        self._calls: dict[int, int] = {}
        """An item's index, and the index of the call that it is."""
        self._argued: set[int] = set()
        """Calls whose arguments came in pieces."""
        self._said: set[int] = set()
        """Items of which something came in pieces."""
        self._summary: tuple[int, int] | None = None
        self._channels = Channels()

    def feed(self, events: list[bytes]) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            for event in events:
                if event != b"[DONE]":
                    self._take(self._decode(event), pieces)
        except ProviderError as error:
            self.error = error
        except UNREADABLE as error:
            self.error = self._border.unreadable(error)
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            said = self._decode(body)
            if not isinstance(said.output, list):
                raise self._border.unreadable("an answer without output")
            for index, item in enumerate(said.output[: MOST_CALLS + 1]):
                self._begin(index, item, pieces)
                self._finish_item(index, item, pieces)
            self._end_with(msgspec.structs.asdict(said), pieces)
        except UNREADABLE as error:
            raise self._border.unreadable(error) from None
        return pieces

    def end(self) -> list[Piece]:
        if not self.finished:
            raise self._border.broke_off()
        pieces: list[Piece] = []
        self._channels.close_all(pieces)
        cut = self._ending in ("max_tokens", "content_filter")
        ending: Ending = "tool_calls" if self._calls and not cut else self._ending
        pieces.append(Finished(reason=ending))
        return pieces

    def _decode(self, event: bytes) -> _Event:
        said, self._channels.odd = decode(event, _decoder)
        return said

    def _take(self, event: _Event, pieces: list[Piece]) -> None:
        kind, index = event.type, event.output_index
        if kind in _DELTAS:
            self._go_on(_DELTAS[kind], event, pieces)
        elif kind == "response.function_call_arguments.delta" and index in self._calls:
            self._argued.add(index)
            self._channels.say(self._calls[index], event.delta, pieces)
        elif kind == "response.output_item.added":
            self._begin(index, event.item, pieces)
        elif kind == "response.output_item.done":
            self._begin(index, event.item, pieces)
            self._finish_item(index, event.item, pieces)
        elif kind in ("response.completed", "response.incomplete"):
            self._end_with(event.response, pieces)
        elif kind == "response.failed":
            raise self._border.complained(at(event.response, "error"))
        elif kind == "error":
            said = {"code": event.code, "message": event.message}
            raise self._border.complained(event.error or said)

    def _go_on(self, channel: str, event: _Event, pieces: list[Piece]) -> None:
        self._said.add(event.output_index)
        if channel == THOUGHT:
            part = (event.output_index, event.summary_index)
            if self._summary is not None and part[0] == self._summary[0] and part != self._summary:
                self._channels.say(THOUGHT, PARAGRAPH, pieces)
            self._summary = part
        self._channels.say(channel, event.delta, pieces)

    def _begin(self, index: int, item: Any, pieces: list[Piece]) -> None:
        if at(item, "type") != "function_call" or index in self._calls:
            return
        if len(self._calls) == MOST_CALLS:
            raise self._border.too_large(f"made more than {MOST_CALLS} tool calls in one answer")
        self._channels.close(TEXT, pieces)
        self._channels.close(THOUGHT, pieces)
        call = self._calls[index] = len(self._calls)
        name, call_id = at(item, "name"), at(item, "call_id")
        pieces.append(
            call_started(
                call,
                call_id=call_id if isinstance(call_id, str) else "",
                name=name if isinstance(name, str) else "",
            )
        )

    def _finish_item(self, index: int, item: Any, pieces: list[Piece]) -> None:
        """The item is whole: what did not come in pieces is in it."""
        match at(item, "type"):
            case "function_call" if index not in self._argued:
                self._argued.add(index)
                self._channels.say(self._calls[index], at(item, "arguments"), pieces)
            case "message" if index not in self._said:
                self._channels.say(TEXT, _words(at(item, "content")), pieces)
            case "reasoning":
                if index not in self._said:
                    self._channels.say(THOUGHT, _words(at(item, "summary")), pieces)
                self._seal(item, pieces)

    def _seal(self, item: Any, pieces: list[Piece]) -> None:
        content = at(item, "encrypted_content")
        if not isinstance(content, str):
            return
        self._channels.close(THOUGHT, pieces)
        if seal := self._sealer.seal({"id": at(item, "id"), "encrypted_content": content}):
            pieces.append(SealPiece(seal=seal))

    def _end_with(self, response: Any, pieces: list[Piece]) -> None:
        if error := at(response, "error"):
            raise self._border.complained(error)
        if counted := used(at(response, "usage")):
            pieces.append(counted)
        if at(response, "status") == "incomplete":
            why = at(response, "incomplete_details", "reason")
            self._ending = _INCOMPLETE.get(why if isinstance(why, str) else "", "max_tokens")
        self.finished = self.over = True


def _words(blocks: Any) -> str:
    """The text of an item's blocks: what was said, refused or summed up."""
    if not isinstance(blocks, list):
        return ""
    said = (at(block, "text") or at(block, "refusal") for block in blocks[:MOST_CALLS])
    return PARAGRAPH.join(text for text in said if isinstance(text, str))
