"""All providers as one: which models there are, and who answers for each."""

import asyncio
import difflib
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.providers.catalogue.almanac import Almanac
from tenuto.agent.providers.catalogue.choice import cheapest, first_choice
from tenuto.agent.providers.catalogue.probe import probe
from tenuto.agent.providers.catalogue.refresh import Refresher
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.agent.providers.connection.line import Unreachable
from tenuto.agent.providers.embedded.model_file import ModelFile, Progress
from tenuto.agent.providers.embedded.own_file import OwnFile
from tenuto.agent.providers.embedded.provider import EmbeddedProvider
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.error import ModelNotFound
from tenuto.core.preset import PRESETS
from tenuto.core.provider import KeptProvider, ProviderSource, shown
from tenuto.core.value import Value
from tenuto.ports.model import Model, Provider, ProviderError
from tenuto.ports.provider import Embedded, ProviderAccess, ProviderStanding, Tested

log = logging.getLogger(__name__)

FRESH_SECONDS = 60.0
WAIT_SECONDS = 1.0
"""For a newer list, when there is one that is only old."""
COMPARED = 500
"""Names that a wrong one is compared with: it takes a while, and all others wait."""
LOCAL_SOURCE = ProviderSource.LOCAL
PROBE = ProviderLimits(list_connect_seconds=0.3, list_seconds=2.0)

LOCAL = tuple(
    ProviderConfig(name=preset.name, kind=preset.kind, base_url=preset.base_url, limits=PROBE)
    for preset in PRESETS
    if preset.name in ("ollama", "lmstudio", "llamacpp")
)
"""Where the usual local servers listen."""


class CatalogueConfig(Value):
    providers: tuple[ProviderConfig, ...] = ()
    default_model: str | None = None
    """None: one of the first provider's."""
    small_model: str | None = None
    """For titles and summaries. None: the cheapest of the provider that is asked."""
    local: tuple[ProviderConfig, ...] = LOCAL
    """Servers to look for; empty to look for none."""
    models_dir: Path
    """Where the embedded model's file is kept."""
    refresh_from: str = ""
    """Where what is known of models is fetched anew once a day; empty: never."""
    embedded: bool = True
    """Whether the embedded model answers when nobody else does."""
    embedded_file: Path | None = None
    """A model of one's own, which is offered beside others; None: the one that comes along."""
    embedded_window: int = 16_384
    embedded_idle_seconds: float = 600.0
    limits: ProviderLimits = ProviderLimits()
    """For the providers that come later."""


class _Entry:
    """A provider and how it is set."""

    def __init__(self, config: ProviderConfig, almanac: Almanac) -> None:
        self.config = config
        self.provider = HttpProvider(config, almanac.seller(config.base_url))


class _Listing(Value):
    """What one provider offers."""

    models: tuple[Model, ...]
    error: str | None = None
    """Why the provider could not say: then it is trusted to know any name."""


