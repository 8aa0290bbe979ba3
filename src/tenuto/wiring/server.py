"""The server: its store, its engine and its socket, from the first to the last moment."""

import asyncio
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio.to_thread
import click

from tenuto import __version__, logs
from tenuto.agent.providers.catalogue.catalogue import Catalogue
from tenuto.agent.titles import TitleMaker
from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.witnesses import Witnesses
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
from tenuto.core.sandbox import Sandboxing
from tenuto.core.value import NodeId
from tenuto.engine.agreed_clock import AgreedClock
from tenuto.engine.build import build_engine
from tenuto.engine.engine import Engine, Switchboard
from tenuto.engine.mcp import McpKeeper
from tenuto.engine.node import Node
from tenuto.engine.providers import ProviderKeeper
from tenuto.engine.saved import SETTINGS
from tenuto.engine.settings import SettingsKeeper
from tenuto.ports.command import Commands
from tenuto.ports.job import JobRunner
from tenuto.ports.points import Points
from tenuto.ports.store import Store
from tenuto.ports.tool import Tools
from tenuto.wiring import translate
from tenuto.wiring.first_workspace import ensure_default_workspace
from tenuto.wiring.storage import must_be_whole, open_store, shared_token

log = logging.getLogger(__name__)

DAY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What a server is given by the process that it is in."""

    name: str
    """Of this node."""
    token: Secret | None
    """None: it is in the store."""
    mask: logs.Mask
    points: Points
    listening: socket.socket | None
    """A socket that others listen on too; None: its own, bound when it is wanted."""
    is_told: bool
    """Whether the address is to be printed."""
    on_ready: Callable[[str], None]
    """Told the address once it answers."""


async def run(settings: Settings, process: Process) -> None:
    """Serve until told to stop."""
    stopping = Stopping()
    switchboard = Switchboard()
    store = open_store(settings, switchboard, process.name, process.points)
    await store.open()
    models = Catalogue(translate.catalogue(settings), progress=FetchBar())
    sandbox = translate.sandbox(settings, process.name)
    witnesses = Witnesses(settings.data)
    drafts = Drafts(settings.data, process.points)
    try:
        await must_be_whole(store)
        token = process.token or await shared_token(settings, store)
        process.mask.learn(token)
        with process.listening or bind(settings.host, settings.port) as listening:
            saved = translate.saved(settings, store, process.points)
            home = base_url(settings.host, listening.getsockname()[1])
            servers = translate.mcp_servers(settings, store, sandbox, process.name, home)
            tools = translate.tools(settings, sandbox, witnesses, drafts, servers)
            keepers = Keepers(
                tools=tools,
                commands=translate.commands(settings, servers),
                job_runner=translate.job_runner(settings, sandbox, witnesses),
                settings=translate.preferences(settings, saved, models, tools),
                providers=translate.providers(saved, models, process.mask),
                mcp=translate.mcp(settings, saved, servers, process.mask),
            )
            switchboard.on_rang_kept.append(saved.rang)
            switchboard.on_resync.append(lambda: saved.rang(SETTINGS))
            switchboard.on_kept_moved.append(lambda: saved.rang(SETTINGS))
            switchboard.on_rang_kept.append(servers.rang)
            switchboard.on_kept_moved.append(servers.look)
            await saved.begin()
            await translate.take_over(settings, saved)
            standing = await anyio.to_thread.run_sync(sandbox.standing)
            parts = build(settings, store, models, keepers, switchboard, process, standing)
            await ensure_default_workspace(settings, store, process.name)
            await drafts.sweep()
            await parts.engine.start()

            async def until() -> None:
                await stopping.asked()
                await _stop(settings, parts.engine, stopping)
                await servers.close()
                await saved.stop()

            await _serve(settings, process, parts.services, listening, token, until)
    finally:
        await witnesses.close()
        await models.close()
        await store.close()
        await anyio.to_thread.run_sync(sandbox.clear)


async def _serve(
    settings: Settings,
    process: Process,
    services: Services,
    listening: socket.socket,
    token: Secret,
    until: Callable[[], Awaitable[None]],
) -> None:
    door = Door(
        token=token.reveal(),
        host=settings.host,
        port=listening.getsockname()[1],
        allowed_hosts=settings.allowed_hosts,
        allowed_origins=settings.allowed_origins,
        one_of_many=settings.is_shared,
    )
    guesses = Guesses(most_per_minute=settings.limits.wrong_tokens)

    def ready() -> None:
        url = base_url(door.host, door.port)
        process.on_ready(url)
        if process.is_told:
            # Whoever chose the token knows it; one that was made is known only from here.
            shown = token if settings.token is None or sys.stdout.isatty() else None
            click.echo(banner(settings, url, shown, node=process.name))

    await run_server(
        build_app(services, door, guesses, points=process.points),
        listening,
        limits=translate.connection_limits(settings),
        on_ready=ready,
        until=until,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keepers:
    tools: Tools
    commands: Commands
    job_runner: JobRunner
    settings: SettingsKeeper
    providers: ProviderKeeper
    mcp: McpKeeper


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
    process: Process,
    sandbox: Sandboxing,
) -> Parts:
    """The whole server but its socket."""
    ids, metrics, points = RandomIds(), Metrics(), process.points
    # Where several nodes share a store, all go by its clock.
    clock = AgreedClock(SystemClock()) if settings.is_shared else SystemClock()
    node = Node(
        id=NodeId(ids.new("node")),
        name=process.name,
        version=__version__,
        clock=clock,
        ids=ids,
        points=points,
        folders=translate.folders(settings, process.name),
    )
    engine = build_engine(
        node,
        store,
        models,
        translate.worker(settings, models, keepers.tools, keepers.settings, node),
        switchboard,
        hand=translate.hand(settings, Drafts(settings.data, points)),
        commands=keepers.commands,
        maker=TitleMaker(store, models, clock, points=points),
        titles_wanted=lambda: keepers.settings.preferences.titles,
        frame=sse.frame,
        run_seconds=settings.limits.run_seconds,
        fold_after_seconds=settings.limits.fold_deltas_days * DAY_SECONDS,
        lease_seconds=settings.limits.lease_seconds,
        active_runs=settings.limits.active_runs,
        job_runner=keepers.job_runner,
    )
    switchboard.on_committed.append(metrics.committed)
    metrics.gauge("active_runs", "Runs under way.", lambda: len(engine.coordinator.active_runs()))
    metrics.gauge("viewers", "Open event streams.", engine.tailer.viewers)
    services = Services(
        engine=engine,
        seen_by=store.seen_by,
        check_storage=store.check,
        nodes=store.nodes,
        models=models,
        settings=keepers.settings,
        providers=keepers.providers,
        mcp=keepers.mcp,
        sandbox=sandbox,
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
