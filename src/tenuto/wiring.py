"""The one file that knows every class: it builds the server from its settings and runs it."""

import asyncio
import contextlib
import ctypes
import gc
import logging
import sys
from dataclasses import dataclass

import click
import uvloop

from tenuto import logs
from tenuto.agent.loop import AgentLoop, Limits
from tenuto.agent.providers.catalogue.catalogue import LOCAL, Catalogue, CatalogueConfig
from tenuto.agent.providers.catalogue.setting import Limits as ProviderLimits
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig
from tenuto.agent.titles import TitleMaker
from tenuto.agent.tools import ToolSettings, built_in_tools
from tenuto.api import sse
from tenuto.api.app import build_app
from tenuto.api.connection import ConnectionLimits
from tenuto.api.door import Door
from tenuto.api.guesses import Guesses
from tenuto.api.metrics import Metrics
from tenuto.api.server import Stopping, bind, run_server
from tenuto.api.services import BodyLimits, Services
from tenuto.banner import banner, base_url
from tenuto.clock import RandomIds, SystemClock
from tenuto.config import ConfigError, ProviderSettings, Secret, Settings, ensure_token
from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.permission import Permission
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.core.value import NodeId
from tenuto.engine.bell import Bell
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.engine import Engine, Switchboard
from tenuto.engine.inbox import Inbox
from tenuto.engine.janitor import Janitor
from tenuto.engine.librarian import Librarian
from tenuto.engine.panes import Panes
from tenuto.engine.referee import Referee
from tenuto.engine.rescuer import Rescuer
from tenuto.engine.steward import Steward
from tenuto.engine.stops import Stops
from tenuto.engine.tailer import Tailer
from tenuto.engine.titler import Titler
from tenuto.engine.toolbox import Toolbox
from tenuto.ports.points import NOWHERE, Points
from tenuto.ports.preference import Preferences
from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.settings_file import SettingsFile
from tenuto.storage.sqlite import SqliteStore

log = logging.getLogger(__name__)

CANNOT_START = 1
BAD_SETTINGS = 2
BAR_WIDTH = 30
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
SWITCH_SECONDS = 0.0005
DAY_SECONDS = 24 * 3600
SETTINGS_FILE = "settings.json"
COLLECT_AFTER = (10_000, 20, 50)
"""Objects, and rounds of the younger generation: nearly all of ours go without the collector."""


def serve(settings: Settings, *, points: Points = NOWHERE) -> int:
    """Run the server until it is told to stop; return the process's exit code."""
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = ensure_token(settings)
    except ConfigError as error:
        for line in error.lines:
            click.echo(f"tenuto: {line}", err=True)
        return BAD_SETTINGS
    except OSError as error:
        click.echo(f"tenuto: the data folder cannot be used: {error}", err=True)
        return CANNOT_START
    _hide_environment()
    _take_in_orphans()
    keys = [provider.api_key for provider in settings.providers if provider.api_key]
    mask = logs.configure(settings, [token, *keys])
    try:
        # The writer's thread hands each commit to the event loop and back; at the usual 5 ms a
        # busy loop would keep every token waiting that long.
        sys.setswitchinterval(SWITCH_SECONDS)
        uvloop.run(_serve(settings, token, mask, points))
    except StorageTrouble as trouble:
        click.echo(f"tenuto: {trouble}", err=True)
        return CANNOT_START
    except OSError as error:
        click.echo(
            f"tenuto: cannot listen on {settings.host}:{settings.port}: {error.strerror}", err=True
        )
        return CANNOT_START
    return 0


