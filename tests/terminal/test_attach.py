"""`tenuto attach` and `tenuto stop`: a run that goes on elsewhere."""

import json
import signal

import pytest

from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer
from tests.support.talk import say
from tests.terminal.conftest import Start

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("by", ["run", "session", "nothing"])
async def test_it_shows_what_came_and_what_comes(
    server: TenutoServer, model: ModelServer, start: Start, by: str
) -> None:
    async with server.client() as tenuto:
        session = await tenuto.create_session()
        run = await session.prompt("Hi")
        exchange = await model.next_request()
        await exchange.text("Hel")
        ids: dict[str, tuple[str, ...]] = {"run": (run.id,), "session": (session.id,)}
        words = ids.get(by, ())
        command = await start("attach", *words)
        await command.says("Hel")
        await exchange.text("lo")
        await exchange.finish()
        assert (await command.ends(), command.out) == (0, b"Hello\n")


async def test_after_goes_on_exactly_where_a_script_was(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    first = await start("run", "-o", "jsonl", "Hi")
    exchange = await model.next_request()
    await exchange.text("Hel")
    await first.says('"Hel"')
    first.process.kill()
    await first.ends()
    seen = [json.loads(line) for line in first.out.decode().splitlines()]
    second = await start("attach", "--after", str(seen[-1]["seq"]), seen[-1]["run_id"])
    await second.says("run", "err")
    await exchange.text("lo")
    await exchange.finish()
    assert (await second.ends(), second.out) == (0, b"lo\n")


@pytest.mark.guarantee("E13")
async def test_an_interrupted_run_is_exit_code_5(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    async with server.client() as tenuto:
        run = await (await tenuto.create_session()).prompt("Hi")
        exchange = await model.next_request()
        await exchange.text("Half")
        command = await start("attach", run.id)
        await command.says("Half")
        await server.kill()
        await server.start()
        assert (await command.ends(), command.out) == (5, b"Half\n")
        assert "server_crashed" in command.err.decode()


async def test_ctrl_c_cancels_what_is_attached(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    async with server.client() as tenuto:
        run = await (await tenuto.create_session()).prompt("Hi")
        await (await model.next_request()).text("Half")
        command = await start("attach", run.id)
        await command.says("Half")
        command.process.send_signal(signal.SIGINT)
        assert await command.ends() == 130
        assert (await run.wait()).status == "cancelled"


async def test_what_has_ended_is_shown_whole_with_its_ending(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    async with server.client() as tenuto:
        run = await say(model, await tenuto.create_session(), "Hi", "Hello")
        command = await start("attach", run.id)
        assert (await command.ends(), command.out) == (0, b"Hello\n")


async def test_with_nothing_to_attach_to_it_says_so(server: TenutoServer, start: Start) -> None:
    for command in (await start("attach"), await start("stop"), await start("stop", "run_none")):
        assert (await command.ends(), command.out) == (2, b"")
        assert command.err


@pytest.mark.parametrize("by", ["run", "session"])
async def test_stop_cancels_by_run_or_session(
    server: TenutoServer, model: ModelServer, start: Start, by: str
) -> None:
    async with server.client() as tenuto:
        session = await tenuto.create_session()
        run = await session.prompt("Hi")
        await (await model.next_request()).text("Half")
        command = await start("stop", run.id if by == "run" else session.id)
        assert await command.ends() == 0
        ended = await run.wait()
        assert (ended.status, ended.reason) == ("cancelled", "user")
        assert run.id in command.err.decode()
