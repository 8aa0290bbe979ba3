"""Bringing a database to this version's shape: one node at a time, and never past the others."""

import re
from collections.abc import Sequence
from enum import StrEnum
from importlib.resources import files
from typing import Any

from tenuto.core.error import StorageTrouble
from tenuto.core.value import Value

LOCK = 1952804471
"""Held by whoever migrates, together with `MIGRATING`."""
MIGRATING = 1
LOCK_SECONDS = 120
OLDEST_SERVER = 140000

_FILE = re.compile(r"(\d{4})_\w+\.sql")
_OLDEST = re.compile(r"^-- oldest: (\d+)\n")


class Durability(StrEnum):
    """Whether a commit must be on disk before it is told."""

    REQUIRED = "required"
    TESTS_ONLY = "tests only"
    """For tests: everything may be lost if the machine dies."""


class SchemaStep(Value):
    """A migration."""

    number: int
    oldest: int
    """The oldest program that may go on working after it, by the newest step that it knows."""
    sql: str


def shipped() -> tuple[SchemaStep, ...]:
    """The migrations of this version, in order."""
    folder = files(__package__).joinpath("migrations")
    found = ((_FILE.fullmatch(entry.name), entry) for entry in folder.iterdir())
    steps = [_step(int(match[1]), entry.read_text("utf-8")) for match, entry in found if match]
    return tuple(sorted(steps, key=lambda step: step.number))


async def prepare(connection: Any, steps: Sequence[SchemaStep], durability: Durability) -> None:
    """Look at the server, then make the database current. Raises StorageTrouble."""
    await _look_at(connection, durability)
    await _lock(connection)
    try:
        await _migrate(connection, steps)
    finally:
        if not connection.is_closed():
            await connection.execute(f"SELECT pg_advisory_unlock({LOCK}, {MIGRATING})")


async def _look_at(connection: Any, durability: Durability) -> None:
    row = await connection.fetchrow(
        "SELECT current_setting('server_version_num')::int, current_setting('server_version'),"
        " current_setting('server_encoding'), current_setting('fsync'),"
        " current_setting('synchronous_commit'), pg_is_in_recovery()"
    )
    number, version, encoding, fsync, commit, standby = row
    if number < OLDEST_SERVER:
        raise StorageTrouble(f"PostgreSQL {version} is too old: Tenuto needs 14 or newer")
    if encoding != "UTF8":
        raise StorageTrouble(f"the database is in {encoding}: make one with ENCODING 'UTF8'")
    if standby:
        raise StorageTrouble("this PostgreSQL is a standby: give the address of the primary")
    if durability is Durability.TESTS_ONLY:
        return
    if fsync == "off":
        raise StorageTrouble(
            "PostgreSQL runs with fsync = off and may lose what it has: turn it on"
        )
    if commit == "off":
        raise StorageTrouble(
            "PostgreSQL runs with synchronous_commit = off and may lose what was seen: turn it on"
        )


async def _lock(connection: Any) -> None:
    """Wait for a node that migrates; a lock that never comes free is told of, not ignored."""
    try:
        await connection.execute(
            f"SELECT pg_advisory_lock({LOCK}, {MIGRATING})", timeout=LOCK_SECONDS
        )
    except TimeoutError:
        raise StorageTrouble("another node has been changing the database for too long") from None


async def _migrate(connection: Any, steps: Sequence[SchemaStep]) -> None:
    version, oldest = await _version(connection)
    newest = steps[-1].number
    if version > newest:
        if newest < oldest:
            raise StorageTrouble(
                f"the database was changed by a newer Tenuto (version {version}; this one knows"
                f" {newest}, and {oldest} is needed): this Tenuto is too old for it"
            )
        return
    missing = [step for step in steps if step.number > version]
    if missing and version:
        await _spare_the_living(connection, max(step.oldest for step in missing))
    for step in missing:
        await _apply(connection, step)


async def _version(connection: Any) -> tuple[int, int]:
    if await connection.fetchval("SELECT to_regclass('meta')") is None:
        if await connection.fetchval("SELECT to_regclass('logs')") is not None:
            raise StorageTrouble("the database holds something else: give Tenuto one of its own")
        return 0, 0
    rows = await connection.fetch("SELECT key, value FROM meta WHERE key IN ('schema', 'oldest')")
    known = {key: int(value) for key, value in rows}
    return known.get("schema", 0), known.get("oldest", 0)


async def _spare_the_living(connection: Any, oldest: int) -> None:
    """Not while a node is at work that could not go on afterwards."""
    row = await connection.fetchrow(
        "SELECT name, id FROM nodes WHERE until > clock_timestamp() AND knows < $1 LIMIT 1", oldest
    )
    if row is not None:
        raise StorageTrouble(
            f"node {row[0] or row[1]} runs an older Tenuto that could not go on after this one has"
            " changed the database: this Tenuto is too new; stop or update that node first"
        )


async def _apply(connection: Any, step: SchemaStep) -> None:
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '10s'")
        if step.number == 1:
            await connection.execute(
                'CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)'
            )
        await connection.execute(step.sql)
        await connection.executemany(
            "INSERT INTO meta (key, value) VALUES ($1, $2)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [("schema", str(step.number)), ("oldest", str(step.oldest))],
        )


def _step(number: int, sql: str) -> SchemaStep:
    said = _OLDEST.match(sql)
    assert said, f"migration {number} must say which program is the oldest that it lets go on"
    return SchemaStep(number=number, oldest=int(said[1]), sql=sql)
