"""Providers that are added and removed while the server runs."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.error import Forbidden, InvalidInput, NotFound
from tenuto.core.preset import Preset, preset_for
from tenuto.core.provider import (
    PUBLIC_URLS,
    KeptProvider,
    ProviderKind,
    ProviderSource,
    same_server,
)
from tenuto.core.value import Value
from tenuto.engine.saved import Saved
from tenuto.ports.model import Models
from tenuto.ports.preference import SavedSettings
from tenuto.ports.provider import Embedded, ProviderAccess, Providers, ProviderStanding, Tested

log = logging.getLogger(__name__)

MOST_PROVIDERS = 100
TRIED = "provider"
"""What one that is only tried is called."""
KINDS = ", ".join(ProviderKind)
GIVEN = (ProviderSource.ENVIRONMENT, ProviderSource.FILE)


class ProviderDraft(Value):
    """A provider as it comes in."""

    name: str
    kind: ProviderKind | None = None
    """None: as it is known already, else as the preset of its name."""
    base_url: str | None = None
    """None: as it is known already, else the preset's, else the kind's public address."""
    key: str | UnsetType | None = UNSET
    """UNSET: as it is known already; None: no key."""
    models: tuple[str, ...] = ()


class ProviderKeeper:
    def __init__(
        self,
        saved: Saved,
        providers: Providers,
        models: Models,
        *,
        on_secret: Callable[[str], None] = lambda secret: None,
    ) -> None:
        self._saved = saved
        self._providers = providers
        self._models = models
        self._on_secret = on_secret
        self._offered: dict[str, KeptProvider] = {}
        self._unasked = False
        """Whether there are some whose models nobody has asked for."""
        self._asking: asyncio.Task[None] | None = None
        saved.on_change.append(self._follow)
        saved.on_heard.append(self._ask)

    async def standings(self) -> Sequence[ProviderStanding]:
        await self._models.list()
        return self._providers.standings()

    async def put(self, draft: ProviderDraft) -> ProviderStanding:
        """Keep this provider and offer its models from now on."""
        known = self._providers.known(draft.name)
        if known is not None and known.source in GIVEN:
            raise Forbidden(_read_only(draft.name, known.source))
        await self._saved.change(lambda saved: self._with(saved, draft))
        log.info("provider set", extra={"provider": draft.name})
        await self._providers.refresh(draft.name)
        standing = next((s for s in await self.standings() if s.name == draft.name), None)
        if standing is None:
            raise NotFound(f"{draft.name} was removed meanwhile")
        return standing

    async def remove(self, name: str) -> None:
        """Forget a provider and its key."""
        await self._saved.change(lambda saved: self._without(saved, name))
        log.info("provider removed", extra={"provider": name})
        await self._providers.refresh(name)

    async def test(self, draft: ProviderDraft) -> Tested:
        """Try a provider as it would be, without keeping anything."""
        known, preset = self._providers.known(draft.name), preset_for(draft.name)
        provider = _completed(replace(draft, name=TRIED), known, preset)
        return await self._providers.test(provider)

    async def refresh(self) -> None:
        await self._providers.refresh()

    def embedded(self) -> Embedded:
        return self._providers.embedded()

    def _with(self, saved: SavedSettings, draft: ProviderDraft) -> SavedSettings:
        kept = saved.provider(draft.name)
        provider = _completed(draft, _access(kept) if kept else None, preset_for(draft.name))
        if kept is None and len(saved.providers) >= MOST_PROVIDERS:
            raise InvalidInput(f"there can be at most {MOST_PROVIDERS} providers")
        self._on_secret(provider.key)
        # One that is there already keeps its place: the first one gives the default model.
        places = {p.name: p for p in saved.providers} | {provider.name: provider}
        return replace(saved, providers=tuple(places.values()))

    def _without(self, saved: SavedSettings, name: str) -> SavedSettings:
        if saved.provider(name) is None:
            known = self._providers.known(name)
            if known is not None:
                raise Forbidden(_read_only(name, known.source))
            raise NotFound(f"there is no provider {name}")
        left = tuple(p for p in saved.providers if p.name != name)
        default = saved.default_model
        if default is not None and default.startswith(f"{name}/"):
            default = None
        return replace(saved, providers=left, default_model=default)

    def _follow(self) -> None:
        """Offer those that are kept now, whichever node they were added on, and no others."""
        now = {provider.name: provider for provider in self._saved.now.providers}
        for name in self._offered.keys() - now.keys():
            self._providers.remove(name)
        for name, provider in now.items():
            if self._offered.get(name) != provider:
                self._on_secret(provider.key)
                self._providers.put(provider)
        self._unasked = self._offered != now
        self._offered = now

    def _ask(self) -> None:
        """Nobody here asked for it, so nobody waits for what they offer."""
        if self._unasked:
            self._asking = asyncio.create_task(self._providers.refresh(), name="models")


def _access(kept: KeptProvider) -> ProviderAccess:
    return ProviderAccess(
        kind=kept.kind, base_url=kept.base_url, key=kept.key, source=ProviderSource.SETTINGS
    )


def _completed(
    draft: ProviderDraft, known: ProviderAccess | None, preset: Preset | None
) -> KeptProvider:
    """The draft with what it leaves out taken from the provider that is known, or the preset."""
    like = known or preset
    kind = draft.kind or (like.kind if like else None)
    if kind is None:
        raise InvalidInput(f"kind: say which wire it speaks, one of {', '.join(ProviderKind)}")
    base_url = (draft.base_url or "").strip().rstrip("/")
    if not base_url:
        base_url = like.base_url if like and like.kind is kind else PUBLIC_URLS[kind]
    made = KeptProvider(name=draft.name, kind=kind, base_url=base_url, models=draft.models)
    if draft.key is not UNSET:
        return replace(made, key=(draft.key or "").strip())
    if known is None or not known.key:
        return made
    # A key belongs to an address: it is not sent to another without being given again.
    if known.kind is not kind or not same_server(known.base_url, base_url):
        raise InvalidInput("key: give the key again, because the address has changed")
    return replace(made, key=known.key)


def _read_only(name: str, source: ProviderSource) -> str:
    words = {
        ProviderSource.ENVIRONMENT: "comes from the environment that the server was started in",
        ProviderSource.FILE: "is written in tenuto.toml",
        ProviderSource.LOCAL: "was found on this machine",
        ProviderSource.SETTINGS: "is kept here",
    }
    return f"{name} {words[source]} and cannot be changed here"
