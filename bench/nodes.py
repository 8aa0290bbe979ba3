"""(k) Nodes on one PostgreSQL: what they do together, beside a file and beside PostgreSQL itself."""

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import asyncpg
import uvloop
from tests.support.postgres import Server, folder_for_all, fresh_database, started

from bench import across
from bench.processes import Metronomes, Reader, Tenuto, tenuto, upstream
from bench.runs import many
from bench.table import Figure, ratio

SIZES = (1, 2, 4)
RUNS, TOKENS = 100, 400
PEOPLE, SHORT_RUNS = 20, 200
PACED, RATE, SECONDS = 20, 50, 4
COPY_ROWS, COPY_SECONDS = 500, 2.0
"""In one commit; about as many tokens as Tenuto stores together when it has much to do."""
BODY = (
    b'{"type":"part.delta","session_id":"ses_01m7pj8jbwwe0nbbzxmkc48pv7","at":"2030-01-01T00:00:00'
    b'.000Z","run_id":"run_01m7pj8jd7sqp6b705rp90gx1x","message_id":"msg_01m7pj8jd7sqp6b705rp90gx'
    b'1x","part_id":"prt_01m7pj8jd7sqp6b705rp90gx1x","text":"123:123456789012 "}'
)
TABLE = (
    'CREATE TABLE bare (stream text COLLATE "C", seq bigint, type text COLLATE "C",'
    ' run_id text COLLATE "C", body bytea, PRIMARY KEY (stream, seq))'
)


def measure() -> list[Figure]:
    with upstream() as model_port, Metronomes() as machine:
        direct = _paced("bare", model_port)
        with tenuto(model_port) as alone:
            on_file = _Speed([alone], direct)
        with _postgres() as server, _Cluster(server, model_port) as cluster:
            ceiling = uvloop.run(_copy(server.url))
            speeds = {size: _Speed(cluster.nodes(size), direct) for size in SIZES}
            one, other = cluster.nodes(2)
            between = across.measure(one, other, model_port)
    still = Figure(
        name="meanwhile the machine itself stood still",
        value=100 * machine.share,
        unit="%",
        beside={"longest ms": machine.longest_ms},
        note=machine.note,
    )
    return [*_told(on_file, speeds, ceiling), *between, still]


class _Speed:
    """Of these nodes together; each has a share of the work."""

    def __init__(self, nodes: Sequence[Tenuto], direct: dict[str, float]) -> None:
        uvloop.run(many([node.port for node in nodes], people=len(nodes), runs=10 * len(nodes)))
        self.tokens = _tokens(nodes)
        self.runs = _short_runs(nodes)
        found = _paced("tenuto", nodes[0].port)
        self.added = {which: found[f"{which}_ms"] - direct[f"{which}_ms"] for which in _SHARES}


_SHARES = ("p50", "p99")


def _tokens(nodes: Sequence[Tenuto]) -> float:
    readers = [
        Reader("tenuto", node.port, runs=RUNS // len(nodes), tokens=TOKENS) for node in nodes
    ]
    began = time.monotonic()
    for reader in readers:
        reader.go()
    tokens: int = sum(reader.result()["tokens"] for reader in readers)
    return tokens / (time.monotonic() - began)


def _short_runs(nodes: Sequence[Tenuto]) -> float:
    began = time.monotonic()
    sent = uvloop.run(many([node.port for node in nodes], people=PEOPLE, runs=SHORT_RUNS))
    return len(sent) / (time.monotonic() - began)


def _paced(kind: str, port: int) -> dict[str, float]:
    return Reader(kind, port, runs=PACED, tokens=RATE * SECONDS, rate=RATE).go().result()


async def _copy(url: str) -> float:
    """Rows a second that PostgreSQL takes from one connection that does nothing else."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(TABLE)
        began, seq = time.monotonic(), 0
        while time.monotonic() - began < COPY_SECONDS:
            rows = [
                (f"ses_{n % RUNS}", seq + n, "part.delta", "run_1", BODY) for n in range(COPY_ROWS)
            ]
            await connection.copy_records_to_table("bare", records=rows)
            seq += COPY_ROWS
        return seq / (time.monotonic() - began)
    finally:
        await connection.close()


def _told(on_file: _Speed, speeds: dict[int, _Speed], ceiling: float) -> list[Figure]:
    figures = [Figure(name="bare COPY, 500 rows a commit", value=ceiling, unit="rows/s")]
    for nodes, speed in speeds.items():
        figures += [
            Figure(
                name=f"tokens/s, {RUNS} runs on {nodes} nodes",
                value=speed.tokens,
                unit="tokens/s",
                beside={"SQLite": on_file.tokens},
                ratios={
                    "of SQLite": ratio(speed.tokens, on_file.tokens),
                    "of COPY": ratio(speed.tokens, ceiling),
                },
            ),
            Figure(
                name=f"runs of one token, {PEOPLE} at once on {nodes} nodes",
                value=speed.runs,
                unit="runs/s",
                beside={"SQLite": on_file.runs},
                ratios={"of SQLite": ratio(speed.runs, on_file.runs)},
            ),
        ]
    for nodes, speed in speeds.items():
        figures += [
            Figure(
                name=f"added latency {which}, {PACED} runs, one of {nodes} nodes",
                value=speed.added[which],
                unit="ms",
                beside={"SQLite": on_file.added[which]},
            )
            for which in _SHARES
        ]
    return figures


@contextmanager
def _postgres() -> Iterator[Server]:
    """A real one, that keeps what it said it keeps."""
    folder = folder_for_all()
    server = started(folder, crashes=True)
    try:
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


class _Cluster:
    """Nodes that are started when they are asked for, and not before."""

    def __init__(self, server: Server, model_port: int) -> None:
        self._server = server
        self._model_port = model_port
        self._nodes: list[Tenuto] = []

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="tenuto-nodes-"))
        self._url = uvloop.run(fresh_database(self._server.url, "bench"))
        return self

    def nodes(self, size: int) -> list[Tenuto]:
        while len(self._nodes) < size:
            name = f"n{len(self._nodes)}"
            env = {
                "TENUTO_DATABASE": self._url,
                "TENUTO_NODE": name,
                "TENUTO_SECRET": "the-same-on-every-node",
            }
            node = Tenuto(self._model_port, self._folder / name, **env)
            node.start()
            self._nodes.append(node)
        return self._nodes[:size]

    def __exit__(self, *_: object) -> None:
        for node in self._nodes:
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
