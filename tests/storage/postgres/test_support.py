"""The PostgreSQL of the tests can be stopped, killed and started again."""

import signal

import asyncpg
import pytest

from tests.support.postgres import Server, fresh_database

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_what_was_committed_is_there_after_any_end(
    crashing_postgres: Server, how: signal.Signals
) -> None:
    url = await fresh_database(crashing_postgres.url, "kept")
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE things (n int); INSERT INTO things VALUES (7)")
    connection.terminate()
    crashing_postgres.restart(how)
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("SELECT n FROM things") == 7
    await connection.close()
