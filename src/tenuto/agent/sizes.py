"""How much a model is told, in bytes: the measure that suits all languages alike, nearly."""

from collections.abc import Sequence

import msgspec

from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    TextBlock,
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)

IMAGE = 6_400
"""One of the usual size is 1,600 tokens."""
LARGEST_FILE = 64 * 1024
"""More of a file is not told."""


def size_of(turns: Sequence[Turn], system: str = "", tools: Sequence[ToolSpec] = ()) -> int:
    said = length(system) + sum(map(size_of_turn, turns))
    return said + (len(msgspec.json.encode(tools)) if tools else 0)


def size_of_turn(turn: Turn) -> int:
    match turn:
        case UserTurn():
            return sum(map(_user_block, turn.blocks))
        case AssistantTurn():
            return sum(map(_assistant_block, turn.blocks))
        case ToolTurn():
            return length(turn.output) + IMAGE * len(turn.images)


def length(text: str) -> int:
    """Of its UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _user_block(block: TextBlock | FileBlock) -> int:
    if isinstance(block, TextBlock):
        return length(block.text)
    if block.media_type.startswith("image/"):
        return IMAGE
    return min(len(block.content), LARGEST_FILE)


def _assistant_block(block: TextBlock | Thought | ToolCall) -> int:
    match block:
        case TextBlock():
            return length(block.text)
        case Thought():
            # One without a seal is not sent.
            return length(block.text) + len(block.seal.data) if block.seal else 0
        case ToolCall():
            return length(block.arguments) + (len(block.seal.data) if block.seal else 0)
