"""Providers that come and go while the server runs."""

from collections.abc import Sequence
from typing import Protocol

from tenuto.core.provider import KeptProvider, ProviderKind, ProviderSource
from tenuto.core.value import Value


class ProviderStanding(Value):
    """A provider, and how it stands now."""

    name: str
    kind: ProviderKind
    base_url: str
    has_key: bool
    source: ProviderSource
    models: tuple[str, ...]
    """The names that were set by hand."""
    offers: int
    """How many models can be asked for."""
    error: str | None
    """Why it could not list its models; None if it could, or has not been asked yet."""


class ProviderAccess(Value):
    """How a provider is reached, its key included. Never shown."""

    kind: ProviderKind
    base_url: str
    key: str
    source: ProviderSource

    def __repr__(self) -> str:
        return f"ProviderAccess(base_url={self.base_url!r})"


class Tested(Value):
    """What a provider said when it was tried."""

    ok: bool
    models: tuple[str, ...] = ()
    error: str | None = None
    """Why not, for people; None if it is well."""


class Embedded(Value):
    """The model that comes with the server."""

    available: bool
    """Whether it answers when there is no other."""
    fetched: bool
    """Whether its file is here; else the first answer waits for it."""


class Providers(Protocol):
    """All providers, and those among them that can be changed."""

    def put(self, provider: KeptProvider) -> None:
        """Add it, or put it in the place of the one of its name. Runs under way keep theirs."""

    def remove(self, name: str) -> None:
        """Offer its models no more. Runs under way keep it to their end."""

    def prefer(self, model_id: str | None) -> None:
        """The default model from now on; None: the best of what there is."""

    def known(self, name: str) -> ProviderAccess | None:
        """This provider, wherever it comes from."""

    def standings(self) -> Sequence[ProviderStanding]: ...

    def embedded(self) -> Embedded: ...

    async def refresh(self, name: str | None = None) -> None:
        """Ask this provider (if there is one), or everyone, for its models; wait for the answer."""

    async def test(self, provider: KeptProvider) -> Tested:
        """Try it, without keeping anything of it. Takes a bounded time."""
