"""The context builder: whatever a session went through, the next request is valid.

Every tool call has exactly one result, user and assistant take turns, nothing is empty, and what
was cut off is said to be.
"""

import hashlib
import re
import string
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.job import Job
from tenuto.core.message import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    Seal,
    TextPart,
    ToolPart,
    ToolState,
    files_in,
)
from tenuto.core.value import CallId, FileId, PartId
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    TextBlock,
    Thought,
    ToolCall,
    ToolTurn,
    Turn,
    UserTurn,
)

GO_ON = (
    "[Your last reply was cut off. Go on from exactly where it stopped, "
    "without repeating what you have already written.]"
)
NOTE = "<note>"
GOES_ON = "[The conversation goes on.]"
CUT_OFF = {
    "cancelled": "The user stopped your reply there.",
    "interrupted": "Your reply was cut off there because the server stopped.",
    "error": "Your reply was cut off there by an error.",
}
"""Told in the user's turn: what stood in its own words a model would imitate."""
UNANSWERED = {
    ToolState.CANCELLED: "This call was stopped before it finished.",
    ToolState.INTERRUPTED: "The server stopped before this call finished; it may have had effects.",
}
NAME_CHARACTERS = 64
"""Of a tool's name, on every wire."""
ID_CHARACTERS = 9
"""Of a call's id: one wire takes no more and no less."""
ALPHABET = string.ascii_letters + string.digits
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def build_turns(
    messages: Sequence[Message], files: Mapping[FileId, bytes], jobs: Sequence[Job] = ()
) -> tuple[Turn, ...]:
    """The conversation as a model is told it, ending with something to answer.

    That is what the user said or the tools gave, else to go on. Of each of the jobs it was told, at
    its place, that it has ended.
    """
    turns: list[Turn] = []
    endings = _Endings(jobs)
    for message in messages:
        turns += [_note(line) for line in endings.before(message)]
        if message.role == "user":
            turns.append(_user_turn(message, files))
        else:
            turns.extend(_assistant_turns(message, files, endings))
    merged = _merge(turns)
    if not merged or isinstance(merged[-1], AssistantTurn) or _is_note(turns):
        merged = _merge([*merged, _said(GO_ON)])
    if isinstance(merged[0], AssistantTurn):
        # All before it was summarised away, and a conversation must begin with its user.
        merged.insert(0, _said(GOES_ON))
    return tuple(merged)


def files_of(messages: Sequence[Message]) -> set[FileId]:
    return {file_id for message in messages for file_id in files_in(message)}


def step_of(part: Part) -> str:
    """The answer of the model that this part belongs to: its parts' ids begin alike."""
    return part.id.rpartition("_")[0]


def _note(text: str) -> UserTurn:
    return _said(f"{NOTE}{text}</note>")


def _is_note(turns: Sequence[Turn]) -> bool:
    """Whether a note of ours is the last that is told: nobody has said anything after it."""
    last = turns[-1] if turns else None
    block = last.blocks[-1] if isinstance(last, UserTurn) and last.blocks else None
    return isinstance(block, TextBlock) and block.text.startswith(NOTE)


def _said(text: str) -> UserTurn:
    return UserTurn(blocks=(TextBlock(text=text),))


def _user_turn(message: Message, files: Mapping[FileId, bytes]) -> UserTurn:
    blocks: list[TextBlock | FileBlock] = []
    for part in message.parts:
        match part:
            case TextPart():
                told = part.expanded or part.text
                if told.strip():
                    blocks.append(TextBlock(text=told))
            case FilePart() if part.file_id in files:
                blocks.append(
                    FileBlock(
                        id=part.file_id,
                        name=part.name,
                        media_type=part.media_type,
                        content=files[part.file_id],
                    )
                )
            case FilePart():
                blocks.append(TextBlock(text=f"[The file {part.name} is no longer there.]"))
            case _:
                raise TypeError(f"a user message has no {type(part).__name__}")
    return UserTurn(blocks=tuple(blocks))


