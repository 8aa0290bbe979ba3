"""How an engine is put together: once, for the server, the simulation and the tests."""

from collections.abc import Callable

from tenuto.core.event import Stored
from tenuto.engine.answers import Answers
from tenuto.engine.bell import Bell
from tenuto.engine.changes import ChangeKeeper
from tenuto.engine.checking import Checking
from tenuto.engine.comparisons import ComparisonKeeper
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.driver import Driver
from tenuto.engine.endings import Endings
from tenuto.engine.engine import Engine, Switchboard
from tenuto.engine.files import FileKeeper
from tenuto.engine.heart import LEASE_SECONDS, Heart
from tenuto.engine.homes import Homes
from tenuto.engine.inbox import Inbox
from tenuto.engine.janitor import Janitor
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.panes import Panes
from tenuto.engine.queue import Queue
from tenuto.engine.rescuer import Rescuer
from tenuto.engine.sessions import SessionKeeper
from tenuto.engine.stops import Stops
from tenuto.engine.sub_agents import SubAgents
from tenuto.engine.tailer import Tailer
from tenuto.engine.titler import Maker, Titler
from tenuto.engine.work import Worker
from tenuto.engine.workspaces import WorkspaceKeeper
from tenuto.ports.changes import Hand
from tenuto.ports.command import Commands
from tenuto.ports.job import NOTHING_RUN, JobRunner
from tenuto.ports.model import Models
from tenuto.ports.store import Store


def build_engine(
    node: Node,
    store: Store,
    models: Models,
    worker: Worker,
    switchboard: Switchboard,
    *,
    hand: Hand,
    commands: Commands | None = None,
    maker: Maker,
    titles_wanted: Callable[[], bool],
    frame: Callable[[Stored], bytes],
    run_seconds: float,
    fold_after_seconds: float,
    lease_seconds: float = LEASE_SECONDS,
    active_runs: int = 0,
    job_runner: JobRunner = NOTHING_RUN,
) -> Engine:
    """Every part, and who hears of whom. `switchboard` is the sink that the store tells."""
    bell = Bell()
    endings = Endings(store, bell, node.clock)
    jobs = JobKeeper(store, node, job_runner)
    driver = Driver(store, worker, node, run_seconds=run_seconds, jobs=jobs)
    homes = Homes(store, node)
    coordinator = Coordinator(store, driver, homes, node, most_runs=active_runs)
    heart = Heart(store, coordinator, node, lease_seconds=lease_seconds)
    heart.on_kept.append(switchboard.kept_moved)
    checking = Checking(store, models, node, commands)
    inbox = Inbox(store, checking, endings, coordinator, node)
    sessions = SessionKeeper(store, models, coordinator, endings, node, jobs)
    comparisons = ComparisonKeeper(store, models, sessions, node)
    tailer = Tailer(store, bell, frame)
    titler = Titler(store, maker, node, wanted=titles_wanted)
    driver.on_ended.append(titler.run_ended)
    driver.sub_agents = SubAgents(store, coordinator, endings, node, jobs)
    _let_hear(switchboard, tailer, coordinator, homes, jobs)
    homes.on_mine.append(coordinator.changed)
    heart.on_fence.append(jobs.fence)
    return Engine(
        inbox=inbox,
        queue=Queue(store, checking, node),
        answers=Answers(store, node),
        stops=Stops(store, coordinator, endings, node, jobs),
        panes=Panes(store, inbox, node),
        endings=endings,
        sessions=sessions,
        workspaces=WorkspaceKeeper(store, sessions, comparisons, node, commands),
        comparisons=comparisons,
        files=FileKeeper(store, node),
        changes=ChangeKeeper(store, hand, node),
        homes=homes,
        driver=driver,
        coordinator=coordinator,
        tailer=tailer,
        titler=titler,
        heart=heart,
        rescuer=Rescuer(store, coordinator, heart, node, jobs),
        jobs=jobs,
        janitor=Janitor(store, node, fold_after_seconds=fold_after_seconds),
    )


def _let_hear(
    switchboard: Switchboard,
    tailer: Tailer,
    coordinator: Coordinator,
    homes: Homes,
    jobs: JobKeeper,
) -> None:
    switchboard.on_committed.append(tailer.committed)
    switchboard.on_changed += [coordinator.changed, jobs.changed]
    switchboard.on_rang.append(tailer.rang)
    switchboard.on_rang_changed += [coordinator.rang_changed, homes.rang_changed, jobs.rang_changed]
    switchboard.on_resync += [tailer.resync, coordinator.look_everywhere, jobs.look_everywhere]
