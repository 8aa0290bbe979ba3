"""A wire: what a kind of provider is asked, and how its answers are understood."""

from collections.abc import Mapping
from typing import Any, Protocol

from tenuto.agent.attachments.fitting import FileLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.ports.model import Model, ModelRequest


class Wire(Protocol):
    """Knows the words of one kind, and nothing of connections. It keeps no state."""

    name: str
    """What its seals are known by."""
    listing: str
    """Where the models are listed."""
    asking: str
    """Where a model is asked."""
    least: Mapping[str, Any]
    """Fields that no request can do without, with what every model takes in them."""

    limits: FileLimits
    """What it takes of files; no others are in the requests that it gets."""

    def root(self, base_url: str) -> str:
        """What those paths are added to."""

    def headers(self, key: str) -> Mapping[str, str]:
        """What every request carries; the key may be empty."""

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        """The request, as this kind wants it said to this model."""

    def answer(self, border: Border, model: Model) -> Reply:
        """What will understand one answer of this model."""


NOTHING: Mapping[str, Any] = {}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
