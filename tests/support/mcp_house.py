"""A server of ours that knows the toy MCP server, and what of it is alive."""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from tenuto.client import SessionHandle
from tests.support.model_server import Exchange, ModelServer
from tests.support.server import TenutoServer
from tests.support.talk import call_tool
from tests.support.watch import until

TOY = Path(__file__).with_name("toy_mcp.py")
TOY_SERVER = {"command": sys.executable, "args": [str(TOY)]}


@asynccontextmanager
async def house(
    folder: Path, model: ModelServer, env: Mapping[str, str] | None = None, **toy: Any
) -> AsyncIterator[TenutoServer]:
    """With `[[mcp]] name = "toy"` in its file, and every permission given."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in (TOY_SERVER | toy).items()]
    (folder / "tenuto.toml").write_text("\n".join(['[[mcp]]\nname = "toy"', *lines]))
    allowed = {"TENUTO_PERMISSIONS": "allow", **(env or {})}
    async with TenutoServer(folder, model_url=model.url, env=allowed) as server:
        yield server


async def use(model: ModelServer, session: SessionHandle, tool: str, **given: Any) -> Exchange:
    """A run calls this tool; the request that tells the model what came of it."""
    await session.prompt("Use it")
    await call_tool(await model.next_request(), tool, **given)
    return await model.next_request()


def told(request: Exchange) -> str:
    return str(request.messages[-1]["content"])


def offered(request: Exchange) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", ())}


def processes(server: TenutoServer) -> list[str]:
    """What speaks with MCP servers below a server of ours, and those themselves."""
    return _mcp(psutil.Process(server.pid).children(recursive=True))


def _mcp(found: list[Any]) -> list[str]:
    lines = []
    for process in found:
        try:
            line = " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            continue
        if "toy_mcp" in line or "agent.mcp.host" in line:
            lines.append(line)
    return lines


async def pending(server: TenutoServer, session_id: str) -> dict[str, Any]:
    """The question that the session waits with."""
    found: list[dict[str, Any]] = []

    async def asked() -> bool:
        answer = await server.raw.get(f"/api/sessions/{session_id}/questions")
        found[:] = [one for one in answer["questions"] if one["state"] == "pending"]
        return bool(found)

    await until(asked)
    return found[0]
