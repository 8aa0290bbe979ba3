"""Messages and their parts: what a transcript is made of."""

from enum import StrEnum
from typing import Any, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from tenuto.core.run import Input, InputFile, InputText, Run
from tenuto.core.value import (
    CallId,
    FileId,
    Instant,
    MessageId,
    PartId,
    RunId,
    SessionId,
    Value,
)


class ToolState(StrEnum):
    INPUT_STREAMING = "input_streaming"
    WAITING_APPROVAL = "waiting_approval"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


UNFINISHED = frozenset({ToolState.INPUT_STREAMING, ToolState.WAITING_APPROVAL, ToolState.RUNNING})


class Seal(Value):
    """What a provider made for itself along with a part: kept as it came, and given back unread.

    Signatures, encrypted thoughts and their like mean something only to the wire and the model
    that made them.
    """

    wire: str
    model: str
    data: str
    """JSON, in the wire's own words."""


class TextPart(Value, tag_field="type", tag="text"):
    id: PartId
    text: str = ""
    expanded: str | UnsetType = UNSET
    """What a model is told instead: the meaning of a command."""


class ReasoningPart(Value, tag_field="type", tag="reasoning"):
    id: PartId
    text: str = ""
    seal: Seal | UnsetType = UNSET
    """Of this and of the thoughts right before it that have none."""


class FilePart(Value, tag_field="type", tag="file"):
    id: PartId
    file_id: FileId
    name: str
    media_type: str
    size: int


class ToolFile(Value):
    """A file that a tool gave along with its result: an image, as a rule."""

    file_id: FileId
    name: str
    media_type: str
    size: int


class ToolPart(Value, tag_field="type", tag="tool"):
    id: PartId
    call_id: CallId
    name: str
    input: Any = None
    """None until the whole input has streamed and is valid JSON."""
    input_text: str = ""
    state: ToolState = ToolState.INPUT_STREAMING
    output: str | None = None
    error: str | None = None
    details: dict[str, Any] | UnsetType = UNSET
    """What came of it, for people: a diff, an exit code, how many matched. No model is told."""
    files: tuple[ToolFile, ...] | UnsetType = UNSET
    """What it gave to be seen. A model that does not see is told of them."""
    seal: Seal | UnsetType = UNSET

    @property
    def unfinished(self) -> bool:
        return self.state in UNFINISHED


class ToolChange(Value, tag_field="type", tag="tool"):
    """A tool call as it is from now on; of what is left out, nothing has changed."""

    id: PartId
    call_id: CallId
    name: str
    input: Any = UNSET
    input_text: str | UnsetType = UNSET
    state: ToolState
    output: str | UnsetType | None = UNSET
    error: str | None = None
    details: dict[str, Any] | UnsetType = UNSET
    files: tuple[ToolFile, ...] | UnsetType = UNSET
    seal: Seal | UnsetType = UNSET

    def on(self, part: ToolPart) -> ToolPart:
        """The part with this change."""
        return replace(part, **{name: v for name, v in asdict(self).items() if v is not UNSET})


def change_of(before: ToolPart, after: ToolPart) -> ToolChange:
    """What is to be told of a call: what is small, and what is new."""
    told = {
        name: new
        for name, new in asdict(after).items()
        if name in TOLD or new != getattr(before, name)
    }
    return ToolChange(**told)


TOLD = frozenset({"id", "call_id", "name", "state", "error"})
"""What every change of a call tells, so that it can be read by itself."""

Part = TextPart | ReasoningPart | FilePart | ToolPart
Changed = TextPart | ReasoningPart | FilePart | ToolChange
"""A part as an update tells it."""
Role = Literal["user", "assistant"]


class Message(Value):
    id: MessageId
    session_id: SessionId
    run_id: RunId | None
    """None in a fork: no run of that session made the message."""
    role: Role
    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    """None while it streams."""
    created_at: Instant

    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


def files_in(message: Message) -> tuple[FileId, ...]:
    """All that were attached to it, or given by a tool in it."""
    found: list[FileId] = []
    for part in message.parts:
        match part:
            case FilePart():
                found.append(part.file_id)
            case ToolPart() if part.files is not UNSET:
                found += [file.file_id for file in part.files]
            case _:
                pass
    return tuple(found)


def user_message(run: Run, *, of: RunId, expanded: str | None = None) -> Message:
    """The message that `run`'s prompt becomes, in the run `of` that answers it."""
    parts = input_parts(run.input, run.id)
    if expanded is not None:
        first = next((n for n, part in enumerate(parts) if isinstance(part, TextPart)), None)
        parts = tuple(
            replace(part, expanded=expanded) if n == first and isinstance(part, TextPart) else part
            for n, part in enumerate(parts)
        )
    return Message(
        id=MessageId(f"{_stem(run.id)}_u"),
        session_id=run.session_id,
        run_id=of,
        role="user",
        parts=parts,
        finish_reason="end_turn",
        created_at=run.accepted_at,
    )


def assistant_message(run: Run, *, of: RunId, now: Instant) -> Message:
    """The empty answer to `run`'s prompt, in the run `of` that answers it."""
    return Message(
        id=MessageId(f"{_stem(run.id)}_a"),
        session_id=run.session_id,
        run_id=of,
        role="assistant",
        created_at=now,
    )


def input_parts(given: Input, run_id: RunId) -> tuple[Part, ...]:
    items = [InputText(text=given)] if isinstance(given, str) else given
    stem = run_id.removeprefix("run_")
    return tuple(_part(item, PartId(f"prt_{stem}_u{n}")) for n, item in enumerate(items))


def parts_input(message: Message) -> Input:
    """The prompt that would make this user message again."""
    items: list[InputText | InputFile] = []
    for part in message.parts:
        match part:
            case TextPart():
                items.append(InputText(text=part.text))
            case FilePart():
                items.append(
                    InputFile(
                        file_id=part.file_id,
                        name=part.name,
                        media_type=part.media_type,
                        size=part.size,
                    )
                )
            case _:
                raise ValueError(f"a user message has no {type(part).__name__}")
    if len(items) == 1 and isinstance(items[0], InputText):
        return items[0].text
    return items


def after_part(message: Message, part_id: PartId) -> Message:
    """What the message says after this part."""
    ids = [part.id for part in message.parts]
    since = ids.index(part_id) + 1 if part_id in ids else 0
    return replace(message, parts=message.parts[since:])


def left_open(message: Message) -> tuple[ToolPart, ...]:
    """Its tool calls that are not finished."""
    return tuple(part for part in message.parts if isinstance(part, ToolPart) and part.unfinished)


def close_tools(message: Message, state: ToolState) -> Message:
    """The message with every unfinished tool call put into `state`."""
    closed: dict[PartId, Part] = {
        part.id: replace(part, state=state) for part in left_open(message)
    }
    return replace(message, parts=tuple(closed.get(part.id, part) for part in message.parts))


def _part(item: InputText | InputFile, part_id: PartId) -> Part:
    if isinstance(item, InputText):
        return TextPart(id=part_id, text=item.text)
    return FilePart(
        id=part_id,
        file_id=item.file_id,
        name=item.name,
        media_type=item.media_type,
        size=item.size,
    )


def _stem(run_id: RunId) -> str:
    # Derived, not drawn: settling the same run twice can never make a second message.
    return "msg_" + run_id.removeprefix("run_")
