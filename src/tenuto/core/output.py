"""Outputs: what a tool or a job printed, kept whole beside the log, in pieces."""

from collections.abc import Iterable

from tenuto.core.value import Value

HEAD = 2_000_000
TAIL = 8_000_000
"""Characters that are kept of the beginning and of the end; all that is shorter is kept whole."""


class OutputPiece(Value):
    at: int
    """Characters of the whole output before it."""
    text: str


def joined(pieces: Iterable[OutputPiece]) -> str:
    """All that is kept, in order; what is missing in between is said."""
    texts: list[str] = []
    end = 0
    for piece in pieces:
        if piece.at > end:
            texts.append(f"\n[{piece.at - end:,} characters were not kept here]\n")
        texts.append(piece.text)
        end = piece.at + len(piece.text)
    return "".join(texts)
