"""What a database must be before a node works with it, and what nodes of two versions may do."""

import anyio
import asyncpg
import pytest
from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.core.provider import KeptProvider, ProviderKind
from tenuto.engine.saved import Saved
from tenuto.storage.cipher import AesCipher
from tenuto.storage.postgres import Durability, migration
from tenuto.storage.postgres.migration import SchemaStep, shipped
from tests.conformance.driven import NODE, DrivenSession, card, make_workspace, whole_log
from tests.storage.postgres.conftest import on
from tests.support.postgres import Server, database_url, fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]


async def execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def refused(url: str, words: str, **options: object) -> None:
    with pytest.raises(StorageTrouble, match=words):
        async with on(url, **options):  # type: ignore[arg-type]
            pass


async def test_nodes_that_start_at_once_migrate_once(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "at_once")

    async def start() -> None:
        async with on(url) as store:
            await store.check()

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(start)
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("SELECT value FROM meta WHERE key = 'schema'") == str(
        shipped()[-1].number
    )
    await connection.close()


async def test_a_database_that_may_lose_things_is_refused(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "unsafe")
    await refused(url, "fsync", durability=Durability.REQUIRED)


async def test_commits_that_do_not_wait_are_refused(crashing_postgres: Server) -> None:
    url = await fresh_database(crashing_postgres.url, "unsafe")
    await execute(url, "ALTER DATABASE unsafe SET synchronous_commit = off")
    await refused(url, "synchronous_commit", durability=Durability.REQUIRED)


async def test_a_database_in_another_encoding_is_refused(postgres_url: str) -> None:
    await execute(
        postgres_url,
        "DROP DATABASE IF EXISTS latin",
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    )
    await refused(database_url(postgres_url, "latin"), "LATIN1")


async def test_a_database_of_something_else_is_left_alone(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "other")
    await execute(url, "CREATE TABLE logs (line text)")
    await refused(url, "something else")


async def test_who_cannot_be_reached_or_let_in_is_told_in_a_sentence(postgres_url: str) -> None:
    await refused("postgresql://postgres@127.0.0.1:1/x", "cannot be reached")
    await refused(database_url(postgres_url, "nowhere"), "no database of that name")
    await refused(postgres_url.replace("postgres@", "nobody_known@"), "does not let|password")


async def test_a_program_that_is_too_old_refuses_and_one_that_is_not_goes_on(
    postgres_url: str,
) -> None:
    url = await fresh_database(postgres_url, "newer")
    async with on(url) as store:
        await make_workspace(store)
    await execute(url, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    async with on(url) as store:
        assert len(await store.workspaces()) == 1
    await execute(url, "UPDATE meta SET value = '98' WHERE key = 'oldest'")
    await refused(url, "too old")


async def test_a_program_that_is_too_new_waits_for_the_old_ones_to_stop(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "older")
    known = shipped()
    newest = known[-1].number
    step = SchemaStep(number=newest + 1, oldest=newest + 1, sql="CREATE TABLE more (n int)")
    async with on(url) as old:
        await old.heartbeat(card(NODE, name="left"), seconds=600)
        await refused(url, "left.*too new", migrations=(*known, step))
        # One that lets the old ones go on may be made beside them.
        async with on(url, migrations=(*known, replace(step, oldest=newest))):
            await make_workspace(old)
        await old.farewell(NODE)


async def test_a_migration_that_fails_leaves_nothing(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "half")
    known = shipped()
    number = known[-1].number + 1
    step = SchemaStep(number=number, oldest=1, sql="CREATE TABLE more (n int); SELECT 1 / 0")
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with on(url, migrations=(*known, step)):
            pass
    async with on(url, migrations=(*known, replace(step, sql="CREATE TABLE more (n int)"))):
        pass


async def test_a_role_that_is_nobody_special_is_enough(postgres_url: str) -> None:
    await execute(
        postgres_url,
        "DROP DATABASE IF EXISTS plain",
        "DROP ROLE IF EXISTS plain",
        "CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE",
        "CREATE DATABASE plain OWNER plain TEMPLATE template0",
    )
    url = database_url(postgres_url, "plain").replace("postgres@", "plain@")
    async with on(url) as store, on(url) as other:
        await make_workspace(store)
        await store.heartbeat(card(NODE), seconds=30)
        driven = await DrivenSession.begin(store)
        await driven.turn("hello", "a", "b")
        assert NODE in await other.living()
        assert len(await whole_log(other, driven.id)) == 10


class OldServer:
    """A connection to a PostgreSQL that there is none of here."""

    def __init__(self, number: int, version: str, standby: bool) -> None:
        self._row = number, version, "UTF8", "on", "on", standby

    async def fetchrow(self, sql: str) -> tuple[object, ...]:
        return self._row


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (OldServer(130_014, "13.14", False), "PostgreSQL 13.14 is too old: Tenuto needs 14"),
        (OldServer(160_002, "16.2", True), "this PostgreSQL is a standby"),
    ],
)
async def test_a_server_that_is_too_old_or_a_standby_is_refused_in_a_sentence(
    server: OldServer, words: str
) -> None:
    with pytest.raises(StorageTrouble, match=words):
        await migration._look_at(server, Durability.REQUIRED)


async def test_the_keys_of_providers_cannot_be_read_in_the_database(postgres_url: str) -> None:
    url = await fresh_database(postgres_url, "keys")
    key = "sk-of-a-provider-0123456789"
    provider = KeptProvider(
        name="lab", kind=ProviderKind.OPENAI, base_url="http://127.0.0.1:9", key=key
    )
    async with on(url) as store:
        saved = Saved(store, AesCipher(lambda: b"k" * 32))
        await saved.begin()
        await saved.change(lambda now: replace(now, providers=(provider,)))
    connection = await asyncpg.connect(url)
    bodies = [row["body"] for row in await connection.fetch("SELECT body FROM kept")]
    await connection.close()
    assert any(b"lab" in body for body in bodies)
    assert not [body for body in bodies if key.encode() in body]
