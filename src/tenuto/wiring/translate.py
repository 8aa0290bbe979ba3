"""Settings, as each part wants to be told them."""

from tenuto import logs
from tenuto.agent.loop import AgentLoop, RunLimits
from tenuto.agent.providers.catalogue import dataset
from tenuto.agent.providers.catalogue.catalogue import LOCAL, Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.agent.tools import ToolSettings, built_in_tools
from tenuto.api.connection import ConnectionLimits
from tenuto.api.services import BodyLimits
from tenuto.config import ProviderSettings, Secret, Settings
from tenuto.core.permission import Permission
from tenuto.engine.node import Node
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.saved import Saved
from tenuto.engine.settings import SettingsKeeper
from tenuto.engine.toolbox import Toolbox
from tenuto.ports.points import Points
from tenuto.ports.preference import Preferences
from tenuto.storage.settings_file import SettingsFile

SETTINGS_FILE = "settings.json"


def body_limits(settings: Settings) -> BodyLimits:
    limits = settings.limits
    return BodyLimits(max_body_bytes=limits.max_body_bytes, max_file_bytes=limits.max_file_bytes)


def connection_limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        head_seconds=settings.limits.head_seconds,
        body_seconds=settings.limits.body_seconds,
        unknown_connections=settings.limits.unknown_connections,
    )


def saved(settings: Settings, points: Points) -> Saved:
    return Saved(SettingsFile(settings.data / SETTINGS_FILE, points=points))


def preferences(settings: Settings, saved: Saved, models: Catalogue) -> SettingsKeeper:
    keys = {"model": "default_model", "titles": "titles", "permissions": "permission_default"}
    return SettingsKeeper(
        saved,
        models,
        models,
        {tool.spec.name: tool for tool in built_in_tools(_tools(settings))},
        configured=Preferences(
            default_model=settings.model or None,
            titles=settings.titles,
            permission_default=Permission(settings.permissions),
        ),
        fixed={keys[key]: source for key, source in settings.fixed.items() if key in keys},
    )


def providers(saved: Saved, models: Catalogue, mask: logs.Mask) -> ProviderKeeper:
    return ProviderKeeper(
        saved, models, models, on_secret=lambda secret: mask.learn(Secret(secret))
    )


def worker(settings: Settings, models: Catalogue, keeper: SettingsKeeper, node: Node) -> AgentLoop:
    at_once = settings.tools.at_once
    toolbox = Toolbox(keeper.tools, keeper, at_once=at_once, points=node.points)
    limits = RunLimits(
        steps=settings.limits.steps,
        loop_repeats=settings.limits.loop_repeats,
        cost_usd=settings.limits.cost_usd or None,
        run_characters=settings.limits.run_characters,
        calls=settings.limits.calls,
        retry_seconds=settings.limits.retry_seconds,
    )
    return AgentLoop(models, toolbox, limits, node.clock, points=node.points)


def catalogue(settings: Settings) -> CatalogueConfig:
    limits = ProviderLimits(
        connect_seconds=settings.limits.connect_seconds,
        stall_seconds=settings.limits.stall_seconds,
    )
    return CatalogueConfig(
        providers=tuple(_provider(provider, limits) for provider in settings.providers),
        default_model=settings.model or None,
        small_model=settings.small_model or None,
        local=LOCAL if settings.discover else (),
        models_dir=settings.data / "models",
        refresh_from=dataset.ADDRESS if settings.refresh_models else "",
        embedded=settings.embedded.enabled,
        embedded_file=settings.embedded.file,
        embedded_window=settings.embedded.window,
        embedded_idle_seconds=settings.embedded.idle_seconds,
        limits=limits,
    )


def _provider(provider: ProviderSettings, limits: ProviderLimits) -> ProviderConfig:
    return ProviderConfig(
        name=provider.name,
        kind=provider.kind,
        base_url=provider.base_url,
        api_key=provider.api_key.reveal() if provider.api_key else "",
        headers={name: value.reveal() for name, value in provider.headers.items()},
        models=tuple(
            ModelSetting(
                name=model.id,
                context_window=model.context_window,
                capabilities=tuple(model.capabilities) or None,
                price=model.price,
                max_output=model.max_output,
                efforts=model.efforts,
            )
            for model in provider.models
        ),
        limits=limits,
        source=provider.source,
    )


def _tools(settings: Settings) -> ToolSettings:
    return ToolSettings(
        output_characters=settings.tools.output_characters,
        shell_seconds=settings.tools.shell_seconds,
        allow_private_addresses=settings.tools.allow_private_addresses,
        data=settings.data,
    )
