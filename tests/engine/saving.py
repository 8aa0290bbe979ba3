"""What settings are kept in, and the providers that hear of them."""

import asyncio
from collections.abc import Sequence

from tenuto.core.error import Conflict, ModelNotFound, StorageTrouble
from tenuto.core.provider import KeptProvider, ProviderSource
from tenuto.engine.saved import Saved
from tenuto.engine.settings_body import decoded, plain
from tenuto.ports.model import Model
from tenuto.ports.preference import SavedSettings
from tenuto.ports.provider import Embedded, ProviderAccess, ProviderStanding, Tested
from tenuto.ports.store import Keeping, KeptValue


class GlassCipher:
    """A cipher that everyone can see through, and that knows what it was put on."""

    def __init__(self, secret: str = "glass") -> None:
        self._secret = secret

    def encrypt(self, text: str, *, about: str) -> str:
        return f"{self._secret}|{about}|{text}"

    def decrypt(self, encrypted: str, *, about: str) -> str:
        secret, known, text = encrypted.split("|")
        if (secret, known) != (self._secret, about):
            raise StorageTrouble("encrypted with another secret")
        return text


class MemorySettings:
    """A store of kept values that can be full, and that a test can hold."""

    def __init__(self) -> None:
        self.body: bytes | None = None
        self.rev = 0
        self.is_full = False
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.writing = asyncio.Event()

    @property
    def content(self) -> SavedSettings:
        return decoded(plain(self.body), GlassCipher()) if self.body else SavedSettings()

    async def kept(self, name: str) -> KeptValue | None:
        assert name == "settings"
        return None if self.body is None else KeptValue(body=self.body, rev=self.rev)

    async def keep(self, name: str, body: bytes, *, rev: int) -> int:
        self.writing.set()
        await self.may_write.wait()
        if self.is_full:
            raise StorageTrouble("the disk is full")
        if rev != self.rev:
            raise Conflict("somebody was quicker")
        self.body, self.rev = body, rev + 1
        return self.rev


def saved_in(store: Keeping) -> Saved:
    return Saved(store, GlassCipher())


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
        self.refreshes = 0
        """Of everyone."""
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
        self.refreshes += name is None

    async def test(self, provider: KeptProvider) -> Tested:
        self.tried.append(provider)
        return Tested(ok=True)
