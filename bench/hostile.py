"""(i) How long everyone else waits while hostile providers do their worst."""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.hostile.campaign import all_shapes, hostile_server, meet_all

from bench.processes import ROOT, Metronomes
from bench.table import Figure, percentile

IDLE_SECONDS = 3.0
AIM_MS = 250.0


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="tenuto-hostile-") as folder, Metronomes() as machine:
        idle, waits = asyncio.run(_measure(Path(folder)))
    worst, beside = max(waits), {"idle": max(idle), "machine": machine.longest_ms}
    count = f"{len(all_shapes())} shapes, {len(waits)} questions"
    return [
        Figure(
            name="/healthz, longest wait",
            value=worst,
            unit="ms",
            beside=beside,
            note=count,
            aim=f"<= {AIM_MS:g} ms",
            met=worst <= AIM_MS,
        ),
        Figure(
            name="/healthz, p99",
            value=percentile(waits, 0.99),
            unit="ms",
            beside={"idle": percentile(idle, 0.99), "p50": percentile(waits, 0.5)},
        ),
    ]


async def _measure(folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of each question, first while nothing happens."""
    shapes = all_shapes()
    async with hostile_server(folder, shapes) as (server, api):
        pulse = _Pulse(server.port)
        await asyncio.sleep(IDLE_SECONDS)
        idle = await pulse.stop()
        pulse = _Pulse(server.port)
        if wrong := await meet_all(api, shapes):
            raise SystemExit(f"a shape was not met as it should be: {wrong}")
        return idle, await pulse.stop()


class _Pulse:
    """The process that asks."""

    def __init__(self, port: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.pulse", str(port)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def stop(self) -> list[float]:
        told, _ = await asyncio.to_thread(self._process.communicate)
        return [1000 * seconds for seconds in json.loads(told)]
