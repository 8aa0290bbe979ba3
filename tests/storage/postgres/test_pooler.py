"""PgBouncer in transaction mode between a node and PostgreSQL: a statement may meet any server."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import asyncpg
import pytest

from tenuto.core.value import NodeId, StreamId
from tenuto.storage.postgres import desks
from tests.conformance.driven import NODE, DrivenSession, card, make_workspace, whole_log
from tests.conformance.listener import Listener
from tests.storage.postgres.conftest import on
from tests.support.model_server import ModelServer
from tests.support.postgres import database_url, folder_for_all, fresh_database
from tests.support.server import TenutoServer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(90)]

SERVERS = 3
"""Fewer than a node has lines to it, so that they take turns."""
SOON = 30


@contextmanager
def pooler(database: str) -> Iterator[str]:
    """The address of the same database behind it."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("SKIPPED: there is no pgbouncer on this machine")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    folder = folder_for_all()
    at = urlsplit(database)
    config = folder / "pgbouncer.ini"
    config.write_text(
        "[databases]\n"
        f"* = host={at.hostname} port={at.port} user={at.username}\n"
        "[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = any\npool_mode = transaction\ndefault_pool_size = {SERVERS}\n"
        "max_client_conn = 200\nlog_connections = 0\nlog_disconnections = 0\n"
    )
    process = subprocess.Popen(
        [program, str(config)],
        user="nobody" if os.geteuid() == 0 else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield database.replace(f":{at.port}/", f":{port}/")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def until_it_answers(url: str) -> None:
    with anyio.fail_after(SOON):
        while True:
            try:
                await (await asyncpg.connect(url, statement_cache_size=0)).close()
                return
            except (OSError, asyncpg.PostgresError):
                await anyio.sleep(0.05)


@pytest.mark.parametrize("tries", [desks.TRIES, 0], ids=["usual", "last resort"])
async def test_nodes_behind_a_pooler_decide_speak_and_hear_each_other(
    database: str, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr(desks, "TRIES", tries)
    there = Listener()
    with pooler(database) as pooled:
        await until_it_answers(pooled)
        async with (
            on(pooled, direct=database) as one,
            on(pooled, there, direct=database) as other,
        ):
            await make_workspace(one)
            await one.heartbeat(card(NODE), seconds=60)
            await other.heartbeat(card(NodeId("node_b")), seconds=60)
            sessions = [await DrivenSession.begin(one, f"s{n}") for n in range(6)]

            async def talk(driven: DrivenSession) -> None:
                await driven.accept("hello")
                await driven.start()
                for n in range(15):
                    await driven.say(f"{n} ")
                    await DrivenSession(other, driven.id).update(draft=f"draft {n}")
                await driven.settle()

            async with anyio.create_task_group() as group:
                for driven in sessions:
                    group.start_soon(talk, driven)
            for driven in sessions:
                assert (await other.session(driven.id)).draft == "draft 14"
                log = await other.read(StreamId(driven.id), after=0, limit=1000)
                assert [event.seq for event in log.events] == list(range(1, log.head + 1))
            kinds = [type(e).__struct_config__.tag for e in await whole_log(other, "default")]
            assert kinds.count("run.finished") == len(sessions)
            with anyio.fail_after(SOON):
                while not {driven.id for driven in sessions} <= set(there.rung):  # noqa: ASYNC110
                    await anyio.sleep(0.02)


async def test_a_server_behind_a_pooler_answers(postgres_url: str, tmp_path: Path) -> None:
    direct = await fresh_database(postgres_url, "pooled")
    with pooler(database_url(postgres_url, "pooled")) as pooled:
        await until_it_answers(pooled)
        env = {
            "TENUTO_DATABASE": pooled,
            "TENUTO_DATABASE_DIRECT": direct,
            "TENUTO_TEST_FORGETFUL": "1",
        }
        async with (
            ModelServer() as model,
            TenutoServer(tmp_path, model_url=model.url, env=env) as server,
            server.client() as client,
        ):
            session = await client.create_session(model="openai/test-model")
            run = await session.prompt("hello")
            exchange = await model.next_request()
            await exchange.begin()
            await exchange.text("through the pool")
            await exchange.finish()
            assert (await client.run(run.id).wait()).status == "completed"
            (node,) = await client.nodes()
            assert node.state == "alive"
