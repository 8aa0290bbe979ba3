"""Opening a file that is old, new, strange, damaged, or in use."""

import asyncio
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from tenuto.core.error import StorageTrouble
from tenuto.storage.sqlite.file import lock
from tenuto.storage.sqlite.migration import Migration, shipped
from tests.conformance.driven import DrivenSession, make_workspace
from tests.storage.conftest import make_read_only, make_writable, opened
from tests.storage.files import child, content_of, put

pytestmark = pytest.mark.anyio

NEXT = Migration(number=shipped()[-1].number + 1, sql="CREATE TABLE extra (x INTEGER) STRICT")
BROKEN = Migration(
    number=NEXT.number, sql="CREATE TABLE extra (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"
)
HOLDER = """
import asyncio, sys
from pathlib import Path
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.listener import Listener

async def main() -> None:
    await SqliteStore(Path(sys.argv[1]), Listener()).open()
    print("open", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


REMAINS = """
import os, sys, time
from pathlib import Path
from tenuto.storage.sqlite.file.lock import FileLock

lock = FileLock(Path(sys.argv[1]))
lock.take()
if child := os.fork():
    print(child, flush=True)
time.sleep(3600)
"""
"""Like a server that starts a program: until that runs, the child has all that its parent has."""


async def trouble_of(path: Path, *migrations: Migration) -> str:
    with pytest.raises(StorageTrouble) as caught:
        async with opened(path, migrations=migrations or None):
            pass
    return str(caught.value)


def version_of(path: Path) -> int:
    connection = apsw.Connection(str(path))
    version: int = connection.pragma("user_version")
    connection.close()
    return version


def backups_of(path: Path) -> list[Path]:
    return sorted(path.parent.glob("tenuto.db.backup-*"))


async def test_a_new_file_is_for_its_user_only(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        files = list(path.parent.iterdir())
        assert {file.name for file in files} >= {"tenuto.db", "tenuto.db-wal", "tenuto.db.lock"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_what_was_stored_is_there_after_closing_and_opening(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.turn("hello", "hi")
        before = await store.snapshot(driven.id)
    async with opened(path) as store:
        assert await store.snapshot(driven.id) == before
    assert backups_of(path) == []


async def test_an_older_file_is_copied_and_then_migrated(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.turn("hello", "hi")
        before = await store.snapshot(driven.id)
    async with opened(path, migrations=[*shipped(), NEXT]) as store:
        assert await store.snapshot(driven.id) == before
    assert version_of(path) == NEXT.number
    (backup,) = backups_of(path)
    assert backup.name.startswith(f"tenuto.db.backup-v{NEXT.number - 1}-")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    old = backup.rename(path.with_name("old.db"))
    async with opened(old) as store:
        assert await store.snapshot(driven.id) == before


async def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
    with pytest.raises(apsw.SQLError):
        async with opened(path, migrations=[*shipped(), BROKEN]):
            pass
    assert version_of(path) == NEXT.number - 1
    async with opened(path) as store:
        assert (await store.session(driven.id)).id == driven.id
    async with opened(path, migrations=[*shipped(), NEXT]):
        pass


async def test_a_newer_file_is_refused_and_left_untouched(path: Path) -> None:
    async with opened(path, migrations=[*shipped(), NEXT]) as store:
        await make_workspace(store)
    before = content_of(path)
    sentence = await trouble_of(path)
    assert str(path) in sentence
    assert "newer" in sentence
    assert content_of(path) == before
    assert backups_of(path) == []


async def test_another_programs_database_is_refused_and_left_untouched(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = content_of(path)
    assert "another program" in await trouble_of(path)
    assert content_of(path) == before


async def test_a_file_that_is_no_database_is_refused_and_left_untouched(path: Path) -> None:
    put(path, b"Dear diary, " * 1000)
    sentence = await trouble_of(path)
    assert str(path) in sentence
    assert "not a Tenuto database" in sentence
    assert content_of(path) == b"Dear diary, " * 1000


async def test_a_damaged_file_gives_a_sentence_with_a_way_out(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
        await DrivenSession.begin(store)
    content = bytearray(content_of(path))
    content[4096:] = b"\xa5" * (len(content) - 4096)
    put(path, bytes(content))
    sentence = await trouble_of(path)
    assert f"{path} is damaged" in sentence
    assert "backup" in sentence


async def test_a_folder_that_is_not_there_is_named(path: Path) -> None:
    sentence = await trouble_of(path.parent / "nowhere" / "tenuto.db")
    assert "nowhere" in sentence


async def test_a_read_only_disk_gives_a_sentence(small_disk: Path) -> None:
    path = small_disk / "tenuto.db"
    async with opened(path) as store:
        await make_workspace(store)
    make_read_only(small_disk)
    sentence = await trouble_of(path)
    assert "Read-only" in sentence
    make_writable(small_disk)
    async with opened(path) as store:
        assert len(await store.workspaces()) == 1


async def test_a_second_server_on_the_same_file_is_refused_by_the_firsts_number(
    path: Path,
) -> None:
    async with opened(path):
        assert f"process {os.getpid()}" in await trouble_of(path)
    async with opened(path):
        pass


async def test_the_lock_dies_with_its_process(path: Path) -> None:
    holder = child(HOLDER, path)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        assert f"process {holder.pid}" in await trouble_of(path)
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    async with opened(path):
        pass


@pytest.fixture
def remains(path: Path) -> Iterator[int]:
    """What is left of a server that was killed as it started a program."""
    server = child(REMAINS, path)
    assert server.stdout is not None
    left = int(server.stdout.readline())
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    try:
        yield left
    finally:
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGKILL)
        server.stdout.close()


async def test_the_remains_of_a_dead_server_are_waited_for(path: Path, remains: int) -> None:
    async def open_it() -> None:
        async with opened(path):
            pass

    opening = asyncio.create_task(open_it())
    await asyncio.sleep(0.2)
    assert not opening.done()
    os.kill(remains, signal.SIGKILL)
    await asyncio.wait_for(opening, 10)


@pytest.mark.usefixtures("remains")
async def test_the_remains_of_a_dead_server_are_not_waited_for_for_ever(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "REMAINS_SECONDS", 0.1)
    assert "is used by another server" in await trouble_of(path)


async def test_a_closed_store_says_so(path: Path) -> None:
    async with opened(path) as store:
        await make_workspace(store)
    with pytest.raises(StorageTrouble):
        await store.workspaces()
    with pytest.raises(StorageTrouble):
        await make_workspace(store)
    with pytest.raises(StorageTrouble):
        await store.check()
