"""(c) From the cancel request to the provider's closed socket, and to the answer."""

import asyncio
import json
import time

import uvloop

from bench.processes import Tenuto
from bench.reader import ask, new_sessions
from bench.table import Figure, percentile

LOADS = (20, 100)
CANCELS = 40
PAUSE_SECONDS = 0.02
CLOSED_AIM_MS = {20: (3.0, 10.0), 100: (None, 20.0)}
"""p50 and p99, for each load."""


def measure(server: Tenuto, model_port: int) -> list[Figure]:
    return uvloop.run(_measure(server.port, model_port))


async def _measure(port: int, model_port: int) -> list[Figure]:
    figures = []
    for runs in LOADS:
        load = await _start(port, [{"tokens": 10**6, "rate": 50}] * runs)
        for silent in (False, True):
            closed, answered = await _cancel_many(port, model_port, silent=silent)
            kind = "silent" if silent else "streaming"
            for what, values, aims in (
                ("provider closed", closed, CLOSED_AIM_MS[runs]),
                ("answered", answered, (None, None)),
            ):
                for share, aim in zip((0.5, 0.99), aims, strict=True):
                    value = percentile(values, share)
                    figures.append(
                        Figure(
                            name=f"cancel -> {what} p{share * 100:g}, {kind}, {runs} runs",
                            value=value,
                            unit="ms",
                            aim=f"<= {aim:g} ms" if aim else "",
                            met=value <= aim if aim else None,
                        )
                    )
        await asyncio.gather(*(ask(port, "POST", f"/api/sessions/{s}/cancel") for s in load))
    return figures


async def _cancel_many(
    port: int, model_port: int, *, silent: bool
) -> tuple[list[float], list[float]]:
    """Milliseconds from each request on, for runs that were under way for a while."""
    names = [f"{silent}-{time.monotonic_ns()}-{n}" for n in range(CANCELS)]
    orders = [{"tokens": 10**6, "rate": 50, "silent": silent, "name": name} for name in names]
    sessions = await _start(port, orders)
    await asyncio.sleep(0.5)
    sent: dict[str, float] = {}
    answered = []
    for name, session in zip(names, sessions, strict=True):
        sent[name] = time.monotonic()
        receipt = await ask(port, "POST", f"/api/sessions/{session}/cancel")
        answered.append((time.monotonic() - sent[name]) * 1000)
        if not receipt["settled"]:
            raise SystemExit("a cancel did not settle")
        await asyncio.sleep(PAUSE_SECONDS)
    await asyncio.sleep(0.2)
    closed_at = (await ask(model_port, "GET", "/stats"))["closed_at"]
    return [(closed_at[name] - at) * 1000 for name, at in sent.items()], answered


async def _start(port: int, orders: list[dict[str, object]]) -> list[str]:
    sessions = await new_sessions(port, len(orders))
    for session, order in zip(sessions, orders, strict=True):
        body = {"input": json.dumps(order), "mode": "chat"}
        await ask(port, "POST", f"/api/sessions/{session}/runs", body)
    return sessions
