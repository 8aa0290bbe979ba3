"""The tools in a real server, with a real model server that asks for the wrong things."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import psutil  # type: ignore[import-untyped]
import pytest

from tenuto.client import Client, SessionHandle
from tenuto.core.message import ToolPart
from tests.hostile.test_web import answer, site
from tests.support.model_server import ModelServer
from tests.support.offspring import offspring
from tests.support.server import TenutoServer
from tests.support.talk import call_tool, start_shell
from tests.tools.desk import alive, until

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]

OPEN = {"TENUTO_PERMISSIONS": "allow", "TENUTO_TOOLS_ALLOW_PRIVATE_ADDRESSES": "on"}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as model:
        yield model


@pytest.fixture
async def server(model: ModelServer, tmp_path: Path) -> AsyncIterator[TenutoServer]:
    async with TenutoServer(tmp_path, model_url=model.url, env=OPEN) as server:
        yield server


@pytest.fixture
async def tenuto(server: TenutoServer) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


async def result(model: ModelServer, session: SessionHandle, name: str, **given: str) -> ToolPart:
    """The call as it ended, in a run that ended well."""
    run = await session.prompt("Do it")
    await call_tool(await model.next_request(), name, **given)
    await (await model.next_request()).say("done")
    assert (await run.wait()).status == "completed"
    parts = (await session.messages()).messages[-1].parts
    return next(part for part in parts if isinstance(part, ToolPart))


async def test_a_workspace_above_the_data_folder_gives_nothing_of_it_away(
    model: ModelServer, server: TenutoServer, tenuto: Client, tmp_path: Path
) -> None:
    (server.data / "settings.json").write_text('{"key": "hush-hush"}')
    above = await tenuto.create_workspace(name="Above", path=str(tmp_path))
    session = await tenuto.create_session(workspace=above.id)
    for path in ("data/settings.json", "data/tenuto.sqlite3", "data/token"):
        part = await result(model, session, "read_file", path=path)
        assert part.error == (
            "That is in the server's own data folder, which tools may not look into."
        )
    part = await result(model, session, "search_files", pattern="hush")
    assert part.output == "No line matches."


@pytest.mark.parametrize("charset", [b"utf-7", b"unicode_escape"])
async def test_a_page_with_half_a_character_ends_its_call_and_its_run(
    model: ModelServer, tenuto: Client, charset: bytes
) -> None:
    session = await tenuto.create_session()
    head = b"200 OK\r\nContent-Type: text/plain; charset=" + charset
    async with site(answer(head, b"+2AA- \\ud800")) as there:
        part = await result(model, session, "fetch_url", url=there.url)
    assert part.output is not None
    assert part.output.endswith("+2AA- \\ud800")


async def test_a_cancel_has_answered_and_nothing_of_a_hostile_command_is_left(
    model: ModelServer, server: TenutoServer, tenuto: Client
) -> None:
    session = await tenuto.create_session()
    mark = f"mark-{os.urandom(8).hex()}"
    command = (
        f"setsid bash -c 'exec -a {mark} sleep 1000' & runner=$PPID; echo up; "
        "while :; do kill -STOP $runner; done"
    )
    await start_shell(model, session, command, says="up")
    await until(lambda: alive(mark) != [])
    assert (await session.cancel()).settled
    assert alive(mark) == []
    assert offspring(psutil.Process(server.pid)) == []


async def test_a_flood_of_searches_holds_only_so_many_processes_and_can_be_stopped(
    model: ModelServer, server: TenutoServer, tenuto: Client
) -> None:
    (server.data / "workspace" / "a.txt").write_text("a" * 60 + "!")
    session = await tenuto.create_session()
    await session.prompt("Search")
    exchange = await model.next_request()
    for number in range(60):
        await exchange.tool_call(number, f"call_{number}", "search_files")
        await exchange.tool_input(number, json.dumps({"pattern": "(a+)+$"}))
    await exchange.finish("tool_calls")
    process = psutil.Process(server.pid)
    await until(lambda: len(process.children()) == 4)
    for _ in range(20):
        assert len(process.children()) <= 4
        await anyio.sleep(0.02)
    assert (await session.cancel()).settled
    assert process.children() == []
