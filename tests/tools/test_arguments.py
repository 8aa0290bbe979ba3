"""What tools say of themselves, and of wrong arguments."""

from typing import Any

import pytest

from tenuto.agent.tools import ToolSettings, built_in_tools
from tests.tools.desk import Desk

pytestmark = pytest.mark.anyio

SIGNATURES = {
    "read_file": (["path"], ["path", "offset", "limit"], False),
    "list_files": ([], ["path", "pattern"], False),
    "search_files": (["pattern"], ["pattern", "path", "glob"], False),
    "write_file": (["path", "content"], ["path", "content"], True),
    "edit_file": (["path", "old", "new"], ["path", "old", "new", "all"], True),
    "shell": (["command"], ["command", "timeout"], True),
    "fetch_url": (["url"], ["url"], True),
    "todo": (["items"], ["items"], False),
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
    ("read_file", {"path": "a", "line": 1}, "unknown field `line`"),
    ("shell", {"command": "true", "timeout": "1"}, "Expected `float`, got `str`"),
    ("shell", {"command": "true", "timeout": -1}, "Expected `float` > 0"),
    ("edit_file", {"path": "a", "old": "b", "new": "c", "all": "yes"}, "Expected `bool`"),
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
