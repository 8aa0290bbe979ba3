"""A tool call: permission first, then the tool, and its failure is its result."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from tenuto.core.approval import Approval, ApprovalState
from tenuto.core.message import ToolPart
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule, Subject
from tenuto.core.value import ApprovalId, CallId, PartId, RunId, SessionId
from tenuto.engine.kit import FixedTools
from tenuto.engine.rulebook import Rulebook
from tenuto.engine.toolbox import Toolbox
from tenuto.engine.work import Work
from tenuto.ports.changes import FileChanges, Untold
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import (
    GivenFile,
    NoJobs,
    Parallel,
    Place,
    ReplyKind,
    Site,
    ToolFailed,
    ToolResult,
    UserReply,
)
from tests.engine.sites import site

pytestmark = pytest.mark.anyio


class RecordedWork:
    """A run as a tool sees it: what is recorded of a call, and what a person says to it."""

    def __init__(self, answer: ApprovalState = ApprovalState.ALLOWED, note: str | None = None):
        self.parts: list[ToolPart] = []
        self.asked: list[ToolPart] = []
        self.flushed = 0
        self.recorder = self
        self.jobs = NoJobs()
        self.requests = self
        self.run = self.session = self
        self.id = RunId("run_1")
        self.attended = True
        self.rules: tuple[Rule, ...] = ()
        self.given: list[GivenFile] = []
        self._answer = answer
        self._note = note

    def update(self, part: ToolPart) -> None:
        self.parts.append(part)

    async def flush(self) -> None:
        self.flushed = len(self.parts)

    def call(self) -> AbstractContextManager[None]:
        return nullcontext()

    def changes(self, part: ToolPart) -> FileChanges:
        return Untold()

    async def give(self, part: ToolPart, given: list[GivenFile]) -> ToolPart:
        self.given += given
        self.update(part)
        return part

    async def keep_output(self, name: str, piece: object, forget: object) -> None:
        raise AssertionError("nothing here is long")

    async def question_meanwhile(self, part: ToolPart, inquiries: object) -> UserReply:
        return UserReply(kind=ReplyKind.NOBODY)

    async def permission(self, part: ToolPart, subject: Subject, rules: object) -> Approval:
        self.asked.append(part)
        return Approval(
            id=ApprovalId("apr_1"),
            session_id=SessionId("ses_1"),
            run_id=self.id,
            call_id=part.call_id,
            tool=part.name,
            input=part.input,
            state=self._answer,
            note=self._note,
        )

    async def site(self) -> Site:
        return site(rules=self.rules)

    @property
    def states(self) -> list[str]:
        return [str(part.state) for part in self.parts]


class HeldTool:
    """Does what it is told, once it may."""

    def __init__(
        self, name: str = "look", *, result: str | ToolResult | Exception = "done"
    ) -> None:
        self.spec = ToolSpec(name=name, description="", parameters={})
        self.changes = name == "change"
        self.parallel = Parallel.NEVER if self.changes else Parallel.LOOKING
        self.calls: list[dict[str, Any]] = []
        self.may_end = asyncio.Event()
        self.may_end.set()
        self._result = result

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        self.calls.append(arguments)
        assert place.folder == Path("/srv")
        await self.may_end.wait()
        if isinstance(self._result, Exception):
            raise self._result
        return ToolResult(text=self._result) if isinstance(self._result, str) else self._result


def call(name: str = "look", text: str = '{"n": 1}', number: int = 1) -> ToolPart:
    part_id, call_id = PartId(f"prt_{number}"), CallId(f"call_{number}")
    return ToolPart(id=part_id, call_id=call_id, name=name, input_text=text)


def toolbox(tool: HeldTool, permission: str = "allow", **options: Any) -> Toolbox:
    rules = Rulebook(default=Permission(permission))
    return Toolbox(FixedTools(tool), rules, **options)


async def run(box: Toolbox, work: RecordedWork, part: ToolPart) -> ToolPart:
    with anyio.fail_after(10):
        here = cast("Work", work)
        return await box.run(here, part, await box.for_run(here))


async def test_a_call_is_stored_as_running_before_its_tool_begins() -> None:
    tool, work = HeldTool(), RecordedWork()
    tool.may_end.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, toolbox(tool), work, call())
        with anyio.fail_after(10):
            while not tool.calls:
                await anyio.lowlevel.checkpoint()
        assert work.states[: work.flushed] == ["input_streaming", "running"]
        tool.may_end.set()


async def test_a_call_runs_with_its_arguments_and_each_step_is_recorded() -> None:
    tool, work = HeldTool(), RecordedWork()
    ended = await run(toolbox(tool), work, call())
    assert (ended.state, ended.output, ended.input) == ("done", "done", {"n": 1})
    assert tool.calls == [{"n": 1}]
    assert work.states == ["input_streaming", "running", "done"]


async def test_what_is_denied_never_runs() -> None:
    tool, work = HeldTool("change"), RecordedWork()
    ended = await run(toolbox(tool, "deny"), work, call("change"))
    assert (ended.state, tool.calls) == ("denied", [])
    assert ended.error == "The server's settings do not allow this tool."


@pytest.mark.parametrize(
    ("answer", "note", "state", "said"),
    [
        (ApprovalState.ALLOWED, None, "done", None),
        (ApprovalState.DENIED, None, "denied", "The user did not allow this."),
        (ApprovalState.DENIED, "not here", "denied", "The user did not allow this: not here"),
    ],
)
async def test_what_asks_does_as_it_is_answered(
    answer: ApprovalState, note: str | None, state: str, said: str | None
) -> None:
    tool, work = HeldTool("change"), RecordedWork(answer, note)
    ended = await run(toolbox(tool, "ask"), work, call("change"))
    assert (str(ended.state), ended.error) == (state, said)
    assert (len(work.asked), len(tool.calls)) == (1, 1 if state == "done" else 0)


async def test_a_tool_that_changes_nothing_is_not_asked_about() -> None:
    tool, work = HeldTool(), RecordedWork()
    assert (await run(toolbox(tool, "ask"), work, call())).state == "done"
    assert work.asked == []


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (call("none"), "There is no tool 'none'. The tools are: look."),
        (call(text="[]"), "The arguments must be a JSON object."),
        (call(text='{"n": '), "The arguments are not valid JSON"),
        (call(text='{"n": ' + "[" * 70 + "]" * 70 + "}"), "The arguments are nested too deeply"),
    ],
)
async def test_a_call_that_cannot_be_done_fails_without_a_tool(part: ToolPart, said: str) -> None:
    tool, work = HeldTool(), RecordedWork()
    ended = await run(toolbox(tool), work, part)
    assert (ended.state, tool.calls) == ("failed", [])
    assert ended.error is not None and ended.error.startswith(said)


async def test_a_tools_own_failure_is_told_and_a_mistake_of_ours_is_not() -> None:
    work = RecordedWork()
    failed = await run(toolbox(HeldTool(result=ToolFailed("no such file"))), work, call())
    assert (failed.state, failed.error) == ("failed", "no such file")
    mistake = await run(toolbox(HeldTool(result=ValueError("secret"))), work, call())
    assert (mistake.state, mistake.error) == (
        "failed",
        "look failed because of an error in the server.",
    )


async def test_a_result_that_says_it_failed_is_a_failure_with_all_that_it_shows() -> None:
    result = ToolResult(text="no such table", failed=True, details={"exit_code": 2})
    ended = await run(toolbox(HeldTool(result=result)), RecordedWork(), call())
    assert (ended.state, ended.error, ended.output) == ("failed", "no such table", None)
    assert ended.details == {"exit_code": 2}


async def test_files_of_a_result_are_kept_as_many_and_as_large_as_may_be() -> None:
    small = GivenFile(name="a\ud800.png", media_type="image/png", content=b"x")
    huge = GivenFile(name="huge.png", media_type="image/png", content=bytes(20_000_001))
    tool, work = HeldTool(result=ToolResult(text="", files=(huge, *[small] * 11))), RecordedWork()
    ended = await run(toolbox(tool), work, call())
    assert ended.state == "done"
    assert [file.name for file in work.given] == ["a\ufffd.png"] * 10


async def test_one_run_gets_half_of_what_may_look_at_once() -> None:
    tool = HeldTool()
    tool.may_end.clear()
    box = toolbox(tool, at_once=4)
    greedy, modest = RecordedWork(), RecordedWork()
    async with anyio.create_task_group() as calls:
        for number in range(6):
            calls.start_soon(run, box, greedy, call(number=number))
        await anyio.wait_all_tasks_blocked()
        assert len(tool.calls) == 2
        calls.start_soon(run, box, modest, call(number=7))
        await anyio.wait_all_tasks_blocked()
        assert len(tool.calls) == 3
        tool.may_end.set()
    assert len(tool.calls) == 7


async def test_a_call_that_only_waits_for_someone_takes_no_place_of_those_that_look() -> None:
    tool = HeldTool()
    tool.may_end.clear()
    tool.parallel = Parallel.WAITING
    box, work = toolbox(tool, at_once=2), RecordedWork()
    async with anyio.create_task_group() as calls:
        for number in range(6):
            calls.start_soon(run, box, work, call(number=number))
        await anyio.wait_all_tasks_blocked()
        assert len(tool.calls) == 6
        tool.may_end.set()