class Catalogue:
    """Implements `Models` and `Providers`. A dead provider delays nobody beyond its limit."""

    def __init__(
        self, config: CatalogueConfig, *, progress: Progress = lambda done, total: None
    ) -> None:
        self._config = config
        self._preferred = config.default_model
        self._almanac = Almanac(config.models_dir)
        self._refresher = Refresher(config.refresh_from, config.models_dir, self._almanac)
        self._configured = {p.name: self._entry(p) for p in config.providers}
        self._kept: dict[str, _Entry] = {}
        local = (replace(p, source=LOCAL_SOURCE) for p in config.local)
        self._local = {p.name: self._entry(p) for p in local}
        self._retired: list[_Entry] = []
        own = config.embedded_file
        self._embedded = EmbeddedProvider(
            OwnFile(own, window=config.embedded_window)
            if own
            else ModelFile(config.models_dir, progress=progress),
            idle_seconds=config.embedded_idle_seconds,
        )
        self._last_resort: Sequence[Model] = ()
        self._listings: dict[str, _Listing] = {}
        self._listed_at: float | None = None
        self._refreshing: asyncio.Task[None] | None = None

    async def list(self) -> tuple[Sequence[Model], str | None]:
        if refreshing := self._refresh_if_old():
            # Without any list there is nothing to give; an old one is better than a long wait.
            wait = None if self._listed_at is None else WAIT_SECONDS
            await asyncio.wait({refreshing}, timeout=wait)
        return self._offered(), self._default()

    async def find(self, model_id: str | None) -> Model:
        refreshing = self._refresh_if_old()
        if refreshing and self._listed_at is None:
            await asyncio.shield(refreshing)
        if found := self._known(model_id or self._default()):
            return found
        await asyncio.shield(self._refresh())
        if found := self._known(model_id or self._default()):
            return found
        raise ModelNotFound(self._advice(model_id))

    def small(self, model: Model) -> Model:
        wanted = self._config.small_model
        if wanted and (found := self._known(wanted)):
            return found
        return cheapest(self._offered(), model)

    def provider(self, model: Model) -> Provider:
        if entry := self._present().get(model.provider):
            return entry.provider
        if model.provider == self._embedded.name:
            return self._embedded
        raise ModelNotFound(f"there is no provider {model.provider!r}")

    async def close(self) -> None:
        await self._refresher.close()
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait({self._refreshing})
        groups = (self._configured.values(), self._kept.values(), self._local.values())
        for entry in (*(entry for group in groups for entry in group), *self._retired):
            await entry.provider.close()
        await self._embedded.close()

    def put(self, provider: KeptProvider) -> None:
        self._retire(provider.name)
        self._kept[provider.name] = self._entry(self._config_of(provider))

    def remove(self, name: str) -> None:
        self._retire(name)
        self._kept.pop(name, None)

    def _retire(self, name: str) -> None:
        if name in self._kept:
            # Not closed before the server is: a run may be in the middle of an answer of it, and
            # while nobody asks, it holds no connection for long.
            self._retired.append(self._kept[name])
        if name not in self._configured:
            self._listings.pop(name, None)

    def prefer(self, model_id: str | None) -> None:
        self._preferred = model_id

    def known(self, name: str) -> ProviderAccess | None:
        entry = self._present().get(name)
        if entry is None:
            return None
        config = entry.config
        if config.source is LOCAL_SOURCE and name not in self._listings:
            return None
        return ProviderAccess(
            kind=config.kind,
            base_url=shown(config.base_url),
            key=config.api_key,
            source=config.source,
        )

    def standings(self) -> Sequence[ProviderStanding]:
        return [
            self._standing(entry.config, self._listings.get(name))
            for name, entry in self._present().items()
            if entry.config.source is not LOCAL_SOURCE or name in self._listings
        ]

    async def refresh(self, name: str | None = None) -> None:
        if name is not None:
            await self._ask({n: e for n, e in self._present().items() if n == name})
            return
        if self._refreshing is not None:
            # That one may have asked before there was something new to hear.
            await asyncio.wait({self._refreshing})
        await asyncio.shield(self._refresh())

    async def test(self, provider: KeptProvider) -> Tested:
        config = self._config_of(provider)
        return await probe(config, self._almanac.seller(config.base_url))

    def embedded(self) -> Embedded:
        return Embedded(available=self._config.embedded, fetched=self._embedded.fetched)

    def _present(self) -> Mapping[str, _Entry]:
        """Every provider by its name; what is configured comes first, and wins."""
        return {**self._configured, **_rest(self._kept, self._configured)} | _rest(
            self._local, {**self._configured, **self._kept}
        )

    def _entry(self, config: ProviderConfig) -> _Entry:
        return _Entry(config, self._almanac)

    def _config_of(self, provider: KeptProvider) -> ProviderConfig:
        return ProviderConfig(
            name=provider.name,
            kind=provider.kind,
            base_url=provider.base_url,
            api_key=provider.key,
            models=tuple(ModelSetting(name=name) for name in provider.models),
            limits=self._config.limits,
            source=ProviderSource.SETTINGS,
        )

    def _standing(self, config: ProviderConfig, listing: _Listing | None) -> ProviderStanding:
        return ProviderStanding(
            name=config.name,
            kind=config.kind,
            base_url=shown(config.base_url),
            has_key=bool(config.api_key),
            source=config.source,
            models=tuple(model.name for model in config.models),
            offers=len(listing.models) if listing else 0,
            error=listing.error if listing else None,
        )

    def _offered(self) -> Sequence[Model]:
        listed = [self._listings[name] for name in self._present() if name in self._listings]
        models = [model for listing in listed for model in listing.models]
        if listed and self._config.embedded_file is None:
            return models
        return [*models, *self._last_resort]

    def _default(self) -> str | None:
        if self._preferred:
            return self._preferred
        chosen = first_choice(self._offered())
        return chosen.id if chosen else None

    def _known(self, model_id: str | None) -> Model | None:
        """None if nobody offers it and nobody is trusted with it."""
        if model_id is None:
            return None
        for model in self._offered():
            if model.id == model_id:
                return model
        prefix, _, name = model_id.partition("/")
        entry, listing = self._present().get(prefix), self._listings.get(prefix)
        if entry is None or listing is None or listing.error is None or not name:
            return None
        return entry.provider.describer.model(name)

    def _advice(self, model_id: str | None) -> str:
        wanted = model_id or self._preferred
        if wanted is None:
            return "no provider offers a model now: configure one, or start a local server"
        words = f"there is no model {wanted!r}"
        if model_id is None:
            words = f"the configured default model {wanted!r} does not exist"
        ids = [model.id for model in self._offered()][:COMPARED]
        if near := difflib.get_close_matches(wanted, ids, n=1, cutoff=0.3):
            return f"{words}; did you mean {near[0]!r}?"
        return f"{words}; there is {', '.join(ids[:5]) or 'none at all now'}"

    def _refresh_if_old(self) -> asyncio.Task[None] | None:
        """None if the list is fresh."""
        at = self._listed_at
        fresh = at is not None and time.monotonic() - at < FRESH_SECONDS
        return None if fresh else self._refresh()

    def _refresh(self) -> asyncio.Task[None]:
        """Ask everyone anew, once for all who wait."""
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._ask_everyone())
            self._refreshing.add_done_callback(self._refreshed)
        return self._refreshing

    def _refreshed(self, _: asyncio.Task[None]) -> None:
        self._refreshing = None

    async def _ask_everyone(self) -> None:
        if self._config.refresh_from:
            self._refresher.begin_if_due()
        if self._config.embedded:
            self._last_resort = await self._embedded.models()
        await self._ask(self._present())
        self._listed_at = time.monotonic()

    async def _ask(self, entries: Mapping[str, _Entry]) -> None:
        answers = await asyncio.gather(*(self._listing(entry) for entry in entries.values()))
        for (name, entry), listing in zip(entries.items(), answers, strict=True):
            if self._present().get(name) is not entry:
                continue  # It was changed or removed meanwhile.
            if listing is None:
                self._listings.pop(name, None)
            else:
                self._listings[name] = listing

    async def _listing(self, entry: _Entry) -> _Listing | None:
        """None for a local server that is not there."""
        before = self._listings.get(entry.config.name)
        local = entry.config.source is LOCAL_SOURCE
        try:
            models = tuple(await entry.provider.models())
        except ProviderError as error:
            if local:
                # One that is only busy, with a model that fills the machine, is not gone.
                gone = isinstance(error.__cause__, Unreachable)
                return None if gone else before
            return self._silent(entry, str(error))
        except Exception:
            # Our own mistake about one provider's list must not take the others away.
            log.exception("cannot read a list of models", extra={"provider": entry.config.name})
            return self._silent(entry, "its list of models cannot be read")
        return None if local and not models else _Listing(models=models)

    def _silent(self, entry: _Entry, error: str) -> _Listing:
        before = self._listings.get(entry.config.name)
        known = before.models if before else tuple(entry.provider.describer.set_by_hand())
        return _Listing(models=known, error=error)


def _rest(entries: Mapping[str, _Entry], taken: Mapping[str, _Entry]) -> dict[str, _Entry]:
    return {name: entry for name, entry in entries.items() if name not in taken}
