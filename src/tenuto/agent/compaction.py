"""Compaction: where a summary may take the place of what came before, for the model only."""

from collections.abc import Sequence

from tenuto.agent.context import build_turns, step_of
from tenuto.agent.sizes import length, size_of
from tenuto.core.message import Message, Part, ReasoningPart, TextPart, ToolPart, after_part
from tenuto.core.value import PartId, Value


class Cut(Value):
    """What goes, and where it ends."""

    messages: tuple[Message, ...]
    """The last of them may be the beginning of one."""
    part: PartId | None = None
    """With which the last of them ends; None: with its end."""


def find_cut(messages: Sequence[Message], *, keep: int) -> Cut | None:
    """What to sum up so that about `keep` bytes are left; None if there is nothing to be gained.

    All before the last prompt if that is enough, else also a part of the answer that is under way.
    """
    if not messages:
        return None
    users = [n for n, message in enumerate(messages) if message.role == "user"]
    # An answer that is under way is never summed up whole: it goes on growing.
    last_prompt = users[-1] if users else len(messages) - 1
    before = Cut(messages=tuple(messages[:last_prompt])) if last_prompt else None
    if before and size_of(build_turns(messages[last_prompt:], {})) <= keep:
        return before
    if part := _part_before(messages[-1], keep):
        return Cut(messages=(*messages[:-1], _up_to(messages[-1], part)), part=part)
    return before


def _part_before(message: Message, keep: int) -> PartId | None:
    """The last part of the earliest step after which the rest is small enough."""
    ends = _ends_of_steps(message)
    found, rest, ending = (ends[-1] if ends else None), 0, frozenset(ends)
    for part in reversed(message.parts):
        if part.id in ending and rest <= keep:
            found = part.id
        rest += _size(part)
    return found


def _ends_of_steps(message: Message) -> list[PartId]:
    """Of all steps but the last: a model must see what its last calls gave."""
    steps = [step_of(part) for part in message.parts]
    return [
        part.id
        for n, part in enumerate(message.parts[:-1])
        if steps[n] != steps[n + 1] and message.role == "assistant"
    ]


def _size(part: Part) -> int:
    match part:
        case TextPart() | ReasoningPart():
            return length(part.text)
        case ToolPart():
            return length(part.input_text) + length(part.output or part.error or "")
        case _:
            return 0


def _up_to(message: Message, part_id: PartId) -> Message:
    kept = len(after_part(message, part_id).parts)
    return Message(
        id=message.id,
        session_id=message.session_id,
        run_id=message.run_id,
        role=message.role,
        parts=message.parts[: len(message.parts) - kept],
        created_at=message.created_at,
    )
