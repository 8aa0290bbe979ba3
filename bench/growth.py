"""(e) What a long session and many sessions cost, beside a short one and a few."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import uvloop

from bench.processes import Tenuto
from bench.reader import ask, http
from bench.table import Figure, percentile, ratio
from bench.talk import Deaf, message_of, said, session_of
from tenuto.clock import RandomIds, SystemClock
from tenuto.core.event import (
    Event,
    SessionCompacted,
)
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.storage.sqlite import SqliteStore

LENGTHS = (10, 1_000, 100_000)
SESSIONS = 100_000
AT_ONCE = 2_000
SAMPLES = 25
AIM = 1.5
RARE = "needle"
WORDS = "a quick brown fox jumps over the lazy dog while many tokens are held for their full value"


def fill(path: Path, *, sessions: int) -> None:
    """A database with this many sessions, and one of each length."""
    uvloop.run(_fill(path, sessions))


def measure(few: Tenuto, many: Tenuto) -> list[Figure]:
    """`few` has ten sessions, `many` a hundred thousand; both have one of each length."""
    figures = []
    for name, work in (("append a turn", _append), ("open", _open), ("resume", _resume)):
        costs = {n: _cost(partial(work, many.port, _long(n))) for n in LENGTHS}
        figures += _compared(f"{name}, session of", "messages", costs)
    # The same rows come back from both: the last word of a search also finds longer ones.
    listing = {"list": "/api/sessions?limit=10", "search": f"/api/sessions?q={RARE}"}
    for name, path in listing.items():
        costs = {
            count: _cost(partial(ask, server.port, "GET", path))
            for count, server in ((10, few), (SESSIONS, many))
        }
        figures += _compared(f"{name},", "sessions", costs)
    return figures


def _compared(name: str, of: str, costs: dict[int, float]) -> list[Figure]:
    smallest = next(iter(costs.values()))
    return [
        Figure(
            name=f"{name} {count:,} {of}",
            value=cost,
            unit="ms",
            ratios={"of the smallest": ratio(cost, smallest)},
            aim=f"<= {AIM}x" if cost is not smallest else "",
            met=cost <= AIM * smallest if cost is not smallest else None,
        )
        for count, cost in costs.items()
    ]


def _cost(work: Callable[[], Awaitable[object]]) -> float:
    """The median, in milliseconds; the first few are not counted."""

    async def repeat() -> float:
        took = []
        for _ in range(SAMPLES):
            began = time.perf_counter()
            await work()
            took.append((time.perf_counter() - began) * 1000)
        return percentile(took[5:], 0.5)

    return uvloop.run(repeat())


async def _append(port: int, session: str) -> None:
    body = {"input": json.dumps({"tokens": 1}), "mode": "chat"}
    request = http("POST", f"/api/sessions/{session}/runs", body, accept="text/event-stream")
    await _until(port, request, b"event: run.finished")


async def _open(port: int, session: str) -> None:
    # As many as the shortest has: the same rows come back from each.
    await ask(port, "GET", f"/api/sessions/{session}/messages?limit={LENGTHS[0]}")


async def _resume(port: int, session: str) -> None:
    head = (await ask(port, "GET", f"/api/sessions/{session}"))["head"]
    path = f"/api/sessions/{session}/events?after={head - 5}"
    await _until(port, http("GET", path), b"id: %d\n" % head)


async def _until(port: int, request: bytes, sign: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    seen = b""
    while sign not in seen:
        data = await reader.read(65536)
        if not data:
            raise SystemExit("a stream ended early")
        seen += data
    writer.close()


def _long(length: int) -> str:
    return f"ses_long{length}"


async def _fill(path: Path, sessions: int) -> None:
    store = SqliteStore(path, Deaf())
    await store.open()
    now = SystemClock().now()
    workspace = Workspace(
        id=DEFAULT_WORKSPACE, name="Default", path=str(path.parent), created_at=now
    )
    await store.put_workspace(workspace)
    ids = RandomIds()
    for start in range(0, sessions, AT_ONCE):
        await asyncio.gather(
            *(
                store.create_session(session_of(ids.new("ses"), f"{WORDS} {_own_word(n)}"))
                for n in range(start, min(start + AT_ONCE, sessions))
            )
        )
    for length in LENGTHS:
        await _add_long(store, length)
    await store.close()


def _own_word(n: int) -> str:
    return RARE if n == 0 else f"word{n}"


async def _add_long(store: SqliteStore, length: int) -> None:
    session = session_of(_long(length), f"long {length}")
    events: list[Event] = []
    finished = []
    for n in range(length):
        message = message_of(session, n, WORDS)
        events += said(message)
        finished.append(message)
    # A session of this length was summarised long ago: only what came after goes to the model.
    events.append(
        SessionCompacted(
            session_id=session.id,
            at=session.created_at,
            through_message_id=finished[-1].id,
            summary="All that was said.",
        )
    )
    await store.create_session(session, events, [m for m in finished if m.role == "assistant"])
