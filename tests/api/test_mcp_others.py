"""MCP servers that others wrote, as they come from the package registries."""

import shutil
import sys
from pathlib import Path

import pytest
from aiohttp import web

from tests.support.mcp_house import house, pending, told, use
from tests.support.model_server import ModelServer
from tests.support.talk import call_tool

SERVERS = Path(__file__).parents[1] / "support" / "mcp_servers" / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("each test starts a server with a file of its own"),
]
from_npm = pytest.mark.skipif(
    not SERVERS.is_dir() or shutil.which("node") is None,
    reason="they were not installed: `make test` does, where npm is",
)


@from_npm
async def test_the_file_server_reads_and_writes_in_the_workspace(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        body = {"command": str(SERVERS / "mcp-server-filesystem"), "args": ["."]}
        await server.raw.call("PUT", "/api/mcp/files", body)
        folder = Path((await server.raw.get("/api/workspaces/default"))["path"])
        session = await tenuto.create_session()
        written = {"path": str(folder / "a.txt"), "content": "from a stranger"}
        after = await use(model, session, "files__write_file", **written)
        await call_tool(after, "files__read_text_file", path=str(folder / "a.txt"))
        after = await model.next_request()
        assert "from a stranger" in told(after)
        await call_tool(after, "files__read_text_file", path="/etc/passwd")
        after = await model.next_request()
        assert "denied" in told(after).lower()
        await after.say("Done")
        assert (folder / "a.txt").read_text() == "from a stranger"


@from_npm
async def test_the_server_of_everything_echoes_shows_and_asks(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        body = {"command": str(SERVERS / "mcp-server-everything")}
        await server.raw.call("PUT", "/api/mcp/all", body)
        session = await tenuto.create_session()
        after = await use(model, session, "all__echo", message="hello")
        assert told(after) == "Echo: hello"
        await call_tool(after, "all__get-tiny-image")
        after = await model.next_request()
        await call_tool(after, "all__trigger-elicitation-request")
        question = await pending(server, session.id)
        assert len(question["questions"]) == 4
        dismissed = {"dismiss": True}
        assert (await server.raw.post(f"/api/questions/{question['id']}", dismissed)).status == 200
        after = await model.next_request()
        assert "declin" in told(after).lower()
        await after.say("Done")
        messages = (await server.raw.get(f"/api/sessions/{session.id}/messages"))["messages"]
        image = messages[-1]["parts"][1]
        assert image["files"][0]["media_type"] == "image/png"
        (standing,) = [
            one for one in (await server.raw.get("/api/mcp"))["servers"] if one["name"] == "all"
        ]
        assert standing["resources"] and standing["prompts"]


async def test_the_fetching_server_fetches(model: ModelServer, tmp_path: Path) -> None:
    async def page(request: web.Request) -> web.Response:
        # Of HTML it would install a program of its own first, outside of its sandbox.
        return web.Response(text="Held.", content_type="text/plain")

    app = web.Application()
    app.router.add_get("/page", page)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/page"
        async with house(tmp_path, model) as server, server.client() as tenuto:
            args = ["-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"]
            body = {"command": sys.executable, "args": args}
            await server.raw.call("PUT", "/api/mcp/web", body)
            session = await tenuto.create_session()
            after = await use(model, session, "web__fetch", url=url)
            assert "Held." in told(after)
            await after.say("Done")
    finally:
        await runner.cleanup()
