"""Omissions: a request without what its model does not take."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from tenuto.agent.attachments.fitting import files_of, with_images
from tenuto.agent.flat import without_calls
from tenuto.core.message import Seal
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    ModelRequest,
    TextBlock,
    Thought,
    ToolTurn,
    Turn,
    UserTurn,
)

Place = tuple[str, ...]
"""Of a field in a request's body: its name, and those of what it is in before it."""

NO_FILE = "[The file {name} was left out: this model does not take it.]"


def files(request: ModelRequest) -> list[FileBlock]:
    """Images and documents: all others have become text."""
    return list(files_of(request))


def seals(request: ModelRequest) -> list[Seal]:
    turns = (turn for turn in request.turns if isinstance(turn, AssistantTurn))
    return [thought.seal for turn in turns for thought in turn.thoughts if thought.seal]


def without_tools(request: ModelRequest) -> ModelRequest:
    return replace(request, tools=(), turns=without_calls(request.turns))


def without_caching(request: ModelRequest) -> ModelRequest:
    return replace(request, cache_key="")


def without_files(
    request: ModelRequest, which: Callable[[FileBlock], bool] = lambda file: True
) -> ModelRequest:
    """A note in the place of each."""

    def told(block: TextBlock | FileBlock) -> TextBlock | FileBlock:
        if isinstance(block, FileBlock) and which(block):
            return TextBlock(text=NO_FILE.format(name=block.name))
        return block

    def left(turn: Turn) -> Turn:
        match turn:
            case UserTurn():
                return UserTurn(blocks=tuple(map(told, turn.blocks)))
            case ToolTurn() if turn.images:
                return with_images(turn, [told(image) for image in reversed(turn.images)])
            case _:
                return turn

    return replace(request, turns=tuple(map(left, request.turns)))


def without_thoughts(
    request: ModelRequest, which: Callable[[Thought], bool] = lambda thought: True
) -> ModelRequest:
    turns = (
        AssistantTurn(
            blocks=tuple(b for b in turn.blocks if not (isinstance(b, Thought) and which(b)))
        )
        if isinstance(turn, AssistantTurn)
        else turn
        for turn in request.turns
    )
    return replace(request, turns=tuple(turns))


def place_of(body: dict[str, Any], name: str) -> Place | None:
    """Where a refused field is, however its path was told; None if it is not there.

    What is told may name steps that the request does not have, and may leave out the first.
    """
    first, *rest = name.split(".")
    outer = (o for o, inner in body.items() if isinstance(inner, dict) and first in inner)
    place: Place = (first,) if first in body else next(((o, first) for o in outer), ())
    for step in rest:
        inner = value_at(body, place)
        # Without its type, the rest of a thing has no meaning.
        if isinstance(inner, dict) and step in inner and step != "type":
            place = (*place, step)
    return place or None


def value_at(body: Any, place: Place) -> Any:
    """None if there is none."""
    for name in place:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def remove(body: dict[str, Any], place: Place) -> None:
    """The field that is there, and what held nothing else."""
    *above, last = place
    for depth in range(len(above), -1, -1):
        holder = value_at(body, tuple(above[:depth]))
        del holder[last]
        if holder or not depth:
            return
        last = above[depth - 1]
