"""`python -m bench`: every measurement, as a table and as JSON. Some six minutes."""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    agent,
    growth,
    hostile,
    latency,
    log_growth,
    mcp_servers,
    nodes,
    recovery,
    runs,
    stopping,
    throughput,
)
from bench.processes import Tenuto, tenuto, upstream
from bench.table import Figure, as_json, say, show

PACED_TOKENS = (1 + 100) * latency.PASSES * latency.RATE * latency.SECONDS


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("only", nargs="*", help="letters of the measurements, a to m; all if none")
    parser.add_argument("--json", type=Path, default=Path("bench-results.json"))
    options = parser.parse_args()
    began = time.monotonic()
    groups: dict[str, list[Figure]] = {}

    def take(letters: str, title: str, work: Callable[[], list[Figure]]) -> None:
        if options.only and not set(letters) & set("".join(options.only)):
            return
        say(f"\n{title}")
        groups[letters] = work()
        show(groups[letters])

    take("b", "(b, f) Latency, and what a token weighs", _latency)
    take("a", "(a) Tokens per second", lambda: _with_server(throughput.measure))
    take("c", "(c) Stopping", lambda: _with_server(stopping.measure))
    take("d", "(d) Viewers", lambda: _with_server(lambda s, _: latency.measure_viewers(s)))
    take("f", "(f) Start-up and memory", lambda: _with_server(lambda s, _: _weigh(s)))
    take("g", "(g) Recovery", lambda: _with_server(lambda s, _: recovery.measure(s)))
    take("e", "(e) Growth", _growth)
    take("h", "(h) Short runs", lambda: _with_server(runs.measure))
    take("i", "(i) Hostile providers", hostile.measure)
    take("j", "(j) The agent", lambda: _with_server(lambda s, _: agent.measure(s)))
    take("k", "(k) Several nodes on PostgreSQL", nodes.measure)
    take("m", "(m) MCP servers that nobody uses", _unused_servers)
    take("l", "(l) What tools add to the log", log_growth.measure)
    seconds = time.monotonic() - began
    about = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "seconds": round(seconds, 1),
        "load_average": os.getloadavg(),
    }
    options.json.write_bytes(as_json(groups, about))
    short = [
        figure.name for figures in groups.values() for figure in figures if figure.met is False
    ]
    say(f"\n{seconds:.0f} s; written to {options.json}")
    say(f"short of the aim: {', '.join(short)}" if short else "every aim was met")


def _with_server(work: Callable[[Tenuto, int], list[Figure]]) -> list[Figure]:
    with upstream() as port, tenuto(port) as server:
        return work(server, port)


def _unused_servers() -> list[Figure]:
    with upstream() as port:
        return mcp_servers.measure(port)


def _latency() -> list[Figure]:
    def work(server: Tenuto, port: int) -> list[Figure]:
        figures = latency.measure(server, port)
        return figures + recovery.measure_bytes(server, PACED_TOKENS)

    return _with_server(work)


def _weigh(server: Tenuto) -> list[Figure]:
    return recovery.measure_footprint(server)


def _growth() -> list[Figure]:
    with (
        upstream() as port,
        tempfile.TemporaryDirectory(prefix="tenuto-few-") as few_folder,
        tempfile.TemporaryDirectory(prefix="tenuto-many-") as many_folder,
    ):
        few, many = Tenuto(port, Path(few_folder)), Tenuto(port, Path(many_folder))
        growth.fill(few.database, sessions=10)
        growth.fill(many.database, sessions=growth.SESSIONS)
        few.start()
        many.start()
        try:
            return growth.measure(few, many)
        finally:
            few.stop()
            many.stop()


if __name__ == "__main__":
    main()
