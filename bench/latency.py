"""(b) How much later a token reaches a client than without Tenuto, and (d) with many viewers."""

from bench.processes import Reader, Tenuto
from bench.table import Figure

RATE = 50
SECONDS = 6
LOADS = (1, 100)
VIEWERS = (1, 100, 500)
P50_AIM_MS = 2.0
P99_AIM_MS = 10.0


def measure(server: Tenuto, model_port: int) -> list[Figure]:
    figures = []
    for runs in LOADS:
        bare = _read("bare", model_port, runs)
        through = _read("tenuto", server.port, runs)
        for which, aim in (("p50", P50_AIM_MS), ("p99", P99_AIM_MS)):
            added = through[f"{which}_ms"] - bare[f"{which}_ms"]
            figures.append(
                Figure(
                    name=f"added latency {which}, {runs} runs x {RATE} tokens/s",
                    value=added,
                    unit="ms",
                    beside={
                        "through": through[f"{which}_ms"],
                        "direct": bare[f"{which}_ms"],
                    },
                    aim=f"<= {aim:g} ms" if runs > 1 else "",
                    met=added <= aim if runs > 1 else None,
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
