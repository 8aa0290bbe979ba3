"""What people put into a folder for agents: instructions, skills, and commands of prompts."""

import json
from pathlib import Path
from typing import Any

import pytest

from tenuto.client import SessionHandle
from tenuto.core.run import WhenBusy
from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer
from tests.support.talk import call_tool

pytestmark = pytest.mark.anyio

SKILL = """---
name: release
description: "How to make a release here."
---
Run `make release` and nothing else.
"""
COMMAND = """---
description: Look at a change with care.
---
Review $ARGUMENTS. Twice: $ARGUMENTS.
"""


@pytest.fixture
async def folder(server: TenutoServer, raw: RawApi) -> Path:
    folder = server.folder_of((await raw.get("/api/workspaces/default"))["path"])
    put(folder / ".agents/skills/release/SKILL.md", SKILL)
    put(folder / ".agents/skills/nameless/SKILL.md", "No word of what it is for.")
    put(folder / ".agents/commands/review.md", COMMAND)
    put(folder / ".agents/commands/tests.md", "Run all tests.")
    put(folder / "AGENTS.md", "Use tabs.")
    put(folder / "src/AGENTS.md", "In src, use blanks.")
    put(folder / "src/deep/CLAUDE.md", "In deep, use nothing.")
    put(folder / "src/deep/a.py", "print()\n")
    return folder


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def system(request: Exchange) -> str:
    return str(request.messages[0]["content"])


def tools(request: Exchange) -> list[str]:
    return [tool["function"]["name"] for tool in request.body["tools"]]


async def use_skill(request: Exchange, name: str) -> None:
    await request.tool_call(0, f"call_{name}", "skill")
    await request.tool_input(0, json.dumps({"name": name}))
    await request.finish("tool_calls")


async def said(model: ModelServer, session: SessionHandle, prompt: Any) -> Exchange:
    run = await session.prompt(prompt)
    request = await model.next_request()
    await request.say("Yes")
    await run.wait()
    return request


async def test_all_that_is_used_is_listed(raw: RawApi, folder: Path) -> None:
    found = (await raw.get("/api/workspaces/default/instructions"))["instructions"]
    assert [(one["kind"], one["name"], one["about"]) for one in found] == [
        ("instructions", "AGENTS.md", ""),
        ("skill", "release", "How to make a release here."),
        ("command", "review", "Look at a change with care."),
        ("command", "tests", ""),
    ]
    assert found[1]["path"] == ".agents/skills/release/SKILL.md"
    assert (await raw.call("GET", "/api/workspaces/none/instructions")).status == 404


async def test_a_skill_is_named_first_and_read_when_it_is_needed(
    model: ModelServer, session: SessionHandle, folder: Path
) -> None:
    run = await session.prompt("Release it")
    first = await model.next_request()
    assert "- release: How to make a release here." in system(first)
    assert "make release" not in system(first)
    assert "nameless" not in system(first)
    await use_skill(first, "release")
    second = await model.next_request()
    assert "Run `make release` and nothing else." in second.messages[-1]["content"]
    assert ".agents/skills/release/" in second.messages[-1]["content"]
    await use_skill(second, "unknown")
    third = await model.next_request()
    assert "The skills are: release." in third.messages[-1]["content"]
    await third.say("Done")
    await run.wait()


async def test_without_skills_there_is_no_such_tool(
    model: ModelServer, session: SessionHandle
) -> None:
    request = await said(model, session, "Hello")
    assert "skill" not in tools(request)
    assert "skill tool" not in system(request)


async def test_a_command_is_told_by_its_meaning_and_kept_as_it_was_written(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    meaning = "Review src and docs. Twice: src and docs."
    first = await said(model, session, "/review src and docs")
    assert first.prompt == meaning
    run = (await raw.get(f"/api/sessions/{session.id}/runs"))["runs"][0]
    assert run["input"] == "/review src and docs"
    [user, _] = (await raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
    assert user["parts"][0]["text"] == "/review src and docs"
    assert user["parts"][0]["expanded"] == meaning
    # Whatever becomes of the file, what was told stays what it was.
    (folder / ".agents/commands/review.md").write_text("Something else.")
    second = await said(model, session, "Go on")
    assert next(m["content"] for m in second.messages if m["role"] == "user") == meaning


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("/tests", "Run all tests."),
        ("/tests of src", "Run all tests.\n\nof src"),
        ("/unknown words", "/unknown words"),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
        ("/../review x", "/../review x"),
        ("say /tests", "say /tests"),
        ([{"type": "text", "text": "/tests"}], "Run all tests."),
    ],
)
async def test_only_what_is_there_is_a_command(
    model: ModelServer, session: SessionHandle, folder: Path, prompt: Any, told: str
) -> None:
    assert (await said(model, session, prompt)).prompt == told


async def test_a_skill_is_a_command_too(
    model: ModelServer, session: SessionHandle, folder: Path
) -> None:
    request = await said(model, session, "/release version 2")
    assert "Run `make release` and nothing else.\n\nversion 2" in request.prompt


async def test_a_command_that_waits_is_changed_steered_and_edited_with_its_meaning(
    model: ModelServer, raw: RawApi, session: SessionHandle, folder: Path
) -> None:
    first = await session.prompt("Hello")
    request = await model.next_request()
    waiting = await session.prompt("/tests")
    await raw.call("PATCH", f"/api/runs/{waiting.id}", {"input": "/review this"})
    await request.say("Yes")
    await first.wait()
    second = await model.next_request()
    assert second.prompt == "Review this. Twice: this."
    steer = await session.prompt("/tests", when_busy=WhenBusy.STEER)
    await call_tool(second, "read_file", path="AGENTS.md")
    third = await model.next_request()
    assert third.prompt == "Run all tests."
    await third.say("Yes")
    await waiting.wait()
    await steer.wait()


async def test_instructions_of_a_folder_are_told_once_with_the_first_file_read_there(
    model: ModelServer, session: SessionHandle, folder: Path
) -> None:
    run = await session.prompt("Read")
    first = await model.next_request()
    assert "Use tabs." in system(first)
    assert "use blanks" not in system(first)
    await call_tool(first, "read_file", path="src/deep/a.py")
    second = await model.next_request()
    result = str(second.messages[-1]["content"])
    assert result.index("print()") < result.index("In src, use blanks.")
    assert result.index("In src, use blanks.") < result.index("In deep, use nothing.")
    await call_tool(second, "read_file", path="src/deep/a.py", call_id="call_2")
    third = await model.next_request()
    assert "use blanks" not in str(third.messages[-1]["content"])
    await third.say("Done")
    await run.wait()


@pytest.mark.parametrize(
    "server_env", [{"TENUTO_SEARCH_KIND": "brave", "TENUTO_SEARCH_API_KEY": "sk-search-secret-1"}]
)
async def test_who_has_a_search_is_offered_it_and_its_key_is_nowhere(
    model: ModelServer, server: TenutoServer, raw: RawApi, session: SessionHandle
) -> None:
    request = await said(model, session, "Hello")
    assert "search_web" in tools(request)
    shown = [await raw.text("/api/settings"), await raw.text("/api/about"), server.log()]
    assert not [one for one in shown if "sk-search-secret-1" in one]


async def test_without_one_there_is_no_such_tool(
    model: ModelServer, session: SessionHandle
) -> None:
    assert "search_web" not in tools(await said(model, session, "Hello"))
