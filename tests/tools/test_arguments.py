"""What tools say of themselves, and of wrong arguments."""

from typing import Any

import pytest

from tenuto.agent.tools.kinds import built_in_tools
from tenuto.agent.tools.settings import ToolSettings
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

SIGNATURES = {
    "read_file": (["path"], ["path", "offset", "limit"], False),
    "list_files": ([], ["path", "pattern"], False),
    "search_files": (["pattern"], ["pattern", "path", "glob", "context", "names_only"], False),
    "write_file": (["path", "content"], ["path", "content"], True),
    "edit_file": (["path", "old", "new"], ["path", "old", "new", "all"], True),
    "shell": (["command"], ["command", "timeout", "cwd"], True),
    "fetch_url": (["url"], ["url"], True),
    "todo": (["items"], ["items"], False),
    "start_job": (["command"], ["command", "name", "cwd"], True),
    "read_job": (["id"], ["id", "wait", "pattern"], False),
    "stop_job": (["id"], ["id"], False),
    "ask_user": (["questions"], ["questions"], False),
    "task": (["prompt"], ["prompt", "title", "tools", "session"], False),
}


def test_the_tools_are_those_of_the_contract() -> None:
    found = {
        tool.spec.name: (
            tool.spec.parameters["required"],
            list(tool.spec.parameters["properties"]),
            tool.changes,
        )
        for tool in built_in_tools(ToolSettings())
    }
    assert found == SIGNATURES


def test_every_argument_is_described_and_no_schema_has_references() -> None:
    for tool in built_in_tools(ToolSettings()):
        assert tool.spec.description
        assert tool.spec.parameters["type"] == "object"
        assert tool.spec.parameters["additionalProperties"] is False
        assert "$ref" not in str(tool.spec.parameters)
        for field in tool.spec.parameters["properties"].values():
            assert field["description"]
            assert field["type"]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {}, "missing required field `path`"),
    ("read_file", {"path": None}, "missing required field `path`"),
    ("read_file", {"path": 1}, "Expected `str`, got `int` - at `$.path`"),
    ("read_file", {"path": "a", "offset": 0}, "Expected `int` >= 1 - at `$.offset`"),
    ("shell", {"command": "true", "timeout": "soon"}, "Expected `float`, got `str`"),
    ("shell", {"command": "true", "timeout": -1}, "Expected `float` > 0"),
    ("edit_file", {"path": "a", "old": "b", "new": "c", "all": "perhaps"}, "Expected `bool`"),
    ("todo", {"items": [{"text": "x", "status": "later"}]}, "Invalid enum value 'later'"),
    ("todo", {"items": "x"}, "Expected `array`, got `str`"),
]


@pytest.mark.parametrize(("tool", "arguments", "part"), WRONG)
async def test_wrong_arguments_fail_with_what_is_wrong_and_what_is_right(
    desk: Desk, tool: str, arguments: dict[str, Any], part: str
) -> None:
    said = await desk.failure(tool, **arguments)
    assert said.startswith(f"Wrong arguments for {tool}: ")
    assert part in said
    assert "It takes " in said


MEANT: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "a.txt", "limit": "1"}, "     1\tone\n[lines 1 to 1 shown"),
    ("read_file", {"file_path": "a.txt", "offset": 2}, "     2\ttwo"),
    ("read_file", {"filePath": "a.txt", "offset": 2.0}, "     2\ttwo"),
    ("edit_file", {"file": "a.txt", "old_string": "two", "newString": "2"}, "Edited a.txt"),
    ("edit_file", {"path": "a.txt", "old": "o", "new": "0", "replace_all": "true"}, "2 places"),
    ("shell", {"cmd": "echo hi", "timeout": "5"}, "hi"),
    ("search_files", {"query": "tw"}, "a.txt:2: two"),
    ("todo", {"items": '[{"text": "read", "status": "done"}]'}, "[x] read"),
    ("todo", {"todos": [{"content": "read", "status": "done"}]}, "[x] read"),
]


@pytest.mark.parametrize(("tool", "arguments", "part"), MEANT)
async def test_what_is_plainly_meant_is_understood(
    desk: Desk, tool: str, arguments: dict[str, Any], part: str
) -> None:
    (desk.folder / "a.txt").write_text("one\ntwo\n")
    assert part in await desk.run(tool, **arguments)


async def test_the_right_name_counts_before_another_name_for_it(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("one")
    assert "one" in await desk.run("read_file", file="b.txt", path="a.txt")


async def test_arguments_that_a_tool_does_not_have_are_left_out_and_said(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("one")
    said = await desk.run("read_file", path="a.txt", why="to see", more={"a": 1})
    assert said == (
        "     1\tone\n[arguments that this tool does not have were left out: why, more]"
    )


async def test_null_is_as_good_as_left_out(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("hello")
    said = await desk.run("read_file", path="a.txt", offset=None, limit=None)
    assert said == "     1\thello"


async def test_a_todo_list_comes_back_as_text(desk: Desk) -> None:
    items = [
        {"text": "read", "status": "done"},
        {"text": "write", "status": "in_progress"},
        {"text": "test", "status": "pending"},
    ]
    said = await desk.run("todo", items=items)
    assert said == "[x] read\n[~] write\n[ ] test\n1 of 3 done"
    assert await desk.run("todo", items=[]) == "The list is empty."
