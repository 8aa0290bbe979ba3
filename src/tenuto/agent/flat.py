"""A conversation without calls: what was called and what it gave, told in words.

Wires refuse calls and results in a request that offers no tools; words are taken everywhere.
"""

from collections.abc import Sequence

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


def without_calls(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The same turns, each call and each result as a text where it stood; thoughts are left out."""
    flat: list[Turn] = []
    for turn in turns:
        match turn:
            case AssistantTurn():
                blocks = tuple(
                    _told(block) for block in turn.blocks if not isinstance(block, Thought)
                )
                flat.append(AssistantTurn(blocks=blocks))
            case ToolTurn():
                words = f"[{turn.name} {'failed' if turn.failed else 'gave'}:]\n{turn.output}"
                _say(flat, TextBlock(text=words), *turn.images)
            case UserTurn():
                last = flat[-1] if flat else None
                if isinstance(last, UserTurn):
                    flat[-1] = UserTurn(blocks=last.blocks + turn.blocks)
                else:
                    flat.append(turn)
    return tuple(flat)


def _told(block: TextBlock | ToolCall) -> TextBlock:
    if isinstance(block, TextBlock):
        return block
    return TextBlock(text=f"[{block.name} was called with {block.arguments}]")


def _say(flat: list[Turn], *blocks: TextBlock | FileBlock) -> None:
    last = flat[-1] if flat else None
    if isinstance(last, UserTurn):
        flat[-1] = UserTurn(blocks=(*last.blocks, *blocks))
    else:
        flat.append(UserTurn(blocks=blocks))
