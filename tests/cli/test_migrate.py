"""`tenuto migrate`: there and back, with the folders, the keys and the token."""

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.api.contract.house import Api
from tests.support.model_server import ModelServer
from tests.support.postgres import Server, crashing_postgres, fresh_database
from tests.support.server import TenutoServer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

__all__ = ["crashing_postgres"]


def tenuto(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tenuto", *words],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )


async def test_a_server_goes_on_on_postgresql_and_back(
    tmp_path: Path, crashing_postgres: Server
) -> None:
    url = await fresh_database(crashing_postgres.url, "moved_by_command")
    async with ModelServer() as model:
        server = TenutoServer(tmp_path, model_url=model.url)
        api = Api(server.url, server.token)
        async with server:
            draft = {"kind": "openai", "base_url": model.url, "key": "k-of-the-lab"}
            await api.call("PUT", "/api/providers/lab", draft)
            session = (await api.post("/api/sessions", {"title": "Moved"})).body["id"]
            before = await api.get("/api/settings")
            file = f"sqlite:///{server.data / 'tenuto.sqlite3'}"
            busy = tenuto("migrate", "--from", file, "--to", url, "--home", "left")
            assert busy.returncode == 1
            assert "Traceback" not in busy.stderr
        moved = tenuto("migrate", "--from", file, "--to", url, "--home", "left")
        assert moved.returncode == 0, moved.stderr
        assert "compared: 1 sessions" in moved.stdout
        server.env |= {"TENUTO_DATABASE": url, "TENUTO_NODE": "left"}
        async with server:
            assert (await api.get(f"/api/sessions/{session}"))["title"] == "Moved"
            assert (await api.get("/api/workspaces/default"))["home"] == "left"
            assert await api.get("/api/settings") == before
            (lab,) = [
                p for p in (await api.get("/api/providers"))["providers"] if p["name"] == "lab"
            ]
            assert lab["key"] == "set"
            new = f"sqlite:///{tmp_path / 'back.sqlite3'}"
            working = tenuto("migrate", "--from", url, "--to", new)
            assert "stop every server" in working.stderr
            assert await server.terminate() == 0
        back = tenuto("migrate", "--from", url, "--to", new)
        assert back.returncode == 0, back.stderr
        again = tenuto("migrate", "--from", url, "--to", new)
        assert again.returncode == 0, "what is whole is left alone"
        server.env["TENUTO_DATABASE"] = new
        async with server:
            assert (await api.get(f"/api/sessions/{session}"))["title"] == "Moved"
            assert (await api.get("/api/workspaces/default"))["home"] is None


async def test_no_server_starts_on_what_was_moved_in_half(tmp_path: Path) -> None:
    server = TenutoServer(tmp_path, model_url=None)
    async with server:
        assert await server.terminate() == 0
    connection = apsw.Connection(str(server.data / "tenuto.sqlite3"))
    connection.execute("INSERT INTO kept VALUES ('moving', x'61', 1)")
    connection.close()
    await server.start_nowait()
    assert await server.wait() == 1
    assert "a move into this database was not finished" in server.log()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "file.db", "--to", "sqlite:///b"], "--from: must be"),
        (["--from", "sqlite:///a", "--to", "postgresql://h/d"], "--home: say which node"),
    ],
)
async def test_what_makes_no_sense_is_said(words: list[str], said: str) -> None:
    told = tenuto("migrate", *words)
    assert told.returncode == 2
    assert said in told.stderr
