"""(k) What the way from one node to another costs: a stream, a stop, a death."""

import asyncio
import time
from collections.abc import Sequence

import uvloop

from bench.processes import Tenuto
from bench.reader import Tally, TenutoLines, ask, http, new_sessions, order, read
from bench.table import Figure, percentile

RUNS, RATE, SECONDS = 20, 50, 5
CANCELS = 200
"""On each node: of sixty, the 99th percentile is the one that met a stop of the machine."""
AT_ONCE = 10
PAUSE_SECONDS = 0.3
LEFT = 50
STREAM_AIMS_MS = {0.5: 5.0, 0.99: 30.0}
CANCEL_AIMS_MS = {0.5: None, 0.99: 30.0}
SETTLED_AIM_SECONDS = 5.0


def measure(one: Tenuto, other: Tenuto, model_port: int) -> list[Figure]:
    streams = uvloop.run(_streams(one.port, other.port))
    stops = uvloop.run(_stops(one.port, other.port, model_port))
    return [*streams, *stops, _death(one, other)]


async def _streams(own: int, other: int) -> list[Figure]:
    """Each run is watched twice at the same time: where it is, and elsewhere."""
    tokens = RATE * SECONDS
    Tally.counted = range(RATE, tokens - RATE)
    sessions = await new_sessions(own, RUNS)
    here = [asyncio.create_task(_watch(own, session)) for session in sessions]
    there = [asyncio.create_task(_watch(other, session)) for session in sessions]
    await asyncio.sleep(0.5)
    await asyncio.gather(*(_prompt(own, session, tokens) for session in sessions))
    late = [_late(await asyncio.gather(*watches)) for watches in (here, there)]
    figures = []
    for share, aim in STREAM_AIMS_MS.items():
        at_home, away = (percentile(one, share) for one in late)
        figures.append(
            Figure(
                name=f"stream on another node, later by p{share * 100:g}",
                value=away - at_home,
                unit="ms",
                beside={"its own": at_home, "other": away},
                aim=f"<= {aim:g} ms",
                met=away - at_home <= aim,
            )
        )
    return figures


async def _stops(own: int, other: int, model_port: int) -> list[Figure]:
    """In turn, at the node of the run and at the other, while other runs stream."""
    tokens = RATE * 3600
    load = await new_sessions(own, RUNS)
    for session in load:
        await _prompt(own, session, tokens)
    waits: dict[int, list[float]] = {own: [], other: []}
    for _ in range(CANCELS // AT_ONCE):
        # Not all from the beginning: those that wait for their end would be a load of their own.
        sessions = await new_sessions(own, 2 * AT_ONCE)
        for session in sessions:
            await _prompt(own, session, tokens)
        await asyncio.sleep(PAUSE_SECONDS)
        for n, session in enumerate(sessions):
            port = (own, other)[n % 2]
            waits[port].append(await _stop(port, session))
    await asyncio.gather(*(ask(own, "POST", f"/api/sessions/{s}/cancel") for s in load))
    await _until_closed(model_port)
    figures = []
    for share, aim in CANCEL_AIMS_MS.items():
        at_home, away = (percentile(waits[port], share) for port in (own, other))
        figures.append(
            Figure(
                name=f"cancel on another node, longer by p{share * 100:g}",
                value=away - at_home,
                unit="ms",
                beside={"its own": at_home, "other": away},
                aim=f"<= {aim:g} ms" if aim else "",
                met=away - at_home <= aim if aim else None,
            )
        )
    return figures


async def _stop(port: int, session: str) -> float:
    began = time.monotonic()
    receipt = await ask(port, "POST", f"/api/sessions/{session}/cancel")
    if not receipt["settled"]:
        raise SystemExit("a cancel did not settle")
    return (time.monotonic() - began) * 1000


def _death(one: Tenuto, other: Tenuto) -> Figure:
    uvloop.run(_leave(one.port, other.port))
    one.kill()
    began = time.monotonic()
    uvloop.run(_until_running(other.port, 0))
    seconds = time.monotonic() - began
    return Figure(
        name=f"kill -9 with {LEFT} runs -> all settled",
        value=seconds,
        unit="s",
        aim=f"<= {SETTLED_AIM_SECONDS:g} s",
        met=seconds <= SETTLED_AIM_SECONDS,
    )


async def _leave(own: int, other: int) -> None:
    for session in await new_sessions(own, LEFT):
        await _prompt(own, session, RATE * 3600)
    await _until_running(other, LEFT)


async def _until_running(port: int, count: int) -> None:
    while len((await ask(port, "GET", "/api/runs?status=running&limit=200"))["runs"]) != count:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def _until_closed(model_port: int) -> None:
    while (await ask(model_port, "GET", "/stats"))["open"]:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def _watch(port: int, session: str) -> Tally:
    return await read(TenutoLines, port, http("GET", f"/api/sessions/{session}/events"))


async def _prompt(port: int, session: str, tokens: int) -> None:
    body = {"input": order(tokens, RATE), "mode": "chat"}
    await ask(port, "POST", f"/api/sessions/{session}/runs", body)


def _late(tallies: Sequence[Tally]) -> list[float]:
    return [late / 1000 for tally in tallies for late in tally.late]
