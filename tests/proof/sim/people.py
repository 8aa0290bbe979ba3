"""Tools that turn to others: to the person, and to sub-agents."""

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from tenuto.core.delegating import Assignment
from tenuto.core.principal import OWNER
from tenuto.core.question import Inquiry, QuestionWord
from tenuto.core.rule import Subject
from tenuto.core.run import ToolScope
from tenuto.core.value import QuestionId
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import Parallel, Place, ToolFailed, ToolResult
from tests.proof.sim.violation import Violation, must

if TYPE_CHECKING:
    from tests.proof.sim.client import SimClient
    from tests.proof.sim.world import World


class SimAsk:
    """Asks the person. It has no effect, so it may be said twice what came of it."""

    def __init__(self, world: "World") -> None:
        self.spec = ToolSpec(name="ask", description="", parameters={"type": "object"})
        self.changes = False
        self.parallel = Parallel.WAITING

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    def inquiries(self, arguments: dict[str, Any]) -> Sequence[Inquiry]:
        return (Inquiry(question=str(arguments.get("n"))), Inquiry(question="and?"))

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        assert place.reply is not None
        return ToolResult(text=f"{place.reply.kind} {place.reply.answers}")


class SimTask:
    """Lets a sub-agent work."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice: Random = world.dice("tool")
        self.spec = ToolSpec(name="task", description="", parameters={"type": "object"})
        self.changes = False
        self.parallel = Parallel.WAITING

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    def assignment(self, arguments: dict[str, Any]) -> Assignment:
        return Assignment(
            prompt=f"below {self._world.word()}",
            tools=self._dice.choice((ToolScope.LOOK, ToolScope.ALL)),
        )

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        try:
            self._world.ledger.executes(str(arguments.get("n")))
        except Violation as violation:
            self._world.fail(violation)
        if place.sub_agent is None:
            raise ToolFailed("nobody is there")
        done = await place.sub_agent()
        return ToolResult(
            text=f"{done.run.status} {done.text}",
            failed=done.run.status != "completed",
            details={"session_id": done.session_id},
        )


async def reply(client: "SimClient") -> None:
    """Answer what is asked in words, or dismiss it, perhaps twice."""
    session, dice, world = client.session, client.dice, client.world
    for _ in range(20):
        if session.asked:
            break
        await world.loop.sleep(world.script.hurry)
    among = [*session.asked] or [*session.questions]
    if not among:
        return
    question_id = dice.choice(among)
    said = dice.choice((QuestionWord(dismiss=True), QuestionWord(answers=(("yes",), ()))))
    was_open = question_id in session.asked
    for _ in range(dice.choice((1, 1, 2))):
        node = await client.node()
        await node.call(
            lambda node=node: node.engine.answers.answer_question(  # type: ignore[misc]
                QuestionId(question_id), said, by=OWNER
            )
        )
        must(was_open, "the first answer wins", question_id)
        state = session.questions[question_id]["state"]
        must(state == ("dismissed" if said.dismiss else "answered"), "as answered", state)
        was_open = False