def _hide_environment() -> None:
    """Keep programs of the same user, such as an agent's shell, from reading our keys."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _take_in_orphans() -> None:
    """Let what a command started come to us if its runner is killed: then it can be found."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _settle_memory() -> None:
    """Spare the garbage collector what stays for ever: looking through it stops every stream."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


async def _serve(settings: Settings, token: Secret, mask: logs.Mask, points: Points) -> None:
    stopping = Stopping()
    switchboard = Switchboard()
    store = _store(settings, switchboard, points)
    await store.open()
    models = Catalogue(_catalogue(settings), progress=FetchBar())
    try:
        with contextlib.closing(bind(settings.host, settings.port)) as listening:
            steward = _steward(settings, models, mask, points)
            await steward.begin()
            parts = build(settings, store, models, steward, switchboard, points=points)
            await _ensure_default_workspace(settings, store)
            await parts.engine.start()
            door = Door(
                token=token.reveal(),
                host=settings.host,
                port=listening.getsockname()[1],
                allowed_hosts=settings.allowed_hosts,
                allowed_origins=settings.allowed_origins,
            )

            url = base_url(door.host, door.port)
            guesses = Guesses(most_per_minute=settings.limits.wrong_tokens)

            async def until() -> None:
                await stopping.asked()
                await _stop(settings, parts, stopping)

            def ready() -> None:
                _settle_memory()
                # Whoever chose the token knows it; one that was made is known only from here.
                shown = settings.token is None or sys.stdout.isatty()
                click.echo(banner(settings, url, token if shown else None))

            await run_server(
                build_app(parts.services, door, guesses, points=points),
                listening,
                limits=_connection_limits(settings),
                on_ready=ready,
                until=until,
            )
    finally:
        await models.close()
        await store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    engine: Engine
    services: Services
    titler: Titler


def build(
    settings: Settings,
    store: Store,
    models: Catalogue,
    steward: Steward,
    switchboard: Switchboard,
    *,
    points: Points = NOWHERE,
) -> Parts:
    """The whole server but its socket."""
    clock, ids, bell, metrics = SystemClock(), RandomIds(), Bell(), Metrics()
    node = NodeId(ids.new("node"))
    driver = Driver(
        store,
        _worker(settings, models, steward, clock, points),
        clock,
        ids,
        node=node,
        run_seconds=settings.limits.run_seconds,
        points=points,
    )
    coordinator = Coordinator(store, driver, clock, node=node)
    tailer = Tailer(store, bell, sse.frame)
    maker = TitleMaker(store, models, points=points)
    titler = Titler(
        store, maker, clock, wanted=lambda: steward.preferences.titles, node=node, points=points
    )
    driver.on_ended.append(titler.run_ended)
    switchboard.on_committed += [tailer.committed, metrics.committed]
    switchboard.on_changed.append(coordinator.changed)
    endings = Endings(store, bell, clock)
    engine = Engine(
        inbox=Inbox(store, models, endings, clock, ids, node=node),
        stops=Stops(store, coordinator, endings, clock, node=node),
        librarian=Librarian(store, models, coordinator, clock, ids, node=node),
        coordinator=coordinator,
        tailer=tailer,
        rescuer=Rescuer(store, coordinator, clock, node=node, points=points),
        janitor=_janitor(settings, store, clock, points),
    )
    metrics.gauge("active_runs", "Runs under way.", lambda: len(coordinator.active_runs()))
    metrics.gauge("viewers", "Open event streams.", tailer.viewers)
    services = Services(
        engine=engine,
        referee=Referee(store, models, clock, ids, node=node),
        panes=Panes(store, engine.inbox),
        store=store,
        models=models,
        steward=steward,
        clock=clock,
        ids=ids,
        started_at=clock.now(),
        limits=_body_limits(settings),
        metrics=metrics,
    )
    return Parts(engine=engine, services=services, titler=titler)


def _janitor(settings: Settings, store: Store, clock: SystemClock, points: Points) -> Janitor:
    after = settings.limits.fold_deltas_days * DAY_SECONDS
    return Janitor(store, clock, fold_after_seconds=after, points=points)


def _body_limits(settings: Settings) -> BodyLimits:
    limits = settings.limits
    return BodyLimits(max_body_bytes=limits.max_body_bytes, max_file_bytes=limits.max_file_bytes)


def _connection_limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        head_seconds=settings.limits.head_seconds,
        body_seconds=settings.limits.body_seconds,
        unknown_connections=settings.limits.unknown_connections,
    )


def _steward(settings: Settings, models: Catalogue, mask: logs.Mask, points: Points) -> Steward:
    keys = {"model": "default_model", "titles": "titles", "permissions": "permission_default"}
    return Steward(
        SettingsFile(settings.data / SETTINGS_FILE, points=points),
        models,
        models,
        {tool.spec.name: tool for tool in built_in_tools(_tools(settings))},
        configured=Preferences(
            default_model=settings.model or None,
            titles=settings.titles,
            permission_default=Permission(settings.permissions),
        ),
        fixed={keys[key]: source for key, source in settings.fixed.items() if key in keys},
        on_secret=lambda secret: mask.learn(Secret(secret)),
    )


def _worker(
    settings: Settings, models: Catalogue, steward: Steward, clock: SystemClock, points: Points
) -> AgentLoop:
    toolbox = Toolbox(steward.tools, steward, at_once=settings.tools.at_once, points=points)
    limits = Limits(
        steps=settings.limits.steps,
        loop_repeats=settings.limits.loop_repeats,
        cost_usd=settings.limits.cost_usd or None,
        run_characters=settings.limits.run_characters,
        calls=settings.limits.calls,
    )
    return AgentLoop(models, toolbox, limits, clock, points=points)


async def _stop(settings: Settings, parts: Parts, stopping: Stopping) -> None:
    log.info("stopping: active runs get %s s to end", settings.drain)
    draining = asyncio.create_task(parts.engine.drain(settings.drain))
    hurrying = asyncio.create_task(stopping.hurry())
    await asyncio.wait({draining, hurrying}, return_when=asyncio.FIRST_COMPLETED)
    hurrying.cancel()
    if not draining.done():
        draining.cancel()
        await parts.engine.drain(0)
    await parts.engine.stop()
    # Last: a run that ends while the engine stops may still ask for a title.
    await parts.titler.stop()


def _store(settings: Settings, switchboard: Switchboard, points: Points) -> Store:
    path = settings.sqlite_path
    if path is None:
        return MemoryStore(switchboard)
    return SqliteStore(path, switchboard, points=points)


async def _ensure_default_workspace(settings: Settings, store: Store) -> None:
    try:
        await store.workspace(DEFAULT_WORKSPACE)
    except NotFound:
        folder = settings.data.resolve() / "workspace"
        folder.mkdir(exist_ok=True)
        await store.put_workspace(
            Workspace(
                id=DEFAULT_WORKSPACE,
                name="Default",
                path=str(folder),
                created_at=SystemClock().now(),
            )
        )


def _catalogue(settings: Settings) -> CatalogueConfig:
    limits = ProviderLimits(
        connect_seconds=settings.limits.connect_seconds,
        stall_seconds=settings.limits.stall_seconds,
    )
    return CatalogueConfig(
        providers=tuple(_provider(provider, limits) for provider in settings.providers),
        default_model=settings.model or None,
        local=LOCAL if settings.discover else (),
        models_dir=settings.data / "models",
        embedded=settings.embedded.enabled,
        embedded_idle_seconds=settings.embedded.idle_seconds,
        limits=limits,
    )


def _provider(provider: ProviderSettings, limits: ProviderLimits) -> ProviderConfig:
    return ProviderConfig(
        name=provider.name,
        kind=provider.kind.value,
        base_url=provider.base_url,
        api_key=provider.api_key.reveal() if provider.api_key else "",
        models=tuple(
            ModelSetting(
                name=model.id,
                context_window=model.context_window,
                capabilities=tuple(model.capabilities) or None,
                price=model.price,
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


class FetchBar:
    """Shows how far the embedded model's file is: a bar on a terminal, a line elsewhere."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, done: int, total: int) -> None:
        if self._told:
            return
        self._told = done >= total
        if sys.stderr.isatty():
            filled = BAR_WIDTH * done // max(total, 1)
            bar = "#" * filled + "." * (BAR_WIDTH - filled)
            line = f"\rFetching the embedded model [{bar}] {done >> 20}/{total >> 20} MiB"
            click.echo(line, nl=self._told, err=True)
        elif self._told:
            log.info("the embedded model was fetched", extra={"bytes": total})
