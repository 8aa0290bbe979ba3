"""The steward keeps what is set while the server runs, and sees that it counts at once."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.error import Forbidden, InvalidInput, NotFound
from tenuto.core.permission import Permission
from tenuto.core.provider import (
    PUBLIC_URLS,
    KeptProvider,
    ProviderKind,
    ProviderSource,
    same_server,
)
from tenuto.core.value import Value
from tenuto.engine.protect import finish
from tenuto.engine.toolbox import Rulebook
from tenuto.ports.model import Models
from tenuto.ports.preference import Drawer, Kept, Preferences
from tenuto.ports.provider import Embedded, Known, Providers, ProviderStanding, Tested
from tenuto.ports.tool import Tool

log = logging.getLogger(__name__)

MOST_PROVIDERS = 100
WRITE_SECONDS = 10.0
"""How long a change that is being written outlives a caller who hangs up."""
TRIED = "provider"
"""What one that is only tried is called."""
GIVEN = (ProviderSource.ENVIRONMENT, ProviderSource.FILE)
PREFERENCES = frozenset(Preferences.__struct_fields__)


class Wish(Value):
    """Preferences to change; None gives one back to the configuration, UNSET leaves it."""

    default_model: str | UnsetType | None = UNSET
    titles: bool | UnsetType | None = UNSET
    permission_default: Permission | UnsetType | None = UNSET
    permissions: dict[str, Permission | None] | UnsetType = UNSET
    """Only the tools that are named change."""


class ProviderDraft(Value):
    """A provider as it comes in."""

    name: str
    kind: ProviderKind | None = None
    """None: as it is known already."""
    base_url: str | None = None
    """None: as it is known already, else the kind's public address."""
    key: str | UnsetType | None = UNSET
    """UNSET: as it is known already; None: no key."""
    models: tuple[str, ...] = ()


class Steward:
    """Implements `Rules`."""

    def __init__(
        self,
        drawer: Drawer,
        providers: Providers,
        models: Models,
        tools: Mapping[str, Tool],
        *,
        configured: Preferences,
        fixed: Mapping[str, str],
        on_secret: Callable[[str], None] = lambda secret: None,
    ) -> None:
        self.tools = tools
        self.fixed = fixed
        """Preferences that cannot be changed, and what fixes each."""
        self._drawer = drawer
        self._providers = providers
        self._models = models
        self._configured = configured
        self._on_secret = on_secret
        self._kept = Kept()
        self._changing = asyncio.Lock()

    async def begin(self) -> None:
        """Take up what was kept."""
        self._kept = await self._drawer.read()
        for provider in self._kept.providers:
            self._on_secret(provider.key)
            self._providers.put(provider)
        self._providers.prefer(self.preferences.default_model)

    @property
    def preferences(self) -> Preferences:
        """As they count now."""
        kept = {
            name: value
            for name, value in msgspec.structs.asdict(self._kept).items()
            if value is not None and name in PREFERENCES and name not in self.fixed
        }
        return replace(self._configured, **kept)

    def permission(self, tool: Tool) -> Permission:
        now = self.preferences
        rules = Rulebook(default=now.permission_default, by_tool=now.permissions)
        return rules.permission(tool)

    async def change(self, wish: Wish) -> Preferences:
        """Keep these preferences; they count from the next step of every run."""
        wanted = {
            name: value
            for name, value in msgspec.structs.asdict(wish).items()
            if value is not UNSET
        }
        self._must_be_free(wanted)
        if isinstance(wish.default_model, str):
            await self._models.find(wish.default_model)
        async with self._changing:
            permissions = wanted.pop("permissions", {})
            merged = {**self._kept.permissions, **permissions}
            left = {tool: rule for tool, rule in merged.items() if rule is not None}
            await self._keep(replace(self._kept, **wanted, permissions=left))
        log.info("settings changed", extra={"settings": sorted({*wanted, *permissions})})
        return self.preferences

    async def standings(self) -> Sequence[ProviderStanding]:
        await self._models.list()
        return self._providers.standings()

    async def put_provider(self, draft: ProviderDraft) -> ProviderStanding:
        """Keep this provider and offer its models from now on."""
        known = self._providers.known(draft.name)
        if known is not None and known.source in GIVEN:
            raise Forbidden(_read_only(draft.name, known.source))
        async with self._changing:
            kept = self._kept.provider(draft.name)
            provider = _completed(draft, _known(kept) if kept else None)
            others = [p for p in self._kept.providers if p.name != provider.name]
            if len(others) >= MOST_PROVIDERS:
                raise InvalidInput(f"there can be at most {MOST_PROVIDERS} providers")
            self._on_secret(provider.key)
            # One that is there already keeps its place: the first one gives the default model.
            places = {p.name: p for p in self._kept.providers} | {provider.name: provider}
            await self._keep(replace(self._kept, providers=tuple(places.values())))
            self._providers.put(provider)
        log.info("provider set", extra={"provider": provider.name})
        await self._providers.refresh(provider.name)
        return next(s for s in await self.standings() if s.name == provider.name)

    async def remove_provider(self, name: str) -> None:
        """Forget a provider and its key."""
        async with self._changing:
            if self._kept.provider(name) is None:
                known = self._providers.known(name)
                if known is not None:
                    raise Forbidden(_read_only(name, known.source))
                raise NotFound(f"there is no provider {name}")
            left = tuple(p for p in self._kept.providers if p.name != name)
            default = self._kept.default_model
            if default is not None and default.startswith(f"{name}/"):
                default = None
            await self._keep(replace(self._kept, providers=left, default_model=default))
            self._providers.remove(name)
        log.info("provider removed", extra={"provider": name})
        await self._providers.refresh(name)

    async def test_provider(self, draft: ProviderDraft) -> Tested:
        """Try a provider as it would be, without keeping anything."""
        provider = _completed(replace(draft, name=TRIED), self._providers.known(draft.name))
        return await self._providers.test(provider)

    async def refresh(self) -> None:
        await self._providers.refresh()

    def embedded(self) -> Embedded:
        return self._providers.embedded()

    def _must_be_free(self, wanted: Mapping[str, Any]) -> None:
        now = self.preferences
        for name, value in wanted.items():
            if name in self.fixed and value != getattr(now, name):
                raise InvalidInput(
                    f"{name} is set by {self.fixed[name]} and cannot be changed here"
                )
        for tool in wanted.get("permissions", {}):
            if tool not in self.tools:
                raise InvalidInput(f"permissions: there is no tool {tool!r}")

    async def _keep(self, kept: Kept) -> None:
        # A caller who hangs up must not leave the file and us of two minds.
        await finish(self._write(kept), seconds=WRITE_SECONDS)

    async def _write(self, kept: Kept) -> None:
        await self._drawer.write(kept)
        self._kept = kept
        self._providers.prefer(self.preferences.default_model)


def _known(kept: KeptProvider) -> Known:
    return Known(
        kind=kept.kind, base_url=kept.base_url, key=kept.key, source=ProviderSource.SETTINGS
    )


def _completed(draft: ProviderDraft, known: Known | None) -> KeptProvider:
    """The draft with what it leaves out taken from the provider that is known."""
    kind = draft.kind or (known.kind if known else None)
    if kind is None:
        raise InvalidInput("kind: say which wire it speaks, openai or anthropic")
    base_url = (draft.base_url or "").strip().rstrip("/")
    if not base_url:
        base_url = known.base_url if known and known.kind is kind else PUBLIC_URLS[kind]
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
