"""Old results of tools make room, in steps: what a provider has kept stays the same meanwhile."""

from collections.abc import Sequence

from msgspec.structs import replace

from tenuto.agent.sizes import length, size_of, size_of_turn
from tenuto.ports.model import AssistantTurn, FileBlock, TextBlock, ToolTurn, Turn, UserTurn

CLEARED = (
    "[… the rest of this result was cleared to save space; call the tool again if you need it]"
)
CUT = "[… the middle of this text was left out to save space]"
KEPT_OF_CLEARED = 200
FULL = 0.6
"""How much of the window may be used before old results are cleared."""
NEWEST = 0.25
NEWEST_BYTES = 160_000
"""Results that are not cleared: the newest of this size, or this share of the window."""
LEAST_GAIN = 0.1
"""Of the window: what must come between two clearings."""
LONG_TEXT = 6_000
HEAD, TAIL = 3_000, 1_000


def clear_old(turns: Sequence[Turn], *, window: int) -> tuple[Turn, ...]:
    """The turns with old results cleared, as one would have who came by them one after another.

    So what was cleared depends only on what came before, and the next request begins alike.
    """
    told = list(turns)
    total = cleared = 0
    full = FULL * window
    for n, turn in enumerate(turns):
        total += size_of_turn(turn)
        if total <= full:
            continue
        until = _before_newest(told, n, min(NEWEST_BYTES, int(NEWEST * window)))
        for old in range(cleared, until):
            short = _cleared(told[old])
            total -= size_of_turn(told[old]) - size_of_turn(short)
            told[old] = short
        cleared = max(cleared, until)
        full = max(FULL * window, total + LEAST_GAIN * window)
    return tuple(told)


def squeeze(turns: tuple[Turn, ...], *, to: int) -> tuple[Turn, ...]:
    """The last resort: results, files, then long texts, the oldest first, until the rest fits."""
    excess = size_of(turns) - to
    if excess <= 0:
        return turns
    for make_short in (_cleared, _without_files, _cut):
        told: list[Turn] = []
        for turn in turns:
            short = make_short(turn) if excess > 0 else turn
            if short is not turn:
                excess -= size_of_turn(turn) - size_of_turn(short)
            told.append(short)
        turns = tuple(told)
    return turns


def _before_newest(turns: Sequence[Turn], last: int, most: int) -> int:
    """The index from which on the turns up to `last` are the newest."""
    newest = 0
    for n in range(last, -1, -1):
        newest += size_of_turn(turns[n])
        if newest > most:
            return n + 1 if n < last else n
    return 0


def _cleared(turn: Turn) -> Turn:
    if not isinstance(turn, ToolTurn):
        return turn
    if len(turn.output) <= 2 * KEPT_OF_CLEARED and not turn.images:
        return turn
    return replace(turn, output=f"{turn.output[:KEPT_OF_CLEARED]}\n{CLEARED}", images=())


def _without_files(turn: Turn) -> Turn:
    if not isinstance(turn, UserTurn):
        return turn
    blocks = tuple(_noted(b) if isinstance(b, FileBlock) else b for b in turn.blocks)
    return turn if blocks == turn.blocks else UserTurn(blocks=blocks)


def _noted(file: FileBlock) -> TextBlock:
    way = f"; read_file with path file:{file.id} reads it" if file.id else ""
    return TextBlock(text=f"[The file {file.name} was left out to save space{way}.]")


def _cut(turn: Turn) -> Turn:
    if isinstance(turn, ToolTurn):
        return turn
    blocks = tuple(_cut_block(b) if isinstance(b, TextBlock) else b for b in turn.blocks)
    # What a model has sealed must stay as it was.
    sealed = isinstance(turn, AssistantTurn) and any(thought.seal for thought in turn.thoughts)
    if sealed or blocks == turn.blocks:
        return turn
    return replace(turn, blocks=blocks)


def _cut_block(block: TextBlock) -> TextBlock:
    if length(block.text) <= LONG_TEXT:
        return block
    return TextBlock(text=f"{block.text[:HEAD]}\n{CUT}\n{block.text[-TAIL:]}")
