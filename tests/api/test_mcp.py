"""MCP servers that are programs: when they start, what they give, and what becomes of them."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.mcp_house import TOY, TOY_SERVER, house, offered, pending, processes, told, use
from tests.support.model_server import ModelServer
from tests.support.talk import call_tool

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("each test starts a server with a file of its own"),
]


async def test_a_server_is_started_when_a_run_needs_it_and_not_before(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        (toy,) = (await server.raw.get("/api/mcp"))["servers"]
        assert (toy["name"], toy["transport"], toy["state"], toy["source"]) == (
            "toy",
            "stdio",
            "idle",
            "file",
        )
        assert toy["tools"] == []
        assert processes(server) == []
        session = await tenuto.create_session()
        after = await use(model, session, "toy__add", a=20, b=22)
        assert {"toy__add", "toy__write", "shell"} <= offered(after)
        assert told(after) == "42"
        await after.say("Done")
        (toy,) = (await server.raw.get("/api/mcp"))["servers"]
        assert toy["state"] == "ready"
        tools = {tool["name"]: tool for tool in toy["tools"]}
        assert tools["add"] == {"name": "add", "about": "Add two numbers.", "changes": True}
        assert toy["resources"][0]["uri"] == "toy://poem"
        assert toy["prompts"][0]["name"] == "greet"


async def test_what_a_server_offers_is_known_before_it_has_started_again(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        await (await use(model, session, "toy__add", a=1, b=1)).say("Done")
        await server.kill()
        await server.start()
        (toy,) = (await server.raw.get("/api/mcp"))["servers"]
        assert toy["state"] == "idle"
        assert {"add", "picture"} <= {tool["name"] for tool in toy["tools"]}
        await session.prompt("What can you do?")
        request = await model.next_request()
        assert "toy__add" in offered(request)
        assert processes(server) == []
        await request.say("Much")


async def test_only_who_is_trusted_is_believed_to_only_look(
    model: ModelServer, tmp_path: Path
) -> None:
    env = {"TENUTO_PERMISSIONS": "deny"}
    async with house(tmp_path, model, env, trust=True) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        after = await use(model, session, "toy__add", a=1, b=1)
        assert {name for name in offered(after) if name.startswith("toy__")} == {"toy__add"}
        await after.say("Done")


async def test_a_server_is_added_changed_and_removed_while_ours_runs(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        raw = server.raw
        body = {**TOY_SERVER, "env": {"TOY_KEY": "sk-of-the-toy-0123456789"}, "tools": ["add"]}
        added = await raw.call("PUT", "/api/mcp/second", body)
        assert (added.status, added.body["state"], added.body["env"]) == (200, "idle", ["TOY_KEY"])
        session = await tenuto.create_session()
        after = await use(model, session, "second__add", a=1, b=2)
        assert told(after) == "3"
        assert {name for name in offered(after) if name.startswith("second")} == {"second__add"}
        await after.say("Done")
        kept = await raw.call(
            "PUT", "/api/mcp/second", {**body, "env": {"TOY_KEY": None}, "tools": None}
        )
        assert kept.status == 200
        after = await use(model, session, "second__environment")
        assert "TOY_KEY" in told(after)
        assert "OPENAI_API_KEY" not in told(after)
        await after.say("Done")
        moved = {**body, "command": "/bin/sh", "env": {"TOY_KEY": None}}
        refused = await raw.call("PUT", "/api/mcp/second", moved)
        assert (refused.status, refused.body["code"]) == (422, "invalid_input")
        shown = json.dumps(await raw.get("/api/mcp")) + server.log()
        assert "sk-of-the-toy" not in shown
        database = b"".join(path.read_bytes() for path in server.data.glob("*.sqlite3*"))
        assert b"sk-of-the-toy" not in database
        assert (await raw.call("DELETE", "/api/mcp/second")).status == 204
        assert (await raw.call("DELETE", "/api/mcp/second")).status == 404
        assert (await raw.call("PUT", "/api/mcp/toy", TOY_SERVER)).status == 403
        await session.prompt("And now?")
        request = await model.next_request()
        assert not [name for name in offered(request) if name.startswith("second")]
        await request.say("Less")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "command"),
        ({"command": "x", "url": "http://x"}, "one of the two"),
        ({"url": "ftp://x"}, "http"),
        ({"url": "http://me:secret@x"}, "headers"),
        ({"command": "x", "env": {"A B": "1"}}, "env"),
        ({"command": "x", "timeout": 0}, "timeout"),
        ({"command": "x", "unheard": 1}, "unheard"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    model: ModelServer, tmp_path: Path, body: dict[str, object], word: str
) -> None:
    async with house(tmp_path, model) as server:
        refused = await server.raw.call("PUT", "/api/mcp/second", body)
        assert (refused.status, refused.body["code"]) == (422, "invalid_input")
        assert word in refused.body["detail"]


async def test_a_picture_that_a_tool_gives_is_kept_with_its_call(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        await (await use(model, session, "toy__picture")).say("Pretty")
        messages = (await server.raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
        (tool,) = [part for part in messages[-1]["parts"] if part["type"] == "tool"]
        assert tool["output"] == "a dot"
        (file,) = tool["files"]
        assert (file["media_type"], file["size"]) == ("image/png", 70)


async def test_a_server_that_fails_or_dies_fails_the_call_and_never_the_run(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        after = await use(model, session, "toy__fail")
        assert "Error executing tool fail" in told(after)
        await call_tool(after, "toy__die")
        after = await model.next_request()
        assert "toy: " in told(after)
        await call_tool(after, "toy__add", a=2, b=3)
        after = await model.next_request()
        assert told(after) == "5"
        await after.say("Done")
        messages = (await server.raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
        states = [part["state"] for part in messages[-1]["parts"] if part["type"] == "tool"]
        assert states == ["failed", "failed", "done"]


async def test_a_server_that_is_no_server_says_why(model: ModelServer, tmp_path: Path) -> None:
    async with house(tmp_path, model) as server:
        for name, body, word in (
            ("none", {"command": "there-is-no-such-program"}, "there is no program"),
            ("dies", {"command": "sh", "args": ["-c", "echo no key >&2; exit 3"]}, "no key"),
            ("babbles", {"command": "sh", "args": ["-c", "echo hello; exit 4"]}, "exit code 4"),
            ("away", {"url": "http://127.0.0.1:9/mcp"}, "cannot be reached"),
        ):
            await server.raw.call("PUT", f"/api/mcp/{name}", body)
            answer = await server.raw.post(f"/api/mcp/{name}/restart")
            assert (answer.status, answer.body["state"]) == (200, "failed"), answer
            assert word in answer.body["error"]


async def test_it_writes_in_its_workspace_alone_and_cannot_read_the_data_folder(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        if (await server.raw.get("/api/about"))["sandbox"]["kind"] == "none":
            pytest.skip("there is no sandbox on this system")
        session = await tenuto.create_session()
        inside = await use(model, session, "toy__write", path="here", text="in")
        assert told(inside) == "written"
        await inside.say("Done")
        out = await use(model, session, "toy__write", path=str(tmp_path / "there"), text="out")
        assert "Error" in told(out)
        await out.say("Done")
        assert not (tmp_path / "there").exists()
        database = next(server.data.glob("*.sqlite3"))
        secret = await use(model, session, "toy__read", path=str(database))
        assert "Error" in told(secret)
        await secret.say("Done")


async def test_the_file_of_a_workspace_counts_once_a_person_has_allowed_it_as_it_is(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        raw, folder = server.raw, tmp_path / "project"
        folder.mkdir()
        content = {"mcpServers": {"Own Tools": TOY_SERVER}}
        (folder / ".mcp.json").write_text(json.dumps(content))
        made = await raw.post("/api/workspaces", {"name": "p", "path": str(folder)})
        where = made.body["id"]
        seen = await raw.get(f"/api/mcp?workspace={where}")
        assert [(s["name"], s["state"]) for s in seen["servers"]] == [
            ("toy", "idle"),
            ("own_tools", "off"),
        ]
        assert seen["file"]["allowed"] is False
        session = await tenuto.create_session(workspace=where)
        await session.prompt("What can you do?")
        request = await model.next_request()
        assert not [name for name in offered(request) if name.startswith("own_tools")]
        await request.say("Little")
        wrong = await raw.call("PUT", f"/api/workspaces/{where}/mcp", {"hash": "0" * 64})
        assert wrong.status == 422
        right = {"hash": seen["file"]["hash"]}
        assert (await raw.call("PUT", f"/api/workspaces/{where}/mcp", right)).body["allowed"]
        after = await use(model, session, "own_tools__add", a=1, b=1)
        assert told(after) == "2"
        await after.say("Done")
        (folder / ".mcp.json").write_text(json.dumps(content) + "\n")
        assert (await raw.get(f"/api/mcp?workspace={where}"))["file"]["allowed"] is False
        await session.prompt("And now?")
        request = await model.next_request()
        assert not [name for name in offered(request) if name.startswith("own_tools")]
        await request.say("Less")


async def test_a_resource_becomes_a_file_that_a_prompt_can_carry(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        read = await server.raw.post("/api/mcp/toy/read", {"uri": "toy://poem"})
        assert (read.status, read.body["name"], read.body["size"]) == (201, "poem", 14)
        session = await tenuto.create_session()
        parts = [
            {"type": "text", "text": "What is this?"},
            {"type": "file", "file_id": read.body["id"]},
        ]
        await server.raw.post(f"/api/sessions/{session.id}/runs", {"input": parts})
        request = await model.next_request()
        assert "Roses are red." in json.dumps(request.messages)
        await request.say("A poem")
        none = await server.raw.post("/api/mcp/toy/read", {"uri": "toy://nothing"})
        assert (none.status, none.body["code"]) == (422, "invalid_input")
        nobody = await server.raw.post("/api/mcp/nobody/read", {"uri": "toy://poem"})
        assert nobody.status == 404


async def test_a_prompt_of_a_server_is_a_command(model: ModelServer, tmp_path: Path) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        await server.raw.post("/api/mcp/toy/restart")
        guides = (await server.raw.get("/api/workspaces/default/instructions"))["instructions"]
        greet = {"kind": "command", "name": "toy:greet", "about": "Greet somebody.", "path": ""}
        assert greet in guides
        session = await tenuto.create_session()
        await session.prompt("/toy:greet Ada of London")
        request = await model.next_request()
        assert request.messages[-1]["content"] == "Please greet Ada of London warmly."
        await request.say("Hello, Ada")
        (mine, _) = (await server.raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
        assert mine["parts"][0]["text"] == "/toy:greet Ada of London"


async def test_what_a_server_asks_becomes_a_question_and_its_answer_the_form(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model, timeout=5) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        run = await session.prompt("Order")
        await call_tool(await model.next_request(), "toy__order")
        question = await pending(server, session.id)
        assert [one["question"] for one in question["questions"]] == [
            "toy: What do you want?\nColour: Which colour?",
            "toy: What do you want?\nCount: How many?",
        ]
        assert (await server.raw.get(f"/api/sessions/{session.id}"))["state"] == "waiting"
        answers = {"answers": [["red"], ["3"]]}
        assert (await server.raw.post(f"/api/questions/{question['id']}", answers)).status == 200
        after = await model.next_request()
        assert told(after) == "3 of red"
        await call_tool(after, "toy__order")
        question = await pending(server, session.id)
        assert (
            await server.raw.post(f"/api/questions/{question['id']}", {"dismiss": True})
        ).status == 200
        after = await model.next_request()
        assert told(after) == "nothing: decline"
        await after.say("Done")
        assert (await run.wait()).status == "completed"


async def test_an_older_server_asks_in_the_middle_of_its_call(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        old = {"command": sys.executable, "args": [str(TOY.with_name("old_mcp.py"))]}
        await server.raw.call("PUT", "/api/mcp/old", old)
        session = await tenuto.create_session()
        run = await session.prompt("Order")
        await call_tool(await model.next_request(), "old__ask")
        question = await pending(server, session.id)
        size, sure = question["questions"]
        assert [one["label"] for one in size["options"]] == ["Small", "Mid"]
        assert sure["question"] == "old: For the shirt:\nsure: Are you sure? (optional)"
        assert [one["label"] for one in sure["options"]] == ["Yes", "No"]
        answers = {"answers": [["Mid"], ["Yes"]]}
        assert (await server.raw.post(f"/api/questions/{question['id']}", answers)).status == 200
        after = await model.next_request()
        assert json.loads(told(after)) == {
            "action": "accept",
            "content": {"size": "m", "sure": True},
        }
        await after.say("Done")
        assert (await run.wait()).status == "completed"


async def test_where_nobody_can_be_asked_a_server_is_told_so(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        await server.raw.post(
            f"/api/sessions/{session.id}/runs", {"input": "Order", "attended": False}
        )
        await call_tool(await model.next_request(), "toy__order")
        after = await model.next_request()
        assert told(after) == "nothing: decline"
        await after.say("Done")
