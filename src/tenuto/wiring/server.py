"""The server: its store, its engine and its socket, from the first to the last moment."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass

import click

from tenuto import logs
from tenuto.agent.providers.catalogue.catalogue import Catalogue
from tenuto.agent.titles import TitleMaker
from tenuto.api import sse
from tenuto.api.app import build_app
from tenuto.api.door import Door
from tenuto.api.guesses import Guesses
from tenuto.api.metrics import Metrics
from tenuto.api.server import Stopping, bind, run_server
from tenuto.api.services import Services
from tenuto.banner import FetchBar, banner, base_url
from tenuto.clock import RandomIds, SystemClock
from tenuto.config import Secret, Settings
from tenuto.core.error import NotFound
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.core.value import NodeId
from tenuto.engine.build import build_engine
from tenuto.engine.engine import Engine, Switchboard
from tenuto.engine.node import Node
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.settings import SettingsKeeper
from tenuto.ports.points import Points
from tenuto.ports.store import Store
from tenuto.storage.memory import MemoryStore
from tenuto.storage.sqlite import SqliteStore
from tenuto.wiring import translate

log = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600


async def run(
    settings: Settings,
    token: Secret,
    mask: logs.Mask,
    points: Points,
    *,
    on_ready: Callable[[], None],
) -> None:
    """Serve until told to stop."""
    stopping = Stopping()
    switchboard = Switchboard()
    store = _store(settings, switchboard, points)
    await store.open()
    models = Catalogue(translate.catalogue(settings), progress=FetchBar())
    try:
        with contextlib.closing(bind(settings.host, settings.port)) as listening:
            saved = translate.saved(settings, points)
            keepers = Keepers(
                settings=translate.preferences(settings, saved, models),
                providers=translate.providers(saved, models, mask),
            )
            await saved.begin()
            keepers.providers.begin()
            parts = build(settings, store, models, keepers, switchboard, points)
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
                await _stop(settings, parts.engine, stopping)

            def ready() -> None:
                on_ready()
                # Whoever chose the token knows it; one that was made is known only from here.
                shown = settings.token is None or sys.stdout.isatty()
                click.echo(banner(settings, url, token if shown else None))

            await run_server(
                build_app(parts.services, door, guesses, points=points),
                listening,
                limits=translate.connection_limits(settings),
                on_ready=ready,
                until=until,
            )
    finally:
        await models.close()
        await store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keepers:
    settings: SettingsKeeper
    providers: ProviderKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    engine: Engine
    services: Services


def build(
    settings: Settings,
    store: Store,
    models: Catalogue,
    keepers: Keepers,
    switchboard: Switchboard,
    points: Points,
) -> Parts:
    """The whole server but its socket."""
    clock, ids, metrics = SystemClock(), RandomIds(), Metrics()
    node = Node(id=NodeId(ids.new("node")), clock=clock, ids=ids, points=points)
    engine = build_engine(
        node,
        store,
        models,
        translate.worker(settings, models, keepers.settings, node),
        switchboard,
        maker=TitleMaker(store, models, clock, points=points),
        titles_wanted=lambda: keepers.settings.preferences.titles,
        frame=sse.frame,
        run_seconds=settings.limits.run_seconds,
        fold_after_seconds=settings.limits.fold_deltas_days * DAY_SECONDS,
    )
    switchboard.on_committed.append(metrics.committed)
    metrics.gauge("active_runs", "Runs under way.", lambda: len(engine.coordinator.active_runs()))
    metrics.gauge("viewers", "Open event streams.", engine.tailer.viewers)
    services = Services(
        engine=engine,
        seen_by=store.seen_by,
        check_storage=store.check,
        models=models,
        settings=keepers.settings,
        providers=keepers.providers,
        clock=clock,
        started_at=clock.now(),
        limits=translate.body_limits(settings),
        metrics=metrics,
    )
    return Parts(engine=engine, services=services)


async def _stop(settings: Settings, engine: Engine, stopping: Stopping) -> None:
    log.info("stopping: active runs get %s s to end", settings.drain)
    draining = asyncio.create_task(engine.drain(settings.drain))
    hurrying = asyncio.create_task(stopping.hurry())
    await asyncio.wait({draining, hurrying}, return_when=asyncio.FIRST_COMPLETED)
    hurrying.cancel()
    if not draining.done():
        draining.cancel()
        await engine.drain(0)
    await engine.stop()


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
