"""The writer thread: groups, culprits, and readers that do not wait for it."""

import threading
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio.lowlevel import checkpoint

from tenuto.storage.sqlite import SqliteStore
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.writer import Written
from tests.conformance.driven import DrivenSession, make_workspace, whole_log
from tests.conformance.listener import Listener
from tests.storage.conftest import opened
from tests.storage.files import until

pytestmark = pytest.mark.anyio


class Held:
    """A job that holds the writer until it is let go, so that others gather behind it."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._go = threading.Event()
        self.began = threading.Event()

    async def run(self) -> None:
        await self._store._db.write(self._work)

    async def under_way(self) -> None:
        await until(self.began.is_set)

    def release(self) -> None:
        self._go.set()

    def _work(self, transaction: Transaction) -> Written[None]:
        self.began.set()
        assert self._go.wait(10)
        return Written(result=None)


class Broken(Exception):
    pass


def write_and_break(transaction: Transaction) -> Written[None]:
    transaction.run("probe")
    raise Broken


@pytest.mark.failure(56)
async def test_a_job_that_breaks_midway_fails_alone(store: SqliteStore) -> None:
    sessions = [await DrivenSession.begin(store, f"s{n}") for n in range(5)]
    held, broken = Held(store), 0

    async def break_one() -> None:
        nonlocal broken
        try:
            await store._db.write(write_and_break)
        except Broken:
            broken += 1

    async with anyio.create_task_group() as group:
        group.start_soon(held.run)
        await held.under_way()
        for driven in sessions:
            group.start_soon(driven.accept, "hello")
            group.start_soon(break_one)
        await checkpoint()
        held.release()
    assert broken == 5
    for driven in sessions:
        assert len(await whole_log(store, driven.id)) == 2
        assert (await store.session(driven.id)).queued == 1
    rows = await store._db.read(lambda tx: tx._connection.execute("SELECT n FROM probe").fetchall())
    assert rows == [(0,)]


async def test_what_waits_goes_to_disk_together(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [await DrivenSession.begin(store, f"s{n}") for n in range(50)]
    groups: list[object] = []
    checkpointer = store._db._checkpointer
    assert checkpointer is not None
    monkeypatch.setattr(checkpointer, "between_groups", groups.append)
    held = Held(store)
    async with anyio.create_task_group() as group:
        group.start_soon(held.run)
        await held.under_way()
        # The writer speaks of its last group only after it has answered.
        groups.clear()
        for driven in sessions:
            group.start_soon(driven.accept, "hello")
        for _ in range(3):
            await checkpoint()
        held.release()
    # The one that was held, and all that waited for it; the writer may not have told of that yet.
    assert len(groups) in (1, 2)


@pytest.mark.failure(30)
async def test_readers_do_not_wait_for_the_writer(store: SqliteStore) -> None:
    driven = await DrivenSession.begin(store)
    await driven.turn("hello", "hi")
    before = await store.snapshot(driven.id)
    held = Held(store)
    async with anyio.create_task_group() as group:
        group.start_soon(held.run)
        await held.under_way()
        with anyio.fail_after(5):
            assert await store.snapshot(driven.id) == before
            assert (await store.session(driven.id)).title == "hello"
        held.release()


async def test_closing_writes_what_waits(path: Path) -> None:
    store = SqliteStore(path, Listener())
    await store.open()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    held = Held(store)
    async with anyio.create_task_group() as group:
        group.start_soon(held.run)
        await held.under_way()
        group.start_soon(driven.accept, "just before the end")
        await checkpoint()
        group.start_soon(store.close)
        await checkpoint()
        held.release()
    async with opened(path) as again:
        assert (await again.session(driven.id)).queued == 1


async def test_a_listeners_bug_hides_no_commit(
    store: SqliteStore, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = await DrivenSession.begin(store)

    def fail(*_: object) -> None:
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(listener, "committed", fail)
        await driven.accept("hello")
    assert (await store.session(driven.id)).queued == 1
    await driven.accept("again")
    assert listener.changes[-1] == driven.id
