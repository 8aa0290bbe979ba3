"""Seals: how a wire keeps what a provider made for itself, and knows its own again."""

from typing import Any

import msgspec

from tenuto.agent.providers.connection.foreign import UNREADABLE
from tenuto.core.message import Seal
from tenuto.ports.model import Model

MOST_CHARACTERS = 256 * 1024
"""The longest known are a tenth of it."""


class Sealer:
    """Seals for one wire and one model."""

    def __init__(self, wire: str, model: Model) -> None:
        self._wire = wire
        self._model = model.id

    def seal(self, data: Any) -> Seal | None:
        """None if it is nothing, cannot be sent back, or is longer than any seal needs to be."""
        if not data:
            return None
        try:
            text = msgspec.json.encode(data).decode()
        except UNREADABLE:
            return None
        if len(text) > MOST_CHARACTERS:
            return None
        return Seal(wire=self._wire, model=self._model, data=text)

    def opened(self, seal: Seal | None) -> Any:
        """What is in it; None if it is not ours to open."""
        if seal is None or seal.wire != self._wire or seal.model != self._model:
            return None
        return msgspec.json.decode(seal.data)
