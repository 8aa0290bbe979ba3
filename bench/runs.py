"""(h) What a short run costs: runs of one token per second, CPU of each, and prompt → provider."""

import asyncio
import json
import time
from collections.abc import Sequence

import uvloop

from bench.processes import Tenuto
from bench.reader import TenutoLines, ask, http, new_sessions, read
from bench.table import Figure, percentile

AT_ONCE = (1, 20, 100)
RUNS = {1: 200, 20: 600, 100: 1_000}
"""How many are made; each person waits for an answer before the next prompt."""
AIM_RUNS = 250.0
AIM_CPU_MS = 3.5
AIM_PROVIDER_MS = 4.0


def measure(server: Tenuto, model_port: int) -> list[Figure]:
    uvloop.run(many([server.port], people=20, runs=100))
    figures = []
    for people in AT_ONCE:
        figures += _measure(server, model_port, people)
    return figures


def _measure(server: Tenuto, model_port: int, people: int) -> list[Figure]:
    busy, began = server.cpu_seconds(), time.monotonic()
    sent = uvloop.run(many([server.port], people=people, runs=RUNS[people]))
    seconds, cpu = time.monotonic() - began, server.cpu_seconds() - busy
    asked = uvloop.run(ask(model_port, "GET", "/stats"))["asked_at"]
    waits = [(asked[name] - at) * 1000 for name, at in sent.items()]
    rate, each = len(sent) / seconds, cpu / len(sent) * 1000
    at_most = people == AT_ONCE[-1]
    alone = people == 1
    return [
        Figure(
            name=f"runs of one token, {people} at once",
            value=rate,
            unit="runs/s",
            beside={"ms of CPU each": each},
            aim=f">= {AIM_RUNS:g} or {AIM_CPU_MS:g} ms of CPU" if at_most else "",
            met=(rate >= AIM_RUNS or each <= AIM_CPU_MS) if at_most else None,
        ),
        Figure(
            name=f"prompt -> provider p50, {people} at once",
            value=percentile(waits, 0.5),
            unit="ms",
            beside={"p99": percentile(waits, 0.99)},
            aim=f"<= {AIM_PROVIDER_MS:g} ms" if alone else "",
            met=percentile(waits, 0.5) <= AIM_PROVIDER_MS if alone else None,
        ),
    ]


async def many(ports: Sequence[int], *, people: int, runs: int) -> dict[str, float]:
    """When each prompt was sent, by the name of its answer; people are spread over the ports."""
    sent: dict[str, float] = {}

    async def person(port: int, session: str) -> None:
        for n in range(runs // people):
            name = f"{session}-{n}"
            asked = json.dumps({"tokens": 1, "name": name})
            body = {"input": asked, "mode": "chat"}
            path = f"/api/sessions/{session}/runs"
            request = http("POST", path, body, accept="text/event-stream")
            sent[name] = time.monotonic()
            await read(TenutoLines, port, request)

    spread = [ports[n % len(ports)] for n in range(people)]
    sessions = [(port, (await new_sessions(port, 1))[0]) for port in spread]
    await asyncio.gather(*(person(port, session) for port, session in sessions))
    return sent
