"""What settings are kept in, and the providers that hear of them."""

import asyncio
from collections.abc import Sequence

from tenuto.core.error import ModelNotFound, StorageTrouble
from tenuto.core.provider import KeptProvider, ProviderSource
from tenuto.ports.model import Model
from tenuto.ports.preference import SavedSettings
from tenuto.ports.provider import Embedded, ProviderAccess, ProviderStanding, Tested


class MemorySettings:
    """A file in memory that can be full, and that a test can hold."""

    def __init__(self) -> None:
        self.content = SavedSettings()
        self.is_full = False
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.writing = asyncio.Event()

    async def read(self) -> SavedSettings:
        return self.content

    async def write(self, kept: SavedSettings) -> None:
        self.writing.set()
        await self.may_write.wait()
        if self.is_full:
            raise StorageTrouble("the disk is full")
        self.content = kept


class KnownModels:
    async def find(self, model_id: str | None) -> Model:
        if model_id != "lab/one":
            raise ModelNotFound(f"there is no model {model_id}")
        return Model(id="lab/one", name="one", provider="lab", context_window=1000)

    async def list(self) -> tuple[Sequence[Model], str | None]:
        return (), None


class OfferedProviders:
    """Remembers who is offered, and which model is preferred."""

    def __init__(self, *given: tuple[str, ProviderAccess]) -> None:
        self.offered: dict[str, KeptProvider] = {}
        self.preferred: list[str | None] = []
        self.tried: list[KeptProvider] = []
        self._given = dict(given)

    def put(self, provider: KeptProvider) -> None:
        self.offered[provider.name] = provider

    def remove(self, name: str) -> None:
        del self.offered[name]

    def prefer(self, model_id: str | None) -> None:
        self.preferred.append(model_id)

    def known(self, name: str) -> ProviderAccess | None:
        kept = self.offered.get(name)
        if kept is None:
            return self._given.get(name)
        return ProviderAccess(
            kind=kept.kind, base_url=kept.base_url, key=kept.key, source=ProviderSource.SETTINGS
        )

    def standings(self) -> Sequence[ProviderStanding]:
        return [
            ProviderStanding(
                name=provider.name,
                kind=provider.kind,
                base_url=provider.base_url,
                has_key=bool(provider.key),
                source=ProviderSource.SETTINGS,
                models=provider.models,
                offers=0,
                error=None,
            )
            for provider in self.offered.values()
        ]

    def embedded(self) -> Embedded:
        return Embedded(available=False, fetched=False)

    async def refresh(self, name: str | None = None) -> None:
        """Everyone is known already."""

    async def test(self, provider: KeptProvider) -> Tested:
        self.tried.append(provider)
        return Tested(ok=True)
