"""(g) How long a restart takes to settle what a crash interrupted, and (f) what it all weighs."""

import asyncio
import json
import time

import uvloop

from bench.processes import Tenuto
from bench.reader import ask, http, new_sessions
from bench.table import Figure

INTERRUPTED = 1_000
SHOWN = 200
IDLE_VIEWERS = 500
AIM_SECONDS = 2.0
IDLE_AIM_MB = 70.0


def measure(server: Tenuto) -> list[Figure]:
    uvloop.run(_interrupt(server.port))
    server.kill()
    began = time.monotonic()
    server.start()
    left = uvloop.run(_still_running(server.port))
    seconds = time.monotonic() - began
    if left:
        raise SystemExit(f"{left} runs still say running")
    return [
        Figure(
            name=f"restart after a crash with {INTERRUPTED} runs",
            value=seconds,
            unit="s",
            note="from the start of the process to nothing running, start-up included",
            aim=f"< {AIM_SECONDS:g} s",
            met=seconds < AIM_SECONDS,
        )
    ]


def measure_footprint(server: Tenuto) -> list[Figure]:
    idle = server.megabytes()
    with_viewers = uvloop.run(_with_viewers(server))
    return [
        Figure(name="start-up to ready", value=server.started_in, unit="s"),
        Figure(
            name="idle memory",
            value=idle,
            unit="MB",
            aim=f"< {IDLE_AIM_MB:g} MB",
            met=idle < IDLE_AIM_MB,
        ),
        Figure(
            name="memory per idle viewer",
            value=(with_viewers - idle) * 1024 / IDLE_VIEWERS,
            unit="kB",
        ),
    ]


def measure_bytes(server: Tenuto, tokens: int) -> list[Figure]:
    """After paced runs that stored every token as an event of its own."""
    size = server.database.stat().st_size
    wal = server.database.with_name(server.database.name + "-wal")
    size += wal.stat().st_size if wal.exists() else 0
    note = "every token an event; the janitor folds them later"
    return [Figure(name="database bytes per token", value=size / tokens, unit="B", note=note)]


async def _interrupt(port: int) -> None:
    order = json.dumps({"silent": True})
    for session in await new_sessions(port, INTERRUPTED):
        await ask(port, "POST", f"/api/sessions/{session}/runs", {"input": order, "mode": "chat"})
    for _ in range(100):
        if len(await _running(port)) == SHOWN:
            return
        await asyncio.sleep(0.1)
    raise SystemExit("the runs did not start")


async def _still_running(port: int) -> int:
    for _ in range(100):
        if not (left := len(await _running(port))):
            return 0
        await asyncio.sleep(0.05)
    return left


async def _running(port: int) -> list[object]:
    found: list[object] = (await ask(port, "GET", f"/api/runs?status=running&limit={SHOWN}"))[
        "runs"
    ]
    return found


async def _with_viewers(server: Tenuto) -> float:
    (session,) = await new_sessions(server.port, 1)
    watching = []
    for _ in range(IDLE_VIEWERS):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(http("GET", f"/api/sessions/{session}/events"))
        watching.append(writer)
    await asyncio.sleep(2)
    size = server.megabytes()
    for writer in watching:
        writer.close()
    return size
