"""A disk that is full: said plainly, nothing half-kept, and over when it is over."""

from pathlib import Path

import anyio
import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.file import FileInfo
from tenuto.core.value import FileId
from tenuto.storage.sqlite import SqliteStore
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.sqlite.file.writer import Written
from tests.conformance.driven import START, DrivenSession, make_workspace, whole_log
from tests.conformance.listener import Listener
from tests.storage.conftest import opened

pytestmark = pytest.mark.anyio


def big_file(size: int) -> FileInfo:
    return FileInfo(id=FileId("fil_big"), name="b", media_type="b/x", size=size, created_at=START)


async def limit_pages(store: SqliteStore, pages: int) -> None:
    """SQLite's own limit stands in for a disk's: the same error, on any machine."""

    def limit(transaction: Transaction) -> Written[None]:
        transaction._connection.execute(f"PRAGMA max_page_count = {pages}")
        return Written(result=None)

    await store._db.write(limit)


async def test_a_full_disk_is_said_and_nothing_half_is_kept(small_disk: Path) -> None:
    listener = Listener()
    async with opened(small_disk / "tenuto.db", sink=listener) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("hello")
        await driven.start()
        await driven.say("kept")
        before = await store.snapshot(driven.id)
        filler = small_disk / "filler"
        _fill(filler)
        listener.heard.clear()

        with pytest.raises(StorageTrouble, match="the disk is full"):
            await driven.go_on_saying("x" * 200_000, offset=4)
        with pytest.raises(StorageTrouble, match="the disk is full"):
            await store.check()
        assert await store.snapshot(driven.id) == before
        assert listener.heard == []

        filler.unlink()
        await store.check()
        await driven.go_on_saying(" and more", offset=4)
        assert (await store.snapshot(driven.id)).messages[-1].text() == "kept and more"
        assert len(await whole_log(store, driven.id)) == before.session.head + 1


async def test_a_prompt_that_does_not_fit_leaves_no_trace(store: SqliteStore) -> None:
    driven = await DrivenSession.begin(store)
    await limit_pages(store, 1)
    with pytest.raises(StorageTrouble, match="the disk is full"):
        await driven.accept("x" * 1_000_000)
    with pytest.raises(StorageTrouble):
        await store.put_file(big_file(1_000_000), b"x" * 1_000_000)
    assert await whole_log(store, driven.id) == []
    assert (await store.session(driven.id)).queued == 0
    await limit_pages(store, 1_000_000)
    await driven.accept("x" * 1_000_000)
    assert (await store.session(driven.id)).queued == 1


async def test_only_what_does_not_fit_fails(store: SqliteStore) -> None:
    sessions = [await DrivenSession.begin(store, f"s{n}") for n in range(6)]
    pages = await store._db.read(lambda tx: tx._connection.pragma("page_count"))
    await limit_pages(store, pages + 60)
    failed: list[str] = []

    async def upload() -> None:
        try:
            await store.put_file(big_file(1_000_000), b"x" * 1_000_000)
        except StorageTrouble as error:
            failed.append(str(error))

    async with anyio.create_task_group() as group:
        for driven in sessions[:3]:
            group.start_soon(driven.accept, "small")
        group.start_soon(upload)
        for driven in sessions[3:]:
            group.start_soon(driven.accept, "small")
    assert len(failed) == 1
    assert [(await store.session(driven.id)).queued for driven in sessions] == [1] * 6
    await store.check()


async def test_a_check_of_a_sound_disk_writes_nothing(store: SqliteStore, path: Path) -> None:
    wal = path.with_name("tenuto.db-wal")
    before = wal.stat()
    await store.check()
    after = wal.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096):
            try:
                while True:
                    file.write(b"\\0" * size)
            except OSError:
                continue
