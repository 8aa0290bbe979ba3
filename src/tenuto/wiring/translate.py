"""Settings, as each part wants to be told them."""

from pathlib import Path

from msgspec.structs import replace

from tenuto import logs
from tenuto.agent.guides import Guides, skills_in
from tenuto.agent.loop import AgentLoop, RunLimits
from tenuto.agent.mcp.commands import ServerCommands
from tenuto.agent.mcp.lives import McpSettings
from tenuto.agent.mcp.servers import RemoteServers
from tenuto.agent.providers.catalogue import dataset
from tenuto.agent.providers.catalogue.catalogue import LOCAL, Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig, ProviderLimits
from tenuto.agent.surroundings import Surroundings, look_around
from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.hand import FileHand
from tenuto.agent.tools.files.vault import vault_at
from tenuto.agent.tools.files.witnesses import Witnesses
from tenuto.agent.tools.kinds import built_in_tools
from tenuto.agent.tools.processes.background import BackgroundCommands
from tenuto.agent.tools.processes.sandbox import Sandbox
from tenuto.agent.tools.processes.scratch import Scratch
from tenuto.agent.tools.search_web import SearchTools, SearchWeb, brave, searxng, tavily
from tenuto.agent.tools.settings import ToolSettings
from tenuto.agent.tools.skill import SkillTools
from tenuto.api.connection import ConnectionLimits
from tenuto.api.services import BodyLimits
from tenuto.config import ConfigError, ProviderSettings, Secret, Settings, cipher_key
from tenuto.config.search import SearchKind
from tenuto.config.settings import MEMORY_URL
from tenuto.core.error import StorageTrouble
from tenuto.core.permission import Permission
from tenuto.core.session import Workspace
from tenuto.core.value import Instant
from tenuto.engine.folders import Folders
from tenuto.engine.heart import safe_seconds
from tenuto.engine.kit import FixedTools, JoinedTools
from tenuto.engine.mcp import McpKeeper, McpShelf
from tenuto.engine.node import Node
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.rulebook import Rules
from tenuto.engine.saved import Saved
from tenuto.engine.settings import SettingsKeeper
from tenuto.engine.toolbox import Toolbox
from tenuto.ports.command import Commands, JoinedCommands
from tenuto.ports.job import JobRunner
from tenuto.ports.points import Points
from tenuto.ports.preference import Preferences
from tenuto.ports.store import Store
from tenuto.ports.tool import Tools
from tenuto.storage.cipher import AesCipher
from tenuto.storage.old_settings import OldSettings

OLD_SETTINGS = "settings.json"
LOOKING_THREADS = 4


def body_limits(settings: Settings) -> BodyLimits:
    limits = settings.limits
    return BodyLimits(max_body_bytes=limits.max_body_bytes, max_file_bytes=limits.max_file_bytes)


def connection_limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        head_seconds=settings.limits.head_seconds,
        body_seconds=settings.limits.body_seconds,
        unknown_connections=settings.limits.unknown_connections,
    )


def saved(settings: Settings, store: Store, points: Points) -> Saved:
    return Saved(store, AesCipher(lambda: _cipher_key(settings)), points=points)


async def take_over(settings: Settings, saved: Saved) -> None:
    """What an earlier version kept in a file goes to where everything is kept now."""
    if settings.database == MEMORY_URL:
        # Nothing lasts there: what does is not taken away for it.
        return
    file = OldSettings(settings.data / OLD_SETTINGS)
    old = await file.read()
    if old is None:
        return
    if await saved.inherit(old):
        await file.remove()
    else:
        await file.put_aside()


def folders(settings: Settings, node: str) -> Folders:
    if not settings.is_shared:
        return Folders()
    return Folders(node, settings.workspaces)


def sandbox(settings: Settings, node: str) -> Sandbox:
    """Closed are the data folder, a database elsewhere, and the file with the providers' keys."""
    data = settings.data.resolve()
    file = settings.sqlite_path
    beside = [Path(f"{file}{end}") for end in ("", "-wal", "-shm")] if file else []
    return Sandbox(
        settings.tools.sandbox,
        closed=(data, *beside, *([settings.config] if settings.config else [])),
        writable=settings.tools.writable,
        scratch=Scratch(data / "scratch" / node),
    )


def tools(
    settings: Settings,
    sandbox: Sandbox,
    witnesses: Witnesses,
    drafts: Drafts,
    servers: RemoteServers,
) -> Tools:
    """All that runs can use; who has more of them is one more source here."""
    given = replace(_tools(settings, sandbox, witnesses), drafts=drafts)
    built_in = built_in_tools(given)
    own = FixedTools(*built_in), SkillTools(guides(settings)), SearchTools(search(settings))
    return JoinedTools(*own, servers)


def job_runner(settings: Settings, sandbox: Sandbox, witnesses: Witnesses) -> JobRunner:
    return BackgroundCommands(_tools(settings, sandbox, witnesses))


