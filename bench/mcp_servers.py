"""What MCP servers cost that nobody uses: start-up and memory with three of them, and without."""

import statistics
import tempfile
from pathlib import Path

from bench.processes import Tenuto
from bench.table import Figure, ratio

ROUNDS = 7
MOST = 1.05
THREE = "\n".join(
    f'[[mcp]]\nname = "server-{number}"\ncommand = "npx"\nargs = ["-y", "some-server"]\n'
    for number in range(3)
)


def measure(model_port: int) -> list[Figure]:
    """In turn, so that both see the same machine."""
    without: list[tuple[float, float]] = []
    with_three: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        without.append(_started(model_port, ""))
        with_three.append(_started(model_port, THREE))
    return [
        _figure("start-up with three MCP servers that nobody uses", "s", without, with_three, 0),
        _figure("memory with three MCP servers that nobody uses", "MB", without, with_three, 1),
    ]


def _started(model_port: int, settings: str) -> tuple[float, float]:
    """Seconds until ready, and megabytes then."""
    with tempfile.TemporaryDirectory(prefix="tenuto-bench-") as folder:
        (Path(folder) / "tenuto.toml").write_text(settings)
        server = Tenuto(model_port, Path(folder))
        server.start()
        try:
            return server.started_in, server.megabytes()
        finally:
            server.stop()


def _figure(
    name: str,
    unit: str,
    without: list[tuple[float, float]],
    with_three: list[tuple[float, float]],
    place: int,
) -> Figure:
    plain = statistics.median(one[place] for one in without)
    value = statistics.median(one[place] for one in with_three)
    return Figure(
        name=name,
        value=value,
        unit=unit,
        beside={"without": plain},
        ratios={"of without": ratio(value, plain)},
        aim=f"<= {MOST:g}x",
        met=value <= MOST * plain,
    )
