"""Tools that take their time, fail, report, and do not always stop when they are told."""

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

import anyio

from tenuto.core.rule import Subject
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import Parallel, Place, Tool, ToolFailed, ToolResult
from tests.proof.sim.job import perhaps_leave_a_job
from tests.proof.sim.people import SimAsk, SimTask
from tests.proof.sim.violation import Violation, must

if TYPE_CHECKING:
    from tests.proof.sim.world import World


def sim_tools(world: "World") -> tuple[Tool, ...]:
    usual = tuple(SimTool(world, name) for name in ("look", "change"))
    return (*usual, SimAsk(world), SimTask(world)) if world.script.people else usual


class SimTool:
    def __init__(self, world: "World", name: str) -> None:
        self._world = world
        self._dice: Random = world.dice("tool")
        self.spec = ToolSpec(name=name, description="", parameters={"type": "object"})
        self.changes = name == "change"
        self.parallel = Parallel.NEVER if self.changes else Parallel.LOOKING

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        try:
            run_id = self._begin(arguments)
        except Violation as violation:
            self._world.fail(violation)
            run_id = ""
        number = self._world.ledger.begin(run_id, f"the tool {self.spec.name}")
        try:
            return ToolResult(text=await self._work(arguments, place))
        finally:
            self._world.ledger.end(number)

    def _begin(self, arguments: dict[str, Any]) -> str:
        """The run that the call is of; whatever changes something was allowed."""
        permission = self._world.script.permission
        must(not self.changes or permission != "deny", "a denied tool never runs", arguments)
        word = str(arguments.get("n"))
        self._world.ledger.executes(word)
        run_id = self._world.callers.get(word, "")
        known = self._world.witness.run(run_id)
        if known is not None and self.changes and permission == "ask":
            above = self._world.ledger.families.get(known[0].id, known[0].id)
            logs = (known[0], self._world.witness.sessions[above])
            asked = [a for log in logs for a in log.approvals.values()]
            answers = [a for a in asked if a["tool"] == self.spec.name]
            allowed = [a for a in answers if a["state"] == "allowed"]
            must(allowed, "what changes something was allowed", arguments, answers)
        return run_id

    async def _work(self, arguments: dict[str, Any], place: Place) -> str:
        dice, temper, hurry = self._dice, self._world.script.temper, self._world.script.hurry
        try:
            for step in range(dice.choice((0, 1, 1, 2))):
                await self._world.loop.sleep(dice.choice((0.0, dice.random(), 2.0)) * hurry)
                place.progress(f"step {step} of {arguments}")
            if self.changes:
                await perhaps_leave_a_job(self._world, str(arguments.get("n")), place)
        except asyncio.CancelledError:
            if dice.random() < temper * 0.4:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(dice.choice((0.0, 0.5, 7.0)))
                    place.progress("still here")
            raise
        if dice.random() < 0.2:
            raise ToolFailed("it cannot be done")
        return f"done {dice.choice(('well', 'well', 'badly'))}"
