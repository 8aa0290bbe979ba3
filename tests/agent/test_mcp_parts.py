"""Small parts of MCP: names that every provider takes, the file of a workspace, forms as questions."""

import json
import re
from pathlib import Path

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.mcp import workspace_file
from tenuto.agent.mcp.host import eliciting
from tenuto.agent.mcp.naming import tool_name


def test_a_plain_name_stays_as_it_is() -> None:
    assert tool_name("git", "list_issues") == "git__list_issues"


@given(st.text(max_size=200), st.text(max_size=200))
def test_whatever_a_server_calls_them_names_are_taken_and_differ(one: str, other: str) -> None:
    name = tool_name("server", one)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    assert (name == tool_name("server", other)) == (one == other)


def read(folder: Path, content: str, **variables: str) -> workspace_file.ServersFile:
    (folder / ".mcp.json").write_text(content)
    found = workspace_file.read(folder, variables)
    assert found is not None
    return found


def test_variables_are_filled_in_and_what_is_missing_has_its_default(tmp_path: Path) -> None:
    entry = {"command": "${HOME}/bin/x", "args": ["${PORT:-80}", "$plain"], "env": {"A": "${NONE}"}}
    (server,) = read(tmp_path, json.dumps({"mcpServers": {"My Tools": entry}}), HOME="/h").servers
    assert (server.name, server.command, server.args, server.env) == (
        "my_tools",
        "/h/bin/x",
        ("80", "$plain"),
        {"A": ""},
    )


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {"command": "x\\u0000"}}}'],
)
def test_a_file_that_makes_no_sense_says_so_and_gives_nothing(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content)
    assert found.servers == ()
    assert found.error is not None


def test_a_link_is_not_followed_out_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / ".mcp.json").symlink_to(tmp_path / "real")
    assert workspace_file.read(tmp_path, {}) is None


FORM = types.ElicitRequestFormParams(
    message="Tell me",
    requested_schema={
        "type": "object",
        "properties": {
            "age": {"type": "integer", "title": "Age"},
            "share": {"type": "number"},
            "ok": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "who": {"type": "string", "oneOf": [{"const": "x", "title": "Xenia"}]},
        },
    },
)


def test_a_form_becomes_questions_with_what_can_be_chosen() -> None:
    asked = eliciting.asked(FORM)
    assert [(one.name, one.text, one.choices, one.multiple) for one in asked.wanted] == [
        ("age", "Age", (), False),
        ("share", "share", (), False),
        ("ok", "ok", ("Yes", "No"), False),
        ("tags", "tags", ("a", "b"), True),
        ("who", "who", ("Xenia",), False),
    ]


def test_answers_have_the_types_that_the_form_wants() -> None:
    said = {"age": ["41"], "share": ["0.5"], "ok": ["No"], "tags": ["a", "b"], "who": ["Xenia"]}
    assert eliciting.answered(FORM, said).content == {
        "age": 41,
        "share": 0.5,
        "ok": False,
        "tags": ["a", "b"],
        "who": "x",
    }


def test_what_is_passed_over_is_left_out_and_what_does_not_fit_goes_as_it_was_said() -> None:
    assert eliciting.answered(FORM, {"age": ["many"], "ok": []}).content == {"age": "many"}
    assert eliciting.answered(FORM, None).action == "decline"
