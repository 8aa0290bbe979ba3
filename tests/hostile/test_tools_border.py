"""Any text that a tool, a name or an argument can hold ends the call properly, and can be stored."""

import asyncio
import json
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from tenuto.core.error import NotFound
from tenuto.core.message import ToolPart, ToolState
from tenuto.core.output import OutputPiece
from tenuto.core.permission import Permission
from tenuto.core.rule import Subject
from tenuto.core.value import CallId, PartId
from tenuto.engine.kit import FixedTools
from tenuto.engine.rulebook import Rulebook
from tenuto.engine.toolbox import Toolbox
from tenuto.engine.work import Work
from tenuto.ports.changes import FileChanges, Untold
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import (
    NoJobs,
    Parallel,
    Place,
    Site,
    Tool,
    ToolFailed,
    ToolResult,
    UserReply,
    nobody_asked,
)
from tests.engine.sites import site
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

ANY_TEXT = st.text(st.characters(exclude_categories=()))
"""Halves of characters included."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
ENDED = (ToolState.DONE, ToolState.FAILED)


class Notes:
    """Keeps every part as a store does: as JSON in UTF-8."""

    def __init__(self) -> None:
        self.kept: list[ToolPart] = []

    def update(self, part: ToolPart) -> None:
        self.kept.append(msgspec.json.decode(msgspec.json.encode(part), type=ToolPart))

    async def flush(self) -> None:
        return


class Desktop:
    """As much of the work as a tool call needs."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Notes()
        self.requests = self
        self.jobs = NoJobs()
        self.run = type("Run", (), {"id": "run_1"})
        self.session = type("Session", (), {"id": "ses_1"})
        self._folder = folder

    def call(self) -> AbstractContextManager[None]:
        return nullcontext()

    def changes(self, part: ToolPart) -> FileChanges:
        return Untold()

    async def question_meanwhile(self, part: ToolPart, inquiries: object) -> UserReply:
        return await nobody_asked(())

    async def keep_output(self, name: str, piece: OutputPiece, forget: object) -> None:
        piece.text.encode()

    async def output(self, name: str) -> str:
        raise NotFound("there is none")

    async def site(self) -> Site:
        return site(self._folder)


class Parrot:
    """Says and fails with what it is told to."""

    changes = True
    parallel = Parallel.NEVER

    def __init__(
        self,
        *,
        output: Any = "",
        error: str | None = None,
        progress: str = "",
        details: Any = None,
    ) -> None:
        self._details = details
        self.spec = ToolSpec(name="parrot", description="", parameters={})
        self._output, self._error, self._progress = output, error, progress
        self.got: dict[str, Any] = {}

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        self.got = arguments
        place.progress(self._progress)
        if self._error is not None:
            raise ToolFailed(self._error)
        return ToolResult(text=cast("str", self._output), details=self._details)


async def called(tools: dict[str, Tool], part: ToolPart, folder: Path = Path("/")) -> ToolPart:
    """The call as it ended, as the store has it."""
    desktop = Desktop(folder)
    box = Toolbox(FixedTools(*tools.values()), Rulebook(default=Permission.ALLOW))
    await done(box, cast("Work", desktop), part)
    return desktop.recorder.kept[-1]


async def done(box: Toolbox, work: Work, part: ToolPart) -> ToolPart:
    return await box.run(work, part, await box.for_run(work))


def call(name: str, text: str) -> ToolPart:
    return ToolPart(id=PartId("prt_1"), call_id=CallId("call_1"), name=name, input_text=text)


@pytest.mark.guarantee("E1")
@given(output=ANY_TEXT, error=st.none() | ANY_TEXT, progress=ANY_TEXT)
def test_whatever_a_tool_says_its_call_ends_and_can_be_stored(
    output: str, error: str | None, progress: str
) -> None:
    parrot = Parrot(output=output, error=error, progress=progress)
    ended = asyncio.run(called({"parrot": parrot}, call("parrot", "{}")))
    assert ended.state is (ToolState.DONE if error is None else ToolState.FAILED)


