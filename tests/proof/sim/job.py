"""Jobs of a simulated server: processes that print, end by themselves, and take time to be ended."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

import anyio

from tenuto.ports.job import JobOrder, JobWish
from tenuto.ports.tool import Place
from tests.proof.sim.violation import must

if TYPE_CHECKING:
    from tests.proof.sim.node import Node
    from tests.proof.sim.world import World

SEEDS, SEED = 5, 3
"""One seed in so many has jobs."""
CHANCE = 0.4


class SimProcesses:
    """All that run anywhere in the world, by the command that they were given."""

    def __init__(self) -> None:
        self._running: dict[str, Node] = {}
        self._begun: set[str] = set()
        self._numbers = 0

    def number(self) -> int:
        """Of the next: no two commands are the same."""
        self._numbers += 1
        return self._numbers

    def begin(self, command: str, node: "Node") -> None:
        must(command not in self._begun, "no job is run twice", command)
        self._begun.add(command)
        self._running[command] = node

    def end(self, command: str) -> None:
        self._running.pop(command, None)

    def of_runs(self, run_ids: Sequence[str]) -> list[str]:
        """What runs that one of these started."""
        return [command for command in self.left() if command.split()[0] in run_ids]

    def left(self) -> list[str]:
        """What runs, its node being alive."""
        return [command for command, node in self._running.items() if not node.dead]


class SimJobRunner:
    def __init__(self, world: "World", node: "Node") -> None:
        self._world = world
        self._node = node
        self._dice: Random = world.dice("job")

    async def run(self, order: JobOrder, hear: Callable[[str], None]) -> int:
        dice, world = self._dice, self._world
        world.check(lambda: world.processes.begin(order.command, self._node))
        try:
            for _ in range(dice.choice((0, 1, 3))):
                await world.loop.sleep(dice.choice((0.0, dice.random(), 4.0)) * world.script.hurry)
                hear(f"{order.command}\n")
            return dice.choice((0, 0, 1))
        except asyncio.CancelledError:
            if dice.random() < world.script.temper * 0.4:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(dice.choice((0.0, 0.5)))
            raise
        finally:
            world.processes.end(order.command)


async def perhaps_leave_a_job(world: "World", word: str, place: Place) -> None:
    """What a call does besides, in schedules that have jobs."""
    if world.script.seed % SEEDS != SEED or world.dice("job").random() > CHANCE:
        return
    command = f"{place.run_id} {word} {world.processes.number()}"
    wish = JobWish(
        call_id=place.call_id, workspace=place.folder, command=command, name="job", cwd="."
    )
    job = await place.jobs.start(wish)
    if world.dice("job").random() < CHANCE:
        await place.jobs.read(job.id, after=0, seconds=world.script.hurry)
    if world.dice("job").random() < CHANCE / 2:
        await place.jobs.stop(job.id)
        left = world.processes.left()
        world.check(lambda: must(command not in left, "a job that was stopped runs no more", job))
