"""Moving to PostgreSQL and back: everything is there, and a move that was broken off is ended."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tenuto.core.error import StorageTrouble
from tenuto.core.value import FileId, SessionId
from tenuto.ports.query import SessionQuery
from tenuto.storage.moving import Chest, Row, Table, chest_of, is_half_moved, move
from tenuto.storage.postgres import Durability
from tenuto.storage.postgres.chest import PostgresChest
from tenuto.storage.sqlite.chest import SqliteChest
from tests.conformance.driven import DrivenSession, make_workspace
from tests.support.postgres import fresh_database
from tests.upgrade.content import fill
from tests.upgrade.kept import everything

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]


@pytest.fixture
async def there(postgres_url: str, anyio_backend: str) -> PostgresChest:
    url = await fresh_database(postgres_url, "moved")
    return PostgresChest(url, durability=Durability.TESTS_ONLY)


@pytest.fixture
async def here(tmp_path: Path, anyio_backend: str) -> SqliteChest:
    chest = SqliteChest(tmp_path / "here.sqlite3")
    async with chest.store() as store:
        await fill(store)
    return chest


async def content(chest: Chest) -> object:
    async with chest.store() as store:
        return await everything(store)


async def test_everything_is_moved_there_and_back(
    here: SqliteChest, there: PostgresChest, tmp_path: Path
) -> None:
    before = await content(here)
    said: list[str] = []
    moved = await move(here, there, name="here", said=said.append)
    assert moved.sessions > 5
    assert moved.rows["events"] > 50
    assert said[-1] == f"compared: {moved.sessions} sessions"
    assert await content(there) == before
    back = SqliteChest(tmp_path / "back.sqlite3")
    assert (await move(there, back, name="there")).rows == moved.rows
    assert await content(back) == before


async def test_what_was_moved_is_found_and_lived_on(
    here: SqliteChest, there: PostgresChest
) -> None:
    await move(here, there, name="here")
    async with there.store() as store:
        assert not await is_half_moved(store)
        sessions = (await store.sessions(SessionQuery(words="tides moo"))).sessions
        (found,) = [session for session in sessions if session.id == "ses_talk"]
        assert await store.file_content(FileId("fil_a")) == b"abc"
        driven = await DrivenSession.begin(store, "new")
        await driven.turn("hello", "a", "b")
        old = DrivenSession(store, found.id)
        head = (await store.session(found.id)).head
        old._names = iter(range(900, 999))  # type: ignore[assignment]
        await old.accept("and on")
        assert (await store.session(found.id)).head > head


class BreaksOff(PostgresChest):
    """It breaks at the first of these rows."""

    breaks_at = ""

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        if table.name == self.breaks_at:
            raise StorageTrouble("the power went")
        await super().put(table, rows)


@pytest.mark.parametrize("table", ["events", "messages", "sessions"])
async def test_a_move_that_was_broken_off_is_seen_and_can_be_ended(
    here: SqliteChest, there: PostgresChest, table: str
) -> None:
    breaking = BreaksOff(there._url, durability=Durability.TESTS_ONLY)
    breaking.breaks_at = table
    with pytest.raises(StorageTrouble, match="power"):
        await move(here, breaking, name="here")
    async with there.store() as store:
        assert await is_half_moved(store)
    with pytest.raises(StorageTrouble, match="not empty"):
        await move(here, there, name="elsewhere")
    await move(here, there, name="here")
    assert await content(there) == await content(here)


async def test_nothing_is_moved_into_what_is_in_use(
    here: SqliteChest, there: PostgresChest
) -> None:
    async with there.store() as store:
        await make_workspace(store)
    with pytest.raises(StorageTrouble, match="not empty"):
        await move(here, there, name="here")


async def test_what_changed_while_it_was_moved_is_noticed(
    here: SqliteChest, there: PostgresChest
) -> None:
    breaking = BreaksOff(there._url, durability=Durability.TESTS_ONLY)
    breaking.breaks_at = "logs"
    with pytest.raises(StorageTrouble):
        await move(here, breaking, name="here")
    async with here.store() as store:
        await DrivenSession(store, SessionId("ses_talk")).delete()
    with pytest.raises(StorageTrouble, match="has changed"):
        await move(here, there, name="here")


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(StorageTrouble, match="neither"):
        chest_of("mysql://x")
