"""(l) What the log grows by when a tool says much, or is told much."""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.support.model_server import Exchange, ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer

from bench.table import Figure

PRINTED = 160_000
LINES = 1_000
SECONDS = 30.0
WRITTEN = 100_000
PIECE = 200
"""Characters of input that a model sends at a time."""
AIM_PRINTED_KB = 350
AIM_WRITTEN_KB = 250

Play = Callable[[ModelServer], Awaitable[None]]


def measure() -> list[Figure]:
    return [
        _figure(f"events of a command that prints {PRINTED // 1000} kB", _print, AIM_PRINTED_KB),
        _figure(f"events of writing a file of {WRITTEN // 1000} kB", _write, AIM_WRITTEN_KB),
    ]


def _figure(name: str, play: Play, aim: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="tenuto-log-") as folder:
        size = asyncio.run(_events(Path(folder), play)) / 1000
    return Figure(name=name, value=size, unit="kB", aim=f"<= {aim} kB", met=size <= aim)


async def _events(folder: Path, play: Play) -> int:
    """The bytes that a viewer of one run is sent."""
    async with ModelServer() as model:
        env = {"TENUTO_PERMISSIONS": "allow", "TENUTO_TITLES": "off"}
        async with TenutoServer(folder, model_url=model.url, env=env) as server:
            api = RawApi(server.url, server.token)
            session = (await api.post("/api/sessions", {})).body["id"]
            run = (await api.post(f"/api/sessions/{session}/runs", {"input": "Go"})).body["id"]
            await play(model)
            await (await model.next_request(timeout=4 * SECONDS)).say("Done.")
            async with api.sse(f"/api/runs/{run}/events") as stream:
                frames = await stream.to_the_end()
            return sum(len(json.dumps(frame.data, ensure_ascii=False).encode()) for frame in frames)


async def _print(model: ModelServer) -> None:
    line = "x" * (PRINTED // LINES - 1)
    pause = SECONDS / LINES
    command = f"for i in $(seq {LINES}); do echo {line}; sleep {pause:.3f}; done"
    await _call(await model.next_request(), "shell", {"command": command})


async def _write(model: ModelServer) -> None:
    line = 'a line of a file, of the usual length and with a quote " in it\n'
    content = (line * (WRITTEN // len(line) + 1))[:WRITTEN]
    await _call(await model.next_request(), "write_file", {"path": "long.txt", "content": content})


async def _call(exchange: Exchange, name: str, given: dict[str, str]) -> None:
    await exchange.tool_call(0, "call_1", name)
    text = json.dumps(given)
    for start in range(0, len(text), PIECE):
        await exchange.tool_input(0, text[start : start + PIECE])
    await exchange.finish("tool_calls")
