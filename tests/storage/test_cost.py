"""What is written does not grow with what is there, and nothing is written for nothing."""

from pathlib import Path
from statistics import median

import anyio
import pytest

from tenuto.core.value import NodeId
from tenuto.ports.query import SessionQuery
from tenuto.storage.named import load_queries
from tenuto.storage.sqlite import SqliteStore
from tenuto.storage.sqlite.file import checkpointer
from tenuto.storage.sqlite.file.transaction import Transaction
from tests.conformance.driven import DrivenSession, card, instant, make_workspace, new_session
from tests.storage.conftest import opened
from tests.storage.files import content_of, size_of, until, wal_of

pytestmark = pytest.mark.anyio


def wal_size(path: Path) -> int:
    return size_of(wal_of(path))


async def cost_of_a_turn(path: Path, driven: DrivenSession) -> int:
    """Bytes that one prompt, two pieces of answer and its ending put into the WAL."""
    before = wal_size(path)
    await driven.turn("hello", "a", "b")
    return wal_size(path) - before


@pytest.mark.guarantee("H1")
@pytest.mark.failure(52)
async def test_a_save_costs_the_same_in_a_long_session_and_among_many(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "PASSIVE_PAGES", 1_000_000)  # so that the WAL only grows
    driven = await DrivenSession.begin(store)
    early = [await cost_of_a_turn(path, driven) for _ in range(30)]
    for n in range(300):
        await store.create_session(new_session(f"x{n}", title=f"other {n}"))
    for _ in range(60):
        await driven.turn("hello", "a", "b", "c", "d", "e")
    late = [await cost_of_a_turn(path, driven) for _ in range(30)]
    # There is ten times as much by now; deeper trees may cost a few pages more, not ten times.
    assert 0 < median(late) <= 1.5 * median(early)


@pytest.mark.guarantee("H3")
async def test_nothing_is_written_while_nothing_happens(store: SqliteStore, path: Path) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "a", "b")
    await store.fold_deltas(before=instant(59_000), limit=100)
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in _files(path)}
    for _ in range(3):
        await store.heartbeat(card(NodeId("node_a")), seconds=30.0)
        await store.check()
        assert await store.orphans(NodeId("node_a")) == ()
        assert await store.waiting_sessions() == ()
        assert await store.fold_deltas(before=instant(59_000), limit=100) == 0
        assert await store.purge(before=instant(59_000)) == 0
        assert await driven.start() is None
        await store.snapshot(driven.id)
        await store.sessions(SessionQuery(words="hello"))
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in _files(path)}
    assert after == before


@pytest.mark.guarantee("H2")
@pytest.mark.parametrize(
    "name",
    ["sessions_page", "sessions_page_of_workspace", "runs_page", "runs_page_in", "events_after"],
)
async def test_a_page_is_read_from_an_index_without_sorting(store: SqliteStore, name: str) -> None:
    values = {
        "archived": 0,
        "at": "",
        "id": "",
        "limit": 1,
        "workspace_id": "",
        "status": "",
        "stream": "",
        "after": 0,
    }

    def explain(transaction: Transaction) -> str:
        sql = "EXPLAIN QUERY PLAN " + load_queries("tenuto.storage.sqlite")[name]
        rows = transaction._connection.execute(sql, values).fetchall()
        return "\n".join(str(row[-1]) for row in rows)

    steps = await store._db.read(explain)
    assert "SEARCH" in steps
    assert "SCAN" not in steps
    assert "TEMP B-TREE" not in steps


async def test_the_wal_starts_over_under_steady_load(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "PASSIVE_PAGES", 20)
    monkeypatch.setattr(checkpointer, "RESTART_PAGES", 60)
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await driven.say("a")
        at_first = size_of(path)
        written, biggest = 0, 0
        with anyio.fail_after(30):
            while written < 2_000 or size_of(path) == at_first:
                await driven.go_on_saying("x" * 2_000)
                written += 1
                biggest = max(biggest, wal_size(path))
        assert biggest < written * 4096


async def test_a_long_wal_is_cut_off_when_nothing_happens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpointer, "PASSIVE_PAGES", 20)
    monkeypatch.setattr(checkpointer, "IDLE_SECONDS", 0.05)
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        for _ in range(30):
            await driven.turn("hello", "a")
        before = await store.snapshot(driven.id)
        await until(lambda: wal_size(path) == 0)
        assert await store.snapshot(driven.id) == before


async def test_deleted_words_are_not_left_in_the_file(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store, title="Zyzzyvaplans")
        await driven.turn("quetzalcoatlus secrets", "xylophonically so")
        await DrivenSession.begin(store, "other", title="stays")
        await driven.delete()
        await store.purge(before=instant(59_000))
    content = content_of(path).lower()
    assert b"stays" in content
    for word in (b"zyzzyva", b"quetzal", b"xylophon"):
        assert word not in content


def _files(path: Path) -> list[Path]:
    # The shared-memory index is not a file that survives: readers mark their place in it.
    return sorted(file for file in path.parent.iterdir() if not file.name.endswith("-shm"))
