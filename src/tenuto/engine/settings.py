"""Preferences that are set while the server runs, and count at once."""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.core.error import InvalidInput
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule
from tenuto.core.value import Value
from tenuto.engine.rulebook import Rulebook
from tenuto.engine.saved import Saved
from tenuto.ports.model import Models
from tenuto.ports.preference import Preferences, SavedSettings
from tenuto.ports.provider import Providers
from tenuto.ports.tool import Tool, Tools

log = logging.getLogger(__name__)

PREFERENCES = frozenset(Preferences.__struct_fields__)


class PreferenceChange(Value):
    """Preferences to change; None gives one back to the configuration, UNSET leaves it."""

    default_model: str | UnsetType | None = UNSET
    titles: bool | UnsetType | None = UNSET
    permission_default: Permission | UnsetType | None = UNSET
    permissions: dict[str, Permission | None] | UnsetType = UNSET
    """Only the tools that are named change."""


class SettingsKeeper:
    """Implements `Rules`."""

    def __init__(
        self,
        saved: Saved,
        providers: Providers,
        models: Models,
        tools: Tools,
        *,
        configured: Preferences,
        fixed: Mapping[str, str],
        rules: tuple[Rule, ...] = (),
    ) -> None:
        self._tools = tools
        self.fixed = fixed
        """Preferences that cannot be changed, and what fixes each."""
        self._saved = saved
        self._models = models
        self._configured = configured
        self._rules = rules
        saved.on_change.append(lambda: providers.prefer(self.preferences.default_model))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """All that can be set something for."""
        return {tool.spec.name: tool for tool in self._tools.known()}

    @property
    def preferences(self) -> Preferences:
        """As they count now."""
        return self._counting(self._saved.now)

    def _counting(self, saved: SavedSettings) -> Preferences:
        kept = {
            name: value
            for name, value in msgspec.structs.asdict(saved).items()
            if value is not None and name in PREFERENCES and name not in self.fixed
        }
        return replace(self._configured, **kept)

    def permission(self, tool: Tool) -> Permission:
        return self._book().permission(tool)

    def rules(self) -> tuple[Rule, ...]:
        return self._book().rules()

    def _book(self) -> Rulebook:
        now = self.preferences
        return Rulebook(
            default=now.permission_default, by_tool=now.permissions, written=self._rules
        )

    async def change(self, change: PreferenceChange) -> Preferences:
        """Keep these preferences; they count from the next step of every run."""
        wanted = {
            name: value
            for name, value in msgspec.structs.asdict(change).items()
            if value is not UNSET
        }
        self._must_be_free(wanted)
        if isinstance(change.default_model, str):
            await self._models.find(change.default_model)
        permissions = wanted.pop("permissions", {})

        def alter(saved: SavedSettings) -> SavedSettings:
            merged = {**saved.permissions, **permissions}
            left = {tool: rule for tool, rule in merged.items() if rule is not None}
            return replace(saved, **wanted, permissions=left)

        saved = await self._saved.change(alter)
        log.info("settings changed", extra={"settings": sorted({*wanted, *permissions})})
        # Not as they stand now: somebody else may have changed them since.
        return self._counting(saved)

    def _must_be_free(self, wanted: Mapping[str, Any]) -> None:
        now = self.preferences
        for name, value in wanted.items():
            if name in self.fixed and value != getattr(now, name):
                raise InvalidInput(
                    f"{name} is set by {self.fixed[name]} and cannot be changed here"
                )
        tools = self.tools
        for tool in wanted.get("permissions", {}):
            if tool not in tools:
                raise InvalidInput(f"permissions: there is no tool {tool!r}")