def mcp_servers(
    settings: Settings, store: Store, sandbox: Sandbox, node: str, home: str
) -> RemoteServers:
    where = folders(settings, node)

    async def folder_of(workspace: Workspace) -> Path | None:
        return where.path(workspace) if await where.has(workspace) else None

    shelf = McpShelf(store, AesCipher(lambda: _cipher_key(settings)), store)
    given = McpSettings(
        patience=_patience(settings),
        home=home,
        output_characters=settings.tools.output_characters,
    )
    return RemoteServers(shelf, sandbox, folder_of, given)


def mcp(settings: Settings, saved: Saved, servers: RemoteServers, mask: logs.Mask) -> McpKeeper:
    return McpKeeper(
        saved,
        servers,
        configured=settings.mcp,
        on_secret=lambda secret: mask.learn(Secret(secret)),
    )


def search(settings: Settings) -> SearchWeb | None:
    """Who searches the web; None: nobody."""
    key = settings.search.api_key
    known = {
        SearchKind.SEARXNG: searxng,
        SearchKind.BRAVE: brave,
        SearchKind.TAVILY: tavily,
    }
    service = known.get(settings.search.kind)
    if service is None:
        return None
    return SearchWeb(service(settings.search.url), key.reveal() if key else "")


def guides(settings: Settings) -> Guides:
    return Guides(Threads(LOOKING_THREADS), settings.data)


def commands(settings: Settings, servers: RemoteServers) -> Commands:
    return JoinedCommands(guides(settings), ServerCommands(servers))


def hand(settings: Settings, drafts: Drafts) -> FileHand:
    return FileHand(Threads(LOOKING_THREADS), settings.data, drafts)


def preferences(
    settings: Settings, saved: Saved, models: Catalogue, tools: Tools
) -> SettingsKeeper:
    keys = {"model": "default_model", "titles": "titles", "permissions": "permission_default"}
    return SettingsKeeper(
        saved,
        models,
        models,
        tools,
        configured=Preferences(
            default_model=settings.model or None,
            titles=settings.titles,
            permission_default=Permission(settings.permissions),
        ),
        fixed={keys[key]: source for key, source in settings.fixed.items() if key in keys},
        rules=settings.rules,
    )


def providers(saved: Saved, models: Catalogue, mask: logs.Mask) -> ProviderKeeper:
    return ProviderKeeper(
        saved, models, models, on_secret=lambda secret: mask.learn(Secret(secret))
    )


def worker(
    settings: Settings, models: Catalogue, tools: Tools, rules: Rules, node: Node
) -> AgentLoop:
    toolbox = Toolbox(tools, rules, at_once=settings.tools.at_once, points=node.points)
    limits = RunLimits(
        steps=settings.limits.steps,
        loop_repeats=settings.limits.loop_repeats,
        cost_usd=settings.limits.cost_usd or None,
        run_characters=settings.limits.run_characters,
        calls=settings.limits.calls,
        retry_seconds=settings.limits.retry_seconds,
    )
    threads = Threads(LOOKING_THREADS)

    async def surroundings(folder: Path, now: Instant) -> Surroundings:
        vault = vault_at(settings.data)
        around = await threads.run(lambda errand: look_around(folder, now, vault))
        skills = await threads.run(lambda errand: skills_in(folder, settings.data))
        return replace(around, skills=tuple((one.name, one.about) for one in skills))

    return AgentLoop(
        models, toolbox, limits, node.clock, surroundings=surroundings, points=node.points
    )


def catalogue(settings: Settings) -> CatalogueConfig:
    limits = ProviderLimits(
        connect_seconds=settings.limits.connect_seconds,
        stall_seconds=settings.limits.stall_seconds,
    )
    return CatalogueConfig(
        providers=tuple(_provider(provider, limits) for provider in settings.providers),
        default_model=settings.model or None,
        small_model=settings.small_model or None,
        local=LOCAL if _discovers(settings) else (),
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


def _discovers(settings: Settings) -> bool:
    return not settings.is_shared if settings.discover is None else settings.discover


def _cipher_key(settings: Settings) -> bytes:
    try:
        return cipher_key(settings)
    except ConfigError as error:
        raise StorageTrouble(str(error)) from error


def _tools(settings: Settings, sandbox: Sandbox, witnesses: Witnesses) -> ToolSettings:
    return ToolSettings(
        output_characters=settings.tools.output_characters,
        shell_seconds=settings.tools.shell_seconds,
        allow_private_addresses=settings.tools.allow_private_addresses,
        data=settings.data,
        patience=_patience(settings),
        sandbox=sandbox,
        witnesses=witnesses,
    )


def _patience(settings: Settings) -> int:
    """Where others take over what a server does that stands still, its commands end by then."""
    return int(safe_seconds(settings.limits.lease_seconds)) if settings.is_shared else 0