@pytest.mark.guarantee("E1")
@given(arguments=st.dictionaries(ANY_TEXT, JSON), name=st.just("parrot") | ANY_TEXT)
def test_whatever_the_arguments_hold_the_call_ends_and_can_be_stored(
    arguments: dict[str, Any], name: str
) -> None:
    escaped = json.dumps(arguments)
    ended = asyncio.run(called({"parrot": Parrot()}, call(name, escaped)))
    assert ended.state in ENDED


@pytest.mark.guarantee("E1")
@given(text=ANY_TEXT)
def test_arguments_that_are_no_json_fail_the_call(text: str) -> None:
    assert asyncio.run(called({"parrot": Parrot()}, call("parrot", text))).state in ENDED


async def test_halves_of_a_character_in_arguments_are_joined_or_shown_as_broken() -> None:
    parrot = Parrot()
    ended = await called({"parrot": parrot}, call("parrot", r'{"a": "\ud83d\ude00"}'))
    assert parrot.got == {"a": "😀"}
    assert ended.state is ToolState.DONE


@pytest.mark.parametrize("depth", [65, 900, 100_000])
async def test_arguments_without_a_bottom_fail_with_a_sentence(depth: int) -> None:
    text = '{"a":' * depth + "1" + "}" * depth
    ended = await called({"parrot": Parrot()}, call("parrot", text))
    assert ended.error == "The arguments are nested too deeply: 64 levels are the most."


async def test_numbers_of_any_length_are_stored_or_refused() -> None:
    for text in ('{"a":123456789012345678901234567890}', '{"a":' + "9" * 5000 + "}", '{"a":1e999}'):
        assert (await called({"parrot": Parrot()}, call("parrot", text))).state in ENDED


async def test_a_tool_without_a_limit_of_its_own_is_cut() -> None:
    ended = await called({"parrot": Parrot(output="x" * 3_000_000)}, call("parrot", "{}"))
    assert ended.output is not None
    assert (len(ended.output), ended.output[-1]) == (2_000_000, "…")
    ended = await called({"parrot": Parrot(error="x" * 3_000_000)}, call("parrot", "{}"))
    assert ended.error is not None
    assert len(ended.error) == 10_000


async def test_a_tool_that_returns_no_text_fails_its_call_and_not_the_run() -> None:
    ended = await called({"parrot": Parrot(output=None)}, call("parrot", "{}"))
    assert ended.error == "parrot failed because of an error in the server."


DETAILS: list[tuple[Any, Any]] = [
    ({"exit_code": 0}, {"exit_code": 0}),
    ({"name": "half \ud83d"}, {"name": "half \ufffd"}),
    ({"large": "x" * 1_000_000}, UNSET),
    ({"odd": object()}, UNSET),
    ({"odd": float("nan")}, {"odd": None}),
    ({}, UNSET),
    (None, UNSET),
]


@pytest.mark.parametrize(("details", "kept"), DETAILS)
async def test_details_that_cannot_be_kept_are_left_out_and_the_result_stays(
    details: Any, kept: Any
) -> None:
    ended = await called({"parrot": Parrot(output="fine", details=details)}, call("parrot", "{}"))
    assert (ended.state, ended.output, ended.details) == ("done", "fine", kept)


@pytest.mark.guarantee("E1")
async def test_only_so_many_calls_that_look_run_at_once_in_all_runs() -> None:
    looker = Looker()
    box = Toolbox(FixedTools(looker), Rulebook(default=Permission.ALLOW), at_once=3)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            desktop = cast("Work", Desktop(Path("/")))
            group.start_soon(done, box, desktop, call("looker", "{}"))
    assert (looker.most, looker.count) == (3, 20)


