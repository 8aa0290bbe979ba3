"""MCP servers that are reached by HTTP: headers, a server that goes away, and signing in."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest

from tests.support.mcp_house import TOY, house, pending, told, use
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer, free_port
from tests.support.talk import call_tool
from tests.support.watch import until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("each test starts a server with a file of its own"),
]


@asynccontextmanager
async def toy_by_http(kind: str = "http", port: int = 0) -> AsyncIterator[str]:
    """The toy behind an address of its own; `login`: only for who has signed in."""
    port = port or free_port()
    toy = await anyio.open_process(
        [sys.executable, str(TOY), kind, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    async def answers() -> bool:
        try:
            async with (
                aiohttp.ClientSession() as http,
                http.get(f"http://127.0.0.1:{port}/mcp"),
            ):
                return True
        except aiohttp.ClientConnectionError:
            return False

    try:
        await until(answers)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        toy.kill()
        await toy.wait()


async def test_a_server_is_reached_by_its_address_with_its_headers(
    model: ModelServer, tmp_path: Path
) -> None:
    async with toy_by_http() as url, house(tmp_path, model) as server, server.client() as tenuto:
        body = {"url": url, "headers": {"X-Greeting": "hello-from-tenuto"}}
        added = await server.raw.call("PUT", "/api/mcp/far", body)
        assert (added.body["transport"], added.body["headers"]) == ("http", ["X-Greeting"])
        session = await tenuto.create_session()
        after = await use(model, session, "far__greeting")
        assert told(after) == "hello-from-tenuto"
        await after.say("Done")
        assert "hello-from-tenuto" not in str(await server.raw.get("/api/mcp"))


async def test_one_that_goes_away_fails_its_calls_and_is_found_again(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        port = free_port()
        async with toy_by_http(port=port) as url:
            await server.raw.call("PUT", "/api/mcp/far", {"url": url})
            await (await use(model, session, "far__add", a=1, b=1)).say("Done")
        after = await use(model, session, "far__add", a=1, b=1)
        assert "far: " in told(after)
        await after.say("Done")
        async with toy_by_http(port=port):
            after = await use(model, session, "far__add", a=2, b=1)
            assert told(after) == "3"
            await after.say("Done")


async def test_whoever_must_sign_in_is_sent_there_and_comes_back(
    model: ModelServer, tmp_path: Path
) -> None:
    async with (
        toy_by_http("login") as url,
        house(tmp_path, model) as server,
        server.client() as tenuto,
    ):
        await server.raw.call("PUT", "/api/mcp/far", {"url": url})
        asked = await server.raw.post("/api/mcp/far/restart")
        assert asked.body["state"] == "needs_login", asked.body
        status, page = await visit(server, asked.body["login_url"])
        assert status == 200
        assert "far can be used now" in page
        session = await tenuto.create_session()
        after = await use(model, session, "far__add", a=1, b=1)
        assert told(after) == "2"
        await after.say("Done")
        # Once is enough, and nobody else sees what it gave.
        await server.kill()
        await server.start()
        after = await use(model, session, "far__add", a=2, b=2)
        assert told(after) == "4"
        await after.say("Done")
        database = b"".join(path.read_bytes() for path in server.data.glob("*.sqlite3*"))
        assert b"access-" not in database
        assert b"again-" not in database


async def test_a_run_that_needs_it_asks_somebody_to_sign_in(
    model: ModelServer, tmp_path: Path
) -> None:
    async with toy_by_http("login") as url, house(tmp_path, model) as server:
        raw = server.raw
        await raw.call("PUT", "/api/mcp/far", {"url": url})
        asked = await raw.post("/api/mcp/far/restart")
        await visit(server, asked.body["login_url"])
        # Its tools are known; what signing in gave is void, as after a change of its keys there.
        await forget_logins(server)
        async with server.client() as tenuto:
            session = await tenuto.create_session()
            run = await session.prompt("Use it")
            await call_tool(await model.next_request(), "far__add", a=1, b=1)
            question = await pending(server, session.id)
            text = question["questions"][0]["question"]
            assert text.startswith("far wants you to sign in.\nhttp://127.0.0.1:")
            status, _ = await visit(server, text.split("\n")[1])
            assert status == 200
            answered = {"answers": [["I have been there"]]}
            assert (await raw.post(f"/api/questions/{question['id']}", answered)).status == 200
            after = await model.next_request()
            assert told(after) == "2"
            await after.say("Done")
            assert (await run.wait()).status == "completed"


async def test_a_stranger_cannot_sign_in_for_us(model: ModelServer, tmp_path: Path) -> None:
    async with toy_by_http("login") as url, house(tmp_path, model) as server:
        await server.raw.call("PUT", "/api/mcp/far", {"url": url})
        await server.raw.post("/api/mcp/far/restart")
        wrong = f"{server.url}/mcp/callback?code=c&state=made-up"
        assert (await visit(server, wrong))[0] == 400
        async with aiohttp.ClientSession() as http, http.get(wrong) as response:
            assert response.status == 401
        (far,) = [
            one for one in (await server.raw.get("/api/mcp"))["servers"] if one["name"] == "far"
        ]
        assert far["state"] == "needs_login"


async def visit(server: TenutoServer, url: str) -> tuple[int, str]:
    """As a person does whose browser is logged in here: follows where it is sent."""
    async with aiohttp.ClientSession() as http:
        while True:
            ours = url.startswith(server.url)
            headers: dict[str, Any] = {"Authorization": f"Bearer {server.token}"} if ours else {}
            async with http.get(url, headers=headers, allow_redirects=False) as response:
                if response.status not in (302, 307):
                    return response.status, await response.text()
                url = response.headers["Location"]


async def forget_logins(server: TenutoServer) -> None:
    """As if the key that they are encrypted with had been lost: a new one is made."""
    await server.kill()
    (server.data / "secret").unlink()
    await server.start()
