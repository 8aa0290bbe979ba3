"""What is told is on disk: the commit first, then the disk's word, and only then ours."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from anyio.lowlevel import checkpoint

from tenuto.core import accepting
from tenuto.core.desk import Change, Desk
from tenuto.core.run import Run
from tenuto.storage.sqlite import SqliteStore
from tenuto.storage.sqlite.file.transaction import Transaction
from tests.conformance.driven import DrivenSession, make_workspace
from tests.conformance.listener import Listener

pytestmark = pytest.mark.anyio


class Commits:
    """Holds the commit that comes after `hold`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go = threading.Event()
        self.waits = threading.Event()
        self.held = False
        really = Transaction.commit

        def commit(transaction: Transaction) -> None:
            if self.held:
                self.held = False
                self.waits.set()
                assert self.may_go.wait(10)
            really(transaction)

        monkeypatch.setattr(Transaction, "commit", commit)

    def hold(self) -> None:
        self.held = True


async def test_nobody_is_told_or_answered_before_the_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, commits = Listener(), Commits(monkeypatch)
    store = SqliteStore(tmp_path / "tenuto.db", listener)
    await store.open()
    await make_workspace(store)
    driven = await DrivenSession.begin(store)
    listener.heard.clear()
    answered = anyio.Event()

    def decide(desk: Desk) -> Change[Run]:
        # On the writer's thread, so the next commit is the one of this very change.
        commits.hold()
        return accepting.accept(desk, driven.prompt("one"), driven.moment())

    async def accept() -> None:
        await store.commit(driven.id, decide)
        answered.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(accept)
        await anyio.to_thread.run_sync(commits.waits.wait, 10)
        # Whatever the writer has said until now is in the loop's queue already.
        for _ in range(10):
            await checkpoint()
        told_early = (answered.is_set(), list(listener.heard))
        commits.may_go.set()
    assert told_early == (False, [])
    assert listener.of(driven.id)
    await store.close()


class RememberingDisk(apsw.VFS):
    """The real one, which remembers which files were written and not yet synced."""

    def __init__(self) -> None:
        self.unsynced: set[str] = set()
        self.below = apsw.vfs_names()[0]
        super().__init__("remembering", self.below, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> "DiskFile":
        return DiskFile(self, name, flags)


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: RememberingDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = str(name.filename() if isinstance(name, apsw.URIFilename) else name)
        super().__init__(disk.below, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.unsynced.add(self._name)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.unsynced.discard(self._name)
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[RememberingDisk]:
    disk = RememberingDisk()
    yield disk
    disk.unregister()


async def test_what_is_answered_was_synced(tmp_path: Path, disk: RememberingDisk) -> None:
    store = SqliteStore(tmp_path / "tenuto.db", Listener())
    await store.open()
    try:
        await make_workspace(store)
        driven = await DrivenSession.begin(store)
        await driven.accept("one")
        await driven.start()
        await driven.say("Hello")
        assert not [name for name in disk.unsynced if name.endswith("-wal")]
    finally:
        await store.close()
