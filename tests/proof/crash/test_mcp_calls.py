"""A server of ours dies around a call of an MCP server: the call is not made again by itself.

By themselves, and not in every cycle of the campaign: the host takes longer to start than a life lasts.
"""

import json
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.proof.crash.server import TOKEN, CrashingServer, ServerProcesses
from tests.proof.crash.server_process import Order
from tests.support.mcp_house import TOY_SERVER
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.talk import call_tool
from tests.support.watch import until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("point", "lines"), [("tool starting", 0), ("tool ended", 1)])
async def test_a_call_that_a_death_came_upon_is_interrupted_and_not_made_again(
    tmp_path: Path, point: str, lines: int
) -> None:
    settings = {"name": "toy", **TOY_SERVER}
    toml = "\n".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
    (tmp_path / "tenuto.toml").write_text(f"[[mcp]]\n{toml}\n")
    env = {"TENUTO_PERMISSIONS": "allow", "TENUTO_TITLES": "off"}
    orders = [Order(point=f"{point}: toy__append", passing=1)]
    async with (
        ModelServer() as model,
        ServerProcesses() as processes,
        CrashingServer(processes, tmp_path, model_url=model.url, orders=orders, env=env) as server,
    ):
        model.models = ["test-model"]
        await server.up()
        raw = RawApi(server.url, TOKEN)
        session = (await raw.post("/api/sessions", {})).body["id"]
        run = (await raw.post(f"/api/sessions/{session}/runs", {"input": "Add"})).body["id"]
        await call_tool(await model.next_request(), "toy__append", path=str(tmp_path / "ledger"))

        async def died() -> bool:
            return server.deaths == 1

        await until(died)
        await server.up()

        async def ended() -> bool:
            return bool((await raw.get(f"/api/runs/{run}"))["status"] == "interrupted")

        await until(ended)
        messages = (await raw.get(f"/api/sessions/{session}/messages"))["messages"]
        (call,) = [part for part in messages[-1]["parts"] if part["type"] == "tool"]
        assert call["state"] == "interrupted"

        async def alone() -> bool:
            return not _left_of(tmp_path)

        await until(alone)
        assert _ledger(tmp_path).count("once\n") == lines


def _ledger(folder: Path) -> str:
    path = folder / "ledger"
    return path.read_text() if path.exists() else ""


def _left_of(folder: Path) -> list[int]:
    """MCP servers that were started in a workspace below this folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        line, cwd = " ".join(process.info["cmdline"] or ()), process.info["cwd"] or ""
        if "toy_mcp" in line and cwd.startswith(str(folder)):
            found.append(process.pid)
    return found
