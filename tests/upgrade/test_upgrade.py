"""What an earlier version stored is read as it was told then; only new fields may come beside it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tenuto.core.value import FileId, NodeId, PrincipalId
from tenuto.storage import sqlite
from tenuto.storage.sqlite import SqliteStore
from tests.conformance.driven import DrivenSession
from tests.conformance.listener import Listener
from tests.upgrade.kept import everything, told_of, unpack, versions

pytestmark = pytest.mark.anyio

MIGRATIONS = Path(sqlite.__file__).parent / "migrations"


def assert_holds(then: Any, now: Any, where: str = "") -> None:
    """All that was there is there, and says the same."""
    if isinstance(then, dict):
        assert isinstance(now, dict), where
        for key, value in then.items():
            assert key in now, f"{where}.{key} is gone"
            assert_holds(value, now[key], f"{where}.{key}")
    elif isinstance(then, list):
        assert isinstance(now, list) and len(now) == len(then), where
        for n, value in enumerate(then):
            assert_holds(value, now[n], f"{where}[{n}]")
    else:
        assert now == then, where


@pytest.mark.parametrize("version", versions())
async def test_a_database_of_an_earlier_version_tells_what_it_told(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "tenuto.sqlite3"
    unpack(version, path)
    store = SqliteStore(path, Listener())
    await store.open()
    assert_holds(msgspec.json.decode(told_of(version).read_bytes()), await everything(store))
    await store.close()


@pytest.mark.parametrize("version", versions())
async def test_what_an_earlier_version_left_under_way_can_be_ended_and_gone_on_with(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "tenuto.sqlite3"
    unpack(version, path)
    store = SqliteStore(path, Listener())
    await store.open()
    (orphan,) = await store.orphans(NodeId("node_next"))
    control = await store.control(orphan.session_id)
    driven = DrivenSession(store, orphan.session_id)
    driven.fence = type(driven.fence)(run_id=orphan.run_id, epoch=control.epoch)
    assert (await driven.settle()).status == "completed"
    assert await driven.start() is not None
    await driven.say("again", part="prt_again")
    assert (await driven.settle()).status == "completed"
    await store.close()


async def test_what_was_stored_before_anything_said_who_is_the_owners(tmp_path: Path) -> None:
    path = tmp_path / "tenuto.sqlite3"
    unpack(4, path)
    store = SqliteStore(path, Listener())
    await store.open()
    told = await everything(store)
    snapshots = list(told["snapshots"].values())
    assert {snapshot["session"]["by"] for snapshot in snapshots} == {"owner"}
    assert {run["by"] for runs in told["runs"].values() for run in runs} == {"owner"}
    assert {one["comparison"]["by"] for one in told["comparisons"]} == {"owner"}
    assert {one["by"] for one in told["workspaces"]} == {"owner"}
    assert (await store.file(FileId("fil_a"))).by == "owner"
    used = await store.usage(since="2000-01-01")
    assert used == await store.usage(since="2000-01-01", by=PrincipalId("owner"))
    assert await store.usage(since="2000-01-01", by=PrincipalId("ann")) == ()
    await store.close()


def test_the_present_version_is_frozen() -> None:
    newest = max(int(path.name[:4]) for path in MIGRATIONS.glob("*.sql"))
    assert max(versions()) == newest, "python -m tests.upgrade freezes it"
