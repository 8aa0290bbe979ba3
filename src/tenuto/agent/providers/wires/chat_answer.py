"""An answer on the OpenAI chat-completions wire, chunk by chunk."""

import json
from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.foreign import (
    EARLY_CHARACTERS,
    MOST_CALLS,
    UNREADABLE,
    call_started,
    decode,
)
from tenuto.agent.providers.wires.channels import TEXT, THOUGHT, Channels
from tenuto.agent.providers.wires.chat_thoughts import Thoughts
from tenuto.agent.providers.wires.counts import used
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.ports.model import (
    Finished,
    Piece,
    ProviderError,
    ReasoningPiece,
    SealPiece,
)

Ending = Literal["end_turn", "max_tokens", "content_filter", "tool_calls"]

MOST_CHOICES = 16
"""We ask for one."""
MOST_BLOCKS = 1024
"""Of a text that comes as a list; those who send lists send one block at a time."""

_ENDINGS: dict[str, Ending] = {
    "stop": "end_turn",
    "end_turn": "end_turn",
    "eos": "end_turn",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Any = None
    """A string, by the book; some servers give the object itself."""


class _Call(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None
    extra_content: Any = None
    """A seal, on Google's wire."""


class _Delta(msgspec.Struct, gc=False):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta | None = None
    message: _Delta | None = None
    """In an answer that is not streamed."""
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


_decoder = msgspec.json.Decoder(_Chunk)


class _OpenCall:
    """A call whose arguments are streaming; it has begun once its name is known."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.id = ""
        self.extra: Any = None
        self.begun = False
        self.early: list[str] = []
        """Arguments that came before the name."""


class ChatAnswer:
    """Makes pieces of chunks, also of those that only resemble the book."""

    def __init__(self, border: Border, sealer: Sealer) -> None:
        self.finished = False
        self.over = False
        self.error: ProviderError | None = None
        self._border = border
        self._sealer = sealer
        self._thoughts = Thoughts()
        self._ending: Ending | None = None
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}
        self._by_id: dict[str, _OpenCall] = {}
        self._early_characters = 0
        self._channels = Channels()

    def feed(self, events: list[bytes]) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            for event in events:
                if event == b"[DONE]":
                    self.over = True
                    break
                self._take(self._decode(event), pieces)
        except ProviderError as error:
            self.error = error
        except UNREADABLE as error:
            self.error = self._border.unreadable(error)
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            chunk = self._decode(body)
            self._take(chunk, pieces)
        except UNREADABLE as error:
            raise self._border.unreadable(error) from None
        if not chunk.choices:
            raise self._border.unreadable("an answer without a choice")
        self.over = True
        return pieces

    def end(self) -> list[Piece]:
        if not (self.finished or self.over):
            raise self._border.broke_off()
        pieces: list[Piece] = []
        self._seal(pieces)
        for call in self._calls:
            if not call.begun:
                self._begin(call, "", pieces)
        self._channels.close_all(pieces)
        pieces.append(Finished(reason=self._reason()))
        return pieces

    def _reason(self) -> Ending:
        # Some servers say `stop` after a tool call, others announce calls that never came.
        if self._calls and self._ending in (None, "end_turn"):
            return "tool_calls"
        if self._ending == "tool_calls" and not self._calls:
            return "end_turn"
        return self._ending or "end_turn"

    def _decode(self, event: bytes) -> _Chunk:
        chunk, self._channels.odd = decode(event, _decoder)
        return chunk

    def _take(self, chunk: _Chunk, pieces: list[Piece]) -> None:
        if chunk.error:
            raise self._border.complained(chunk.error)
        for choice in (chunk.choices or ())[:MOST_CHOICES]:
            delta = choice.delta or choice.message
            if delta is not None:
                self._take_delta(delta, pieces)
            if choice.finish_reason == "error":
                raise self._border.complained(None)
            if choice.finish_reason:
                self.finished = True
                self._ending = _ENDINGS.get(choice.finish_reason.lower(), "end_turn")
        if chunk.usage is not None and (counted := used(chunk.usage)):
            pieces.append(counted)

    def _take_delta(self, delta: _Delta, pieces: list[Piece]) -> None:
        thought = delta.reasoning_content or delta.reasoning or delta.reasoning_details
        if thought:
            self._think(delta, _words(thought), pieces)
        content = delta.content
        if content or delta.tool_calls:
            self._seal(pieces)
        if content:
            if type(content) is not str:
                self._channels.say(THOUGHT, _words(content, only="thinking"), pieces)
                content = _words(content, only="text")
            self._channels.say(TEXT, content, pieces)
        if delta.refusal:
            self._channels.say(TEXT, delta.refusal, pieces)
        if delta.tool_calls:
            self._must_be_few(len(delta.tool_calls))
            for call in delta.tool_calls:
                self._take_call(call, pieces)
        if delta.function_call is not None:
            self._take_call(_Call(index=0, function=delta.function_call), pieces)

    def _take_call(self, given: _Call, pieces: list[Piece]) -> None:
        function = given.function or _Function()
        call = self._call_of(given, function)
        if not call.begun:
            call.id = call.id or given.id or ""
            call.extra = call.extra or given.extra_content
            self._by_id.setdefault(call.id, call)
            if function.name:
                self._begin(call, function.name, pieces)
        arguments = function.arguments
        if arguments is None or arguments == "":
            return
        if not isinstance(arguments, str):
            # Not msgspec, which refuses the half characters that the seam will mend.
            arguments = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        if not call.begun:
            self._early_characters += len(arguments)
            if self._early_characters > EARLY_CHARACTERS:
                # A name that is so late will not come.
                self._begin(call, "", pieces)
        if call.begun:
            self._channels.say(call.index, arguments, pieces)
        else:
            call.early.append(arguments)

    def _call_of(self, given: _Call, function: _Function) -> _OpenCall:
        """The call that this piece belongs to; a new one if it can be no other's."""
        if given.index is not None:
            known = self._by_index.get(given.index)
            # One index for all calls, told apart by their ids: a name makes it a new one.
            another = known and known.begun and given.id and function.name and given.id != known.id
            if known is None or another:
                known = self._by_index[given.index] = self._new_call()
            return known
        if given.id:
            return self._by_id.get(given.id) or self._new_call()
        if function.name or not self._calls:
            return self._new_call()
        return self._calls[-1]

    def _new_call(self) -> _OpenCall:
        self._must_be_few(len(self._calls) + 1)
        call = _OpenCall(len(self._calls))
        self._calls.append(call)
        return call

    def _must_be_few(self, calls: int) -> None:
        if calls > MOST_CALLS:
            raise self._border.too_large(f"made more than {MOST_CALLS} tool calls in one answer")

    def _begin(self, call: _OpenCall, name: str, pieces: list[Piece]) -> None:
        call.begun = True
        call.id = call.id or f"call_{uuid4().hex}"
        self._by_id.setdefault(call.id, call)
        begun = call_started(call.index, call_id=call.id, name=name)
        seal = self._sealer.seal({"extra": call.extra} if call.extra else None)
        pieces.append(replace(begun, seal=seal))
        for early in call.early:
            self._channels.say(call.index, early, pieces)
        call.early.clear()

    def _think(self, delta: _Delta, words: str, pieces: list[Piece]) -> None:
        kept = self._thoughts.take(
            delta.reasoning_content, delta.reasoning, delta.reasoning_details
        )
        self._channels.say(THOUGHT, words, pieces)
        if kept and pieces and isinstance(begun := pieces[-1], ReasoningPiece):
            pieces[-1] = replace(begun, seal=self._sealer.seal(kept))

    def _seal(self, pieces: list[Piece]) -> None:
        """What was thought is over once something else is said."""
        if seal := self._sealer.seal(self._thoughts.end()):
            self._channels.close(THOUGHT, pieces)
            pieces.append(SealPiece(seal=seal))


def _words(given: Any, *, only: str | None = None) -> str:
    """The text in what some servers send instead of a string."""
    if isinstance(given, str):
        return given if only is None else ""
    if isinstance(given, list):
        if len(given) > MOST_BLOCKS:
            raise ValueError("a text in too many pieces")
        return "".join(_block_words(block, only) for block in given)
    return _block_words(given, only)


def _block_words(block: Any, only: str | None) -> str:
    if isinstance(block, str):
        return block if only in (None, "text") else ""
    if not isinstance(block, dict) or (only and block.get("type", "text") != only):
        return ""
    for field in (TEXT, "thinking", "content", "summary"):
        if block.get(field):
            return _words(block[field])
    return ""
