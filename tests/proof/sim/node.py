"""A node: one engine, wired as the server wires it, with a process around it that can die."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tenuto.agent.loop import AgentLoop, RunLimits
from tenuto.agent.surroundings import Surroundings
from tenuto.agent.titles import TitleMaker
from tenuto.agent.tools.files.errand import Threads
from tenuto.agent.tools.files.hand import FileHand
from tenuto.api import sse
from tenuto.core.permission import Permission
from tenuto.core.value import Instant, NodeId
from tenuto.engine.build import build_engine
from tenuto.engine.engine import Switchboard
from tenuto.engine.kit import FixedTools
from tenuto.engine.node import Node as EngineNode
from tenuto.engine.saved import SETTINGS, Saved
from tenuto.engine.settings import SettingsKeeper
from tenuto.engine.toolbox import Toolbox
from tenuto.ports.preference import Preferences
from tenuto.ports.provider import Providers
from tenuto.ports.store import Store
from tests.proof.sim.job import SimJobRunner
from tests.proof.sim.loop import NODE
from tests.proof.sim.model import SimModels
from tests.proof.sim.setting import NoProviders, NothingToHide
from tests.proof.sim.store import Ring, SimDisk
from tests.proof.sim.tool import sim_tools

if TYPE_CHECKING:
    from tests.proof.sim.world import World

T = TypeVar("T")

RUN_SECONDS = 40.0


class Lost(Exception):
    """The connection broke: nobody knows what became of the call."""


class Node:
    def __init__(self, world: "World", name: str) -> None:
        self._world = world
        self.name = name
        self.home = copy_context()
        self.home.run(NODE.set, name)
        self.dead = False
        self.ready = False
        self._waiting: dict[asyncio.Future[Any], None] = {}
        self.disk = SimDisk(world, self)
        self.ring = Ring(world, self)
        self.switchboard = Switchboard()
        self.store = cast("Store", self.disk)
        self._build(NodeId(name))

    def _build(self, node: NodeId) -> None:
        script, clock = self._world.script, self._world.node_clock()
        models, store = SimModels(self._world), self.store
        tools = FixedTools(*sim_tools(self._world))
        self.saved = Saved(store, NothingToHide())
        self.switchboard.on_resync.append(lambda: self.saved.rang(SETTINGS))
        self.settings = SettingsKeeper(
            self.saved,
            cast("Providers", NoProviders()),
            models,
            tools,
            configured=Preferences(
                default_model=None,
                titles=script.titles,
                permission_default=Permission(script.permission),
            ),
            fixed={},
        )
        toolbox = Toolbox(tools, self.settings)
        limits = RunLimits(steps=4, loop_repeats=3, cost_usd=None)
        loop = AgentLoop(models, toolbox, limits, clock, surroundings=nowhere)
        self.engine = build_engine(
            EngineNode(id=node, clock=clock, ids=self._world.ids),
            store,
            models,
            loop,
            self.switchboard,
            hand=FileHand(Threads(2)),
            maker=TitleMaker(store, models, clock),
            titles_wanted=lambda: self.settings.preferences.titles,
            frame=sse.frame,
            run_seconds=RUN_SECONDS,
            fold_after_seconds=script.fold_after,
            active_runs=script.most_runs,
            job_runner=SimJobRunner(self._world, self),
        )

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do this inside the node, as a request would. Raises Lost if the node dies."""
        if self.dead:
            raise Lost
        answer: asyncio.Future[T] = self._world.loop.create_future()
        self._waiting[answer] = None
        self._world.loop.create_task(_serve(work, answer), context=self.home.copy())
        try:
            return await answer
        finally:
            self._waiting.pop(answer, None)

    async def start(self) -> None:
        settings = self._world.settings
        asked, calm = settings.asked, settings.asking == 0
        await self.call(self.saved.begin)
        # A change that was under way while it read may be before or after its reading.
        if calm and asked == settings.asked:
            settings.check(self.settings.preferences.default_model)
        await self.call(self.engine.start)
        self.ready = True

    async def stop(self, seconds: float) -> None:
        """End as on SIGTERM."""
        self.ready = False
        await self.call(lambda: self._stop(seconds))
        self.dead = True

    async def _stop(self, seconds: float) -> None:
        await self.engine.drain(seconds)
        await self.saved.stop()
        await self.engine.stop()

    def die(self) -> None:
        """End as on SIGKILL: whoever waits is cut off, and no task does anything more."""
        self.dead = True
        self.ready = False
        for answer in list(self._waiting):
            if not answer.done():
                answer.set_exception(Lost())
        self.cancel_tasks()

    def cancel_tasks(self) -> bool:
        """Cancel all that is left; False if nothing was."""
        left = [task for task in self._world.loop.tasks if task.node == self.name]
        left = [task for task in left if not task.done()]
        for task in left:
            task.cancel()
        return bool(left)


async def nowhere(folder: Path, now: Instant) -> Surroundings:
    """The same place in every world: nothing is looked at."""
    return Surroundings(
        folder=str(folder),
        system="",
        shell="sh",
        today=now[:10],
        branch=None,
        names=(),
        more=0,
        instructions=(),
    )


async def _serve(work: Callable[[], Awaitable[T]], answer: "asyncio.Future[T]") -> None:
    try:
        result = await work()
    except Exception as error:  # noqa: BLE001  the caller gets it
        if not answer.done():
            answer.set_exception(error)
        return
    if not answer.done():
        answer.set_result(result)
