"""(b) How much later a token reaches a client than without Tenuto, and (d) with many viewers."""

from statistics import median

from bench.processes import Metronomes, Reader, Tenuto
from bench.table import Figure

RATE = 50
SECONDS = 6
LOADS = (1, 100)
PASSES = 3
"""A neighbour on the machine that stops everything for 50 ms, once, is 1 % of a pass."""
VIEWERS = (1, 100, 500)
AIMS_MS = {1: {"p50": 0.9, "p99": 2.5}, 100: {"p50": 2.0, "p99": 10.0}}


def measure(server: Tenuto, model_port: int) -> list[Figure]:
    figures = []
    for runs in LOADS:
        with Metronomes() as machine:
            passes = [
                (_read("bare", model_port, runs), _read("tenuto", server.port, runs))
                for _ in range(PASSES)
            ]
        for which, aim in AIMS_MS[runs].items():
            each = sorted(t[f"{which}_ms"] - b[f"{which}_ms"] for b, t in passes)
            added = median(each)
            figures.append(
                Figure(
                    name=f"added latency {which}, {runs} runs x {RATE} tokens/s",
                    value=added,
                    unit="ms",
                    beside={
                        "least": each[0],
                        "most": each[-1],
                        "direct": median(b[f"{which}_ms"] for b, _ in passes),
                    },
                    aim=f"<= {aim:g} ms",
                    met=added <= aim,
                )
            )
        figures.append(
            Figure(
                name="meanwhile the machine itself stood still",
                value=100 * machine.share,
                unit="%",
                beside={"longest ms": machine.longest_ms},
                note=machine.note,
            )
        )
    return figures


def measure_viewers(server: Tenuto) -> list[Figure]:
    figures = []
    for viewers in VIEWERS:
        busy = server.cpu_seconds()
        seen = _read("watch", server.port, viewers)
        busy = server.cpu_seconds() - busy
        figures.append(
            Figure(
                name=f"latency p50, one run watched by {viewers}",
                value=seen["p50_ms"],
                unit="ms",
                beside={"p99": seen["p99_ms"]},
                note=f"{busy / seen['events'] * 1e6:.0f} µs of server CPU per event and viewer",
            )
        )
    return figures


def _read(kind: str, port: int, runs: int) -> dict[str, float]:
    return Reader(kind, port, runs=runs, tokens=RATE * SECONDS, rate=RATE).go().result()
