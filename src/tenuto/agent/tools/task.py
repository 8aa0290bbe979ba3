"""`task`: a sub-agent does part of the work in a conversation of its own."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from tenuto.agent.tools.arguments import Arguments
from tenuto.agent.tools.built_in import BuiltIn
from tenuto.core.delegating import Assignment
from tenuto.core.run import Reason, RunStatus, ToolScope
from tenuto.core.text import capped
from tenuto.core.value import SessionId
from tenuto.ports.tool import Delegated, Parallel, Place, ToolFailed, ToolResult

PROMPT_CHARACTERS = 100_000
TITLE_CHARACTERS = 100
NOTHING = "It said nothing."
ENDED = {
    RunStatus.CANCELLED: "The user stopped this sub-agent.",
    RunStatus.INTERRUPTED: "The server stopped before this sub-agent had finished.",
    RunStatus.FAILED: "The sub-agent failed.",
}
CUT_SHORT = {
    Reason.STEP_LIMIT: "It reached its limit of steps.",
    Reason.TIME_LIMIT: "It reached its time limit.",
    Reason.LOOP: "It went round in circles and was ended.",
    Reason.MAX_TOKENS: "Its answer was cut off at its limit.",
}


class TaskArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {
        "task": "prompt",
        "instructions": "prompt",
        "description": "title",
        "name": "title",
        "session_id": "session",
    }

    prompt: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=PROMPT_CHARACTERS,
            description="All that it must know: it sees nothing of this conversation. Say what to "
            "find out or do, and what to answer with.",
        ),
    ]
    title: Annotated[str, Meta(max_length=TITLE_CHARACTERS, description="A few words.")] = ""
    tools: Annotated[
        Literal["look", "all"],
        Meta(description="look: it can read and search, and changes nothing. all: every tool."),
    ] = "look"
    session: Annotated[
        str, Meta(description="Of an earlier sub-agent that is to go on; else a new one begins.")
    ] = ""


class Task(BuiltIn[TaskArguments]):
    name = "task"
    about = (
        "Let a sub-agent do a part of the work that stands by itself, in the same folder; its last "
        "message is the result. Several calls in one answer run side by side, up to four. Good for "
        "looking into several things at once, and for searches that would fill this conversation."
    )
    takes = TaskArguments

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.parallel = Parallel.WAITING

    def assignment(self, arguments: dict[str, Any]) -> Assignment:
        given, _ = self._read(arguments)
        return Assignment(
            prompt=given.prompt,
            title=" ".join(given.title.split()),
            tools=ToolScope(given.tools),
            session=SessionId(given.session) if given.session else None,
        )

    async def work(self, given: TaskArguments, place: Place) -> ToolResult:
        if place.sub_agent is None:
            raise ToolFailed("There are no sub-agents here.")
        done = await place.sub_agent()
        return ToolResult(
            text=capped(_told(done), self.settings.output_characters),
            failed=done.run.status is not RunStatus.COMPLETED,
            details={"session_id": done.session_id, "run_id": done.run.id},
        )


def _told(done: Delegated) -> str:
    where = f"[sub-agent: session {done.session_id}]"
    said = done.text.strip()
    if done.run.status is RunStatus.COMPLETED:
        cut = CUT_SHORT.get(done.run.reason) if done.run.reason else None
        return "\n\n".join(filter(None, [said or NOTHING, cut, where]))
    why = ENDED[done.run.status]
    if done.run.error is not None:
        why = f"{why} {done.run.error.message}"
    so_far = f"It had said so far: {said}" if said else NOTHING
    return f"{why} {so_far}\n\n{where}"