class _Endings:
    """Where in the conversation the model is told that jobs have ended."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._told = [(job.told, job.how_it_ended()) for job in jobs if job.told is not None]

    def before(self, message: Message) -> list[str]:
        return [
            line
            for told, line in self._told
            if told.part_id is None and told.message_id == message.id
        ]

    def after(self, part: Part) -> list[str]:
        return [line for told, line in self._told if told.part_id == part.id]


def _assistant_turns(
    message: Message, files: Mapping[FileId, bytes], endings: _Endings
) -> list[Turn]:
    """One turn per step: what it thought and said, the calls it made, and one result for each."""
    turns: list[Turn] = []
    step = _Step(files)
    for part in message.parts:
        if step.is_over(part):
            turns += step.turns()
            step = _Step(files)
        step.add(part)
        step.notes += endings.after(part)
    last = step.turns()
    turns += last
    if cut := CUT_OFF.get(message.finish_reason or ""):
        # Nothing but thoughts: they were paid for, and the model should know them.
        thought = "" if last else step.thought()
        turns.append(_note(f"{cut} You had thought so far: {thought}" if thought else cut))
    return turns


class _Step:
    """One answer of the model within a message, and what its calls gave."""

    def __init__(self, files: Mapping[FileId, bytes]) -> None:
        self._files = files
        self._blocks: list[TextBlock | Thought | ToolCall] = []
        self._calls: list[ToolPart] = []
        self._thinking: list[str] = []
        self._answer = ""
        self.notes: list[str] = []
        """What is told after it."""

    def is_over(self, part: Part) -> bool:
        """Some servers count their calls from one in each answer: the same id means a new step."""
        if not self._calls:
            return False
        taken = {call.call_id for call in self._calls}
        if not isinstance(part, ToolPart) or part.call_id in taken:
            return True
        return step_of(part) != step_of(self._calls[-1])

    def add(self, part: Part) -> None:
        if step_of(part) != self._answer:
            # What was thought before a break is not what the next answer seals.
            self._think(None)
            self._answer = step_of(part)
        match part:
            case ReasoningPart():
                self._thinking.append(part.text)
                if part.seal is not UNSET:
                    self._think(part.seal)
            case TextPart():
                self._think(None)
                if part.text.strip():
                    self._blocks.append(TextBlock(text=part.text))
            case ToolPart():
                self._think(None)
                self._calls.append(part)
                self._blocks.append(_call(part))
            case _:
                raise TypeError(f"an assistant message has no {type(part).__name__}")

    def thought(self) -> str:
        self._think(None)
        return "".join(b.text for b in self._blocks if isinstance(b, Thought)).strip()

    def turns(self) -> list[Turn]:
        self._think(None)
        if not any(isinstance(block, TextBlock | ToolCall) for block in self._blocks):
            return []
        return [AssistantTurn(blocks=tuple(self._blocks)), *self._results()]

    def _results(self) -> list[Turn]:
        results = [_result(call, self._files) for call in self._calls]
        notes = [f"{NOTE}{line}</note>" for line in self.notes]
        if not results:
            return [_said(note) for note in notes]
        # With the last result: a turn of its own would be the last word of a person.
        last = results[-1]
        return [*results[:-1], replace(last, output="\n".join([last.output, *notes]))]

    def _think(self, seal: Seal | None) -> None:
        text, self._thinking = "".join(self._thinking), []
        if text or seal is not None:
            self._blocks.append(Thought(text=text, seal=seal))


def _call(part: ToolPart) -> ToolCall:
    name = _callable(part.name)
    # A seal is of the call as it was made.
    as_made = name == part.name and _is_whole(part)
    return ToolCall(
        id=_wire_id(part.id),
        name=name,
        arguments=part.input_text if _is_whole(part) else "{}",
        seal=part.seal if as_made and part.seal is not UNSET else None,
    )


@lru_cache(maxsize=4096)
def _wire_id(part_id: PartId) -> CallId:
    """What every wire takes as the id of a call: providers refuse each other's."""
    digest = hashlib.sha256(part_id.encode()).digest()
    number = int.from_bytes(digest[:8], "big")
    letters = ""
    for _ in range(ID_CHARACTERS):
        number, letter = divmod(number, len(ALPHABET))
        letters += ALPHABET[letter]
    return CallId(letters)


def _callable(name: str) -> str:
    """The name of a call as every wire takes it: one odd name must not spoil all that follows."""
    return _NO_NAME.sub("_", name)[:NAME_CHARACTERS] or "unknown"


def _is_whole(call: ToolPart) -> bool:
    return isinstance(call.input, dict) and bool(call.input_text)


def _result(call: ToolPart, files: Mapping[FileId, bytes]) -> ToolTurn:
    match call.state:
        case ToolState.DONE:
            output, failed = call.output or "", False
        case ToolState.FAILED | ToolState.DENIED:
            output, failed = call.error or "It failed.", True
        case _:
            output = UNANSWERED.get(call.state, "This call was never finished.")
            if call.output:
                output += f" Its output so far:\n{call.output}"
            failed = True
    images, gone = ((), ()) if failed else _images(call, files)
    return ToolTurn(
        call_id=_wire_id(call.id),
        name=_callable(call.name),
        output="\n".join([output, *gone]) if gone else output,
        images=images,
        failed=failed,
    )


def _images(
    call: ToolPart, files: Mapping[FileId, bytes]
) -> tuple[tuple[FileBlock, ...], tuple[str, ...]]:
    """What the call gave to be seen, and a note for each that is no longer there."""
    given = () if call.files is UNSET else call.files
    there = tuple(
        FileBlock(
            id=file.file_id,
            name=file.name,
            media_type=file.media_type,
            content=files[file.file_id],
        )
        for file in given
        if file.file_id in files
    )
    gone = (file.name for file in given if file.file_id not in files)
    return there, tuple(f"[The file {name} is no longer there.]" for name in gone)


def _merge(turns: list[Turn]) -> list[Turn]:
    """Neighbours of one role become one turn; turns that say nothing go."""
    merged: list[Turn] = []
    for turn in turns:
        last = merged[-1] if merged else None
        match turn, last:
            case ((AssistantTurn(blocks=()) | UserTurn(blocks=())), _):
                continue
            case UserTurn(), UserTurn():
                merged[-1] = UserTurn(blocks=last.blocks + turn.blocks)
            case AssistantTurn(), AssistantTurn(calls=()):
                merged[-1] = AssistantTurn(blocks=last.blocks + turn.blocks)
            case _:
                merged.append(turn)
    return merged
