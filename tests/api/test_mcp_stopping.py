"""Stopped is stopped, also at MCP servers: the handler is told, and no process outlives its owner."""

from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]
import pytest

from tests.support.mcp_house import house, processes, use
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer
from tests.support.talk import call_tool
from tests.support.watch import until, until_output

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("each test starts a server with a file of its own"),
]


@pytest.mark.guarantee("E7")
async def test_a_stop_reaches_the_handler_that_works_for_the_run(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server, server.client() as tenuto:
        session = await tenuto.create_session()
        run = await session.prompt("Wait")
        await call_tool(await model.next_request(), "toy__wait", path="waits")
        await until_output(run, "waiting")
        waits = await found(server, "waits")
        assert (await run.cancel()).status == "cancelled"
        await until(lambda: said(waits, "cancelled"))
        after = await use(model, session, "toy__add", a=1, b=1)
        assert str(after.messages[-1]["content"]) == "2"
        await after.say("Done")


@pytest.mark.guarantee("E7")
async def test_after_kill_9_of_ours_nothing_of_an_mcp_server_is_left(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server:
        left = await with_a_grandchild(model, server)
        await server.kill()
        await until(lambda: gone(left))


@pytest.mark.guarantee("E7")
async def test_a_server_that_stops_takes_its_mcp_servers_along(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server:
        left = await with_a_grandchild(model, server)
        assert await server.terminate() == 0
        assert await gone(left)


@pytest.mark.guarantee("E7")
async def test_a_restart_and_the_death_of_their_host_leave_nothing_either(
    model: ModelServer, tmp_path: Path
) -> None:
    async with house(tmp_path, model) as server:
        left = await with_a_grandchild(model, server)
        restarted = await server.raw.post("/api/mcp/toy/restart")
        assert restarted.body["state"] == "ready"
        host = next(one for one in left if "mcp.host" in " ".join(one.cmdline()))
        others = [one for one in left if one.pid != host.pid]
        assert await gone(others)
        left = await with_a_grandchild(model, server)
        host.kill()
        await until(lambda: gone(left))
        assert (await server.raw.post("/api/mcp/toy/restart")).body["state"] == "ready"


async def with_a_grandchild(model: ModelServer, server: TenutoServer) -> list[psutil.Process]:
    """All that an MCP server and its host have started, a deaf process that ran away included."""
    async with server.client() as tenuto:
        session = await tenuto.create_session()
        after = await use(model, session, "toy__grandchild", path="pid")
        await after.say("Done")
        pid = await found(server, "pid")
    assert processes(server)
    await until(lambda: said(pid, "\n"))
    left: list[psutil.Process] = psutil.Process(server.pid).children(recursive=True)
    return left


async def found(server: TenutoServer, name: str) -> anyio.Path:
    """A file that a tool has written in the default workspace."""
    workspace = await server.raw.get("/api/workspaces/default")
    return anyio.Path(workspace["path"]) / name


async def said(path: anyio.Path, text: str) -> bool:
    return await path.exists() and text in await path.read_text()


async def gone(processes: list[psutil.Process]) -> bool:
    return not [one for one in processes if one.is_running() and one.status() != "zombie"]
