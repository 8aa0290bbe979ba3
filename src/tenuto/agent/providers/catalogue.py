"""All providers as one: which models there are, and who answers for each."""

import asyncio
import difflib
import time
from collections.abc import Sequence
from pathlib import Path

import aiohttp

from tenuto.agent.providers.anthropic import AnthropicProvider
from tenuto.agent.providers.embedded import EmbeddedProvider
from tenuto.agent.providers.model_file import Progress
from tenuto.agent.providers.openai import OpenAIProvider
from tenuto.agent.providers.setting import Limits, ProviderConfig
from tenuto.core.error import ModelNotFound
from tenuto.core.value import Value
from tenuto.ports.model import Model, Provider, ProviderError

FRESH_SECONDS = 60.0
WAIT_SECONDS = 1.0
"""For a newer list, when there is one that is only old."""
PROBE = Limits(list_connect_seconds=0.3, list_seconds=2.0)

LOCAL = tuple(
    ProviderConfig(name=name, kind="openai", base_url=f"http://127.0.0.1:{port}/v1", limits=PROBE)
    for name, port in (("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080))
)
"""Where the usual local servers listen."""


class CatalogueConfig(Value):
    providers: tuple[ProviderConfig, ...] = ()
    default_model: str | None = None
    """None: the first model of the first provider."""
    local: tuple[ProviderConfig, ...] = LOCAL
    """Servers to look for; empty to look for none."""
    models_dir: Path
    """Where the embedded model's file is kept."""
    embedded: bool = True
    """Whether the embedded model answers when nobody else does."""
    embedded_idle_seconds: float = 600.0


class _Listing(Value):
    """What one provider offers."""

    models: tuple[Model, ...]
    complete: bool
    """False if the provider could not say: then it is trusted to know any name."""


class Catalogue:
    """Implements `Models`. A dead provider delays nobody beyond its listing's limit."""

    def __init__(
        self, config: CatalogueConfig, *, progress: Progress = lambda done, total: None
    ) -> None:
        self._config = config
        self._configured = {p.name: _provider(p) for p in config.providers}
        self._local = {p.name: _provider(p) for p in config.local if p.name not in self._configured}
        self._embedded = EmbeddedProvider(
            config.models_dir, idle_seconds=config.embedded_idle_seconds, progress=progress
        )
        self._listings: dict[str, _Listing] = {}
        self._listed_at: float | None = None
        self._refreshing: asyncio.Task[None] | None = None

    async def list(self) -> tuple[Sequence[Model], str | None]:
        if refreshing := self._refresh_if_old():
            # Without any list there is nothing to give; an old one is better than a long wait.
            wait = WAIT_SECONDS if self._listings else None
            await asyncio.wait({refreshing}, timeout=wait)
        models = self._offered()
        return models, self._default()

    async def find(self, model_id: str | None) -> Model:
        refreshing = self._refresh_if_old()
        if refreshing and not self._listings:
            await asyncio.shield(refreshing)
        if found := self._known(model_id or self._default()):
            return found
        await asyncio.shield(self._refresh())
        if found := self._known(model_id or self._default()):
            return found
        raise ModelNotFound(self._advice(model_id))

    def provider(self, model: Model) -> Provider:
        for providers in (self._configured, self._local):
            if model.provider in providers:
                return providers[model.provider]
        if model.provider == self._embedded.name:
            return self._embedded
        raise ModelNotFound(f"there is no provider {model.provider!r}")

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.wait({self._refreshing})
        for provider in (*self._configured.values(), *self._local.values(), self._embedded):
            await provider.close()

    def _offered(self) -> Sequence[Model]:
        return [model for listing in self._listings.values() for model in listing.models]

    def _default(self) -> str | None:
        return self._config.default_model or next((m.id for m in self._offered()), None)

    def _known(self, model_id: str | None) -> Model | None:
        """None if nobody offers it and nobody is trusted with it."""
        if model_id is None:
            return None
        for model in self._offered():
            if model.id == model_id:
                return model
        prefix, _, name = model_id.partition("/")
        trusted = prefix in self._listings and not self._listings[prefix].complete
        if not trusted or not name:
            return None
        return (self._configured | self._local)[prefix].describer.model(name)

    def _advice(self, model_id: str | None) -> str:
        wanted = model_id or self._config.default_model
        if wanted is None:
            return "no provider offers a model now: configure one, or start a local server"
        words = f"there is no model {wanted!r}"
        if model_id is None:
            words = f"the configured default model {wanted!r} does not exist"
        ids = [model.id for model in self._offered()]
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
        configured = [self._ask(provider) for provider in self._configured.values()]
        local = [self._look_for(provider) for provider in self._local.values()]
        answers = await asyncio.gather(*configured, *local)
        names = (*self._configured, *self._local)
        listings = {n: found for n, found in zip(names, answers, strict=True) if found is not None}
        if not listings and self._config.embedded:
            offered = tuple(await self._embedded.models())
            listings[self._embedded.name] = _Listing(models=offered, complete=True)
        self._listings = listings
        self._listed_at = time.monotonic()

    async def _ask(self, provider: OpenAIProvider | AnthropicProvider) -> _Listing:
        try:
            return _Listing(models=tuple(await provider.models()), complete=True)
        except ProviderError:
            before = self._listings.get(provider.name)
            models = before.models if before else tuple(provider.describer.set_by_hand())
            return _Listing(models=models, complete=False)

    async def _look_for(self, provider: OpenAIProvider | AnthropicProvider) -> _Listing | None:
        """None if nothing listens there, or something else does."""
        try:
            models = tuple(await provider.models())
        except ProviderError as error:
            # A local server that is only busy, with a model that fills the machine, is not gone.
            gone = isinstance(error.__cause__, aiohttp.ClientConnectorError)
            return None if gone else self._listings.get(provider.name)
        return _Listing(models=models, complete=True) if models else None


def _provider(config: ProviderConfig) -> OpenAIProvider | AnthropicProvider:
    kind = OpenAIProvider if config.kind == "openai" else AnthropicProvider
    return kind(
        config.name, config.base_url, config.api_key, limits=config.limits, models=config.models
    )
