"""What is kept of a version: its database file, and what it said was in it."""

import gzip
from pathlib import Path
from typing import Any

import msgspec

from tenuto.core.approval import Approval
from tenuto.core.event import Stored
from tenuto.core.thing import KINDS, of_kind
from tenuto.core.value import ComparisonId, StreamId
from tenuto.ports.query import ComparisonQuery, RunQuery, SessionQuery, SessionSnapshot
from tenuto.ports.store import Store

FOLDER = Path(__file__).parent / "frozen"
MANY = 10_000


def database_of(version: int) -> Path:
    return FOLDER / f"{version:04}.sqlite3.gz"


def told_of(version: int) -> Path:
    return FOLDER / f"{version:04}.json"


def versions() -> list[int]:
    return sorted(int(path.name[:4]) for path in FOLDER.glob("*.json"))


def unpack(version: int, to: Path) -> None:
    to.write_bytes(gzip.decompress(database_of(version).read_bytes()))


async def everything(store: Store) -> dict[str, Any]:
    """All that the store tells, as plain JSON."""
    sessions = [*(await store.sessions(SessionQuery(limit=MANY))).sessions]
    compared = (await store.comparisons(ComparisonQuery(limit=MANY))).comparisons
    sessions += [session for one in compared for session in one.sessions]
    spaces = await store.workspaces()
    told: dict[str, Any] = {
        "workspaces": spaces,
        "snapshots": {s.id: _told(await store.snapshot(s.id)) for s in sessions},
        "runs": {
            s.id: (await store.runs(RunQuery(session_id=s.id, limit=MANY))).runs for s in sessions
        },
        "approvals": {s.id: await store.things(s.id, Approval) for s in sessions},
        "comparisons": [
            await store.comparison(ComparisonId(one.comparison.id)) for one in compared
        ],
        "spending": await store.usage(since="2000-01-01"),
        "file": (await store.file_content("fil_a")).decode(),  # type: ignore[arg-type]
        "kept": await store.kept("settings"),
        "logs": {
            stream: [
                _plain(one)
                for one in (await store.read(StreamId(stream), after=0, limit=MANY)).events
            ]
            for stream in [*(s.id for s in sessions), *(w.id for w in spaces)]
        },
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(told))
    return plain


def _told(snapshot: SessionSnapshot) -> dict[str, Any]:
    """As clients see it: what is open by its kind."""
    told = msgspec.structs.asdict(snapshot)
    things = told.pop("things")
    return {**told, **{kind.many: of_kind(things, kind.value) for kind in KINDS}}


def _plain(stored: Stored) -> dict[str, Any]:
    # Read as an event and written again: what cannot be read is an error here.
    event: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(stored.event()))
    return {"seq": stored.seq, **event}
