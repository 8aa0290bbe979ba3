"""The channels of an answer: text, thoughts, and each call's arguments."""

from typing import Any

from tenuto.agent.providers.connection.split import Seam
from tenuto.ports.model import CallPiece, Piece, ReasoningPiece, TextPiece

TEXT, THOUGHT = "text", "reasoning"
Channel = str | int
"""One of the two, or the index of a call."""


class Channels:
    """Makes pieces of what is said; a character that was split is joined within its channel."""

    def __init__(self) -> None:
        self.odd = False
        """What is said now may hold half a character."""
        self._seams: dict[Channel, Seam] = {}

    def say(self, channel: Channel, text: Any, pieces: list[Piece]) -> None:
        """What is no text says nothing."""
        if not isinstance(text, str):
            return
        if text and (self.odd or channel in self._seams):
            text = self._seams.setdefault(channel, Seam()).join(text)
        if text:
            pieces.append(_piece(channel, text))

    def close(self, channel: Channel, pieces: list[Piece]) -> None:
        """Nothing more comes of it: half a character that is left over is shown as such."""
        if (seam := self._seams.pop(channel, None)) and (left := seam.end()):
            pieces.append(_piece(channel, left))

    def close_all(self, pieces: list[Piece]) -> None:
        for channel in tuple(self._seams):
            self.close(channel, pieces)


def _piece(channel: Channel, text: str) -> Piece:
    if channel == TEXT:
        return TextPiece(text=text)
    if channel == THOUGHT:
        return ReasoningPiece(text=text)
    assert isinstance(channel, int)
    return CallPiece(index=channel, text=text)