@pytest.mark.guarantee("E1")
async def test_a_run_that_asks_for_very_much_does_not_keep_the_others_waiting() -> None:
    looker = Looker()
    box = Toolbox(FixedTools(looker), Rulebook(default=Permission.ALLOW), at_once=4)
    greedy, modest = cast("Work", Desktop(Path("/"))), cast("Work", Desktop(Path("/")))
    async with anyio.create_task_group() as group:
        for _ in range(200):
            group.start_soon(done, box, greedy, call("looker", '{"for": "ever"}'))
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(10):
            ended = await done(box, modest, call("looker", "{}"))
        group.cancel_scope.cancel()
    assert ended.state is ToolState.DONE
    assert looker.most == 3


class Looker:
    changes = False
    parallel = Parallel.LOOKING

    def __init__(self) -> None:
        self.spec = ToolSpec(name="looker", description="", parameters={})
        self.now, self.most, self.count = 0, 0, 0

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool=self.spec.name)

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        self.now += 1
        self.most, self.count = max(self.most, self.now), self.count + 1
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        if "for" in arguments:
            await anyio.sleep_forever()
        self.now -= 1
        return ToolResult(text="")


PATHS = ["a.txt", "sub", ".", "link", "pipe", "new/b.txt", "../x", "/etc", "a/" * 300, "a" * 5000]
GLOBS = ["[z-a]", "[!]", "[]", "[^", "{a,{b,c}}", "{" * 400, "(" * 400, "(a+)+$", "**/**/**"]
WORDS = ["one", "http://[::1", "http://x.invalid/\ud800", "data:,x", "é" * 999]
PATH = st.sampled_from(["a.txt", "sub", "."]) | st.sampled_from(PATHS) | ANY_TEXT
GLOB = st.sampled_from(GLOBS) | ANY_TEXT
TEXT = st.sampled_from(WORDS) | ANY_TEXT
COUNT = st.integers(min_value=1)
ITEM = st.fixed_dictionaries({"text": TEXT, "status": st.sampled_from(["pending", "done"])})
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "read_file": {"path": PATH, "offset": COUNT, "limit": COUNT},
    "list_files": {"path": PATH, "pattern": GLOB},
    "search_files": {"pattern": GLOB, "path": PATH, "glob": GLOB},
    "write_file": {"path": PATH, "content": TEXT},
    "edit_file": {"path": PATH, "old": TEXT, "new": TEXT, "all": st.booleans()},
    "fetch_url": {"url": TEXT},
    "todo": {"items": st.lists(ITEM)},
    "shell": {"timeout": st.floats(min_value=0, allow_nan=False), "other": JSON},
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool, and for each of its arguments nothing, what it takes, or now and then anything."""
    name = draw(st.sampled_from(sorted(FIELDS)))
    fields = {
        field: right | right | right | JSON if draw(st.booleans()) else right
        for field, right in FIELDS[name].items()
    }
    return name, {**REQUIRED[name], **draw(st.fixed_dictionaries({}, optional=fields))}


REQUIRED: dict[str, dict[str, Any]] = {
    "read_file": {"path": "a.txt"},
    "list_files": {},
    "search_files": {"pattern": "o"},
    "write_file": {"path": "b.txt", "content": "x"},
    "edit_file": {"path": "a.txt", "old": "one", "new": "two"},
    "fetch_url": {"url": "http://127.0.0.1:9/"},
    "todo": {"items": [{"text": "x", "status": "done"}]},
    "shell": {"command": "true"},
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.guarantee("E1")
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(made=calls())
def test_every_tool_ends_with_a_result_or_a_reason_whatever_its_arguments(
    workspace: Path, made: tuple[str, dict[str, Any]]
) -> None:
    name, arguments = made
    tools = Desk(workspace, search_seconds=2, fetch_seconds=2).tools
    text = json.dumps(arguments)
    ended = asyncio.run(called(tools, call(name, text), workspace))
    assert ended.state in ENDED
    assert "an error in the server" not in (ended.error or "")
    assert "a program of the server failed" not in (ended.error or "")
