"""An answer on Ollama's own wire, line by line."""

import json
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

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
from tenuto.ports.model import Finished, Piece, ProviderError, ReasoningPiece

Ending = Literal["end_turn", "max_tokens", "content_filter", "tool_calls"]


class _Line(msgspec.Struct, gc=False):
    message: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Line)


class OllamaAnswer:
    """Makes pieces of lines. A call comes whole, in one of them."""

    def __init__(self, border: Border, sealer: Sealer) -> None:
        self.finished = False
        self.over = False
        self.error: ProviderError | None = None
        self._border = border
        self._sealer = sealer
        self._channels = Channels()
        self._calls = 0
        self._thinking = False
        self._ending: Ending = "end_turn"

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
        pieces: list[Piece] = []
        try:
            said = self._decode(body)
            self._take(said, pieces)
        except UNREADABLE as error:
            raise self._border.unreadable(error) from None
        if said.message is None:
            raise self._border.unreadable("an answer without a message")
        self.over = True
        return pieces

    def end(self) -> list[Piece]:
        if not self.over:
            raise self._border.broke_off()
        pieces: list[Piece] = []
        self._channels.close_all(pieces)
        called = self._calls and self._ending == "end_turn"
        pieces.append(Finished(reason="tool_calls" if called else self._ending))
        return pieces

    def _decode(self, event: bytes) -> _Line:
        said, self._channels.odd = decode(event, _decoder)
        return said

    def _take(self, line: _Line, pieces: list[Piece]) -> None:
        if line.error:
            raise self._border.complained(line.error)
        self._think(at(line.message, "thinking"), pieces)
        calls, content = at(line.message, "tool_calls"), at(line.message, "content")
        if content or calls:
            self._channels.close(THOUGHT, pieces)
            self._thinking = False
        self._channels.say(TEXT, content, pieces)
        for call in calls if isinstance(calls, list) else ():
            self._call(call, pieces)
        if line.done is True:
            self._finish(line, pieces)

    def _think(self, thought: Any, pieces: list[Piece]) -> None:
        if not isinstance(thought, str) or not thought:
            return
        self._channels.say(THOUGHT, thought, pieces)
        # The first piece says whose the thought is, so that it can be given back.
        if not self._thinking and pieces and isinstance(begun := pieces[-1], ReasoningPiece):
            self._thinking = True
            pieces[-1] = replace(begun, seal=self._sealer.seal({"field": "thinking"}))

    def _call(self, call: Any, pieces: list[Piece]) -> None:
        if self._calls == MOST_CALLS:
            raise self._border.too_large(f"made more than {MOST_CALLS} tool calls in one answer")
        call_id, name = at(call, "id"), at(call, "function", "name")
        pieces.append(
            call_started(
                self._calls,
                call_id=call_id if isinstance(call_id, str) else "",
                name=name if isinstance(name, str) else "",
            )
        )
        arguments = at(call, "function", "arguments")
        if not isinstance(arguments, str):
            # Not msgspec, which refuses the half characters that the seam will mend.
            arguments = json.dumps(arguments or {}, ensure_ascii=False, separators=(",", ":"))
        self._channels.say(self._calls, arguments, pieces)
        self._channels.close(self._calls, pieces)
        self._calls += 1

    def _finish(self, line: _Line, pieces: list[Piece]) -> None:
        if counted := used(msgspec.structs.asdict(line)):
            pieces.append(counted)
        if line.done_reason == "length":
            self._ending = "max_tokens"
        self.finished = self.over = True
