"""Standard input, wrong usage, and which server is asked."""

import asyncio
import json
import stat
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer
from tests.support.server import TOKEN, TenutoServer
from tests.terminal.conftest import Start

pytestmark = pytest.mark.anyio
PIPE = asyncio.subprocess.PIPE


@pytest.mark.parametrize("words", [(), ("-",)])
async def test_standard_input_is_the_prompt(
    server: TenutoServer, model: ModelServer, start: Start, words: tuple[str, ...]
) -> None:
    command = await start("run", *words, stdin=PIPE)
    await command.give("From a pipe\n")
    exchange = await model.next_request()
    assert exchange.prompt.strip() == "From a pipe"
    await exchange.say("Yes")
    assert await command.ends() == 0


async def test_beside_a_prompt_it_is_added_as_a_block(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Sum this up", stdin=PIPE)
    await command.give("A long text")
    exchange = await model.next_request()
    await exchange.say("Short")
    assert await command.ends() == 0
    run = (await server.raw.get("/api/runs"))["runs"][0]
    assert [part["text"] for part in run["input"]] == ["Sum this up", "A long text"]


async def test_an_input_that_stays_silent_is_said(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "Hi", stdin=PIPE)
    await command.says("waiting for standard input", "err")
    await command.give("")
    await (await model.next_request()).say("Hello")
    assert await command.ends() == 0


async def test_an_input_that_nobody_closes_can_be_left_alone(
    server: TenutoServer, model: ModelServer, start: Start
) -> None:
    command = await start("run", "--no-stdin", "Hi", stdin=PIPE)
    await (await model.next_request()).say("Hello")
    assert await command.ends() == 0


@pytest.mark.guarantee("E13")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "the prompt is empty"),
        (("--no-stdin",), "no prompt"),
        (("--effort", "huge", "Hi"), "--effort"),
        (("-f", "missing.txt", "Hi"), "missing.txt"),
        (("-s", "ses_none", "Hi"), "ses_none"),
        (("-s", "ses_none", "-c", "Hi"), "not both"),
        (("-c", "Hi"), "no session yet"),
        (("-w", "nowhere", "Hi"), "nowhere"),
        (("-m", "openai/none", "Hi"), "openai/none"),
    ],
)
async def test_wrong_usage_is_exit_code_2_and_nothing_is_sent(
    server: TenutoServer, start: Start, words: tuple[str, ...], said: str
) -> None:
    command = await start("run", *words)
    assert (await command.ends(), command.out) == (2, b"")
    assert said in command.err.decode()
    assert (await server.raw.get("/api/runs"))["runs"] == []


@pytest.mark.guarantee("E13")
async def test_without_a_server_it_says_how_to_start_one(start: Start) -> None:
    command = await start("run", "Hi")
    assert (await command.ends(), command.out) == (6, b"")
    assert "tenuto serve" in command.err.decode()


@pytest.mark.guarantee("E13")
async def test_with_the_wrong_key_it_is_not_let_in(server: TenutoServer, start: Start) -> None:
    command = await start("run", "--url", server.url, "--key", "wrong", "Hi")
    assert (await command.ends(), command.out) == (6, b"")


async def test_an_address_needs_its_own_key(server: TenutoServer, start: Start) -> None:
    command = await start("run", "--url", server.url, "Hi")
    assert await command.ends() == 2
    assert "TENUTO_KEY" in command.err.decode()


async def test_flags_or_variables_say_where(
    server: TenutoServer, model: ModelServer, start: Start, tmp_path: Path
) -> None:
    env = {"HOME": str(tmp_path), "TENUTO_URL": server.url, "TENUTO_KEY": TOKEN}
    for words, given in (((), env), (("--url", server.url, "--key", TOKEN), {})):
        command = await start("run", *words, "Hi", env=given)
        await (await model.next_request()).say("Hello")
        assert (await command.ends(), command.out) == (0, b"Hello\n")


async def test_the_server_of_a_data_folder_is_found_with_its_token(
    model: ModelServer, start: Start, tmp_path: Path
) -> None:
    server = TenutoServer(tmp_path, model_url=model.url)
    del server.env["TENUTO_TOKEN"]
    env = {"HOME": str(tmp_path), "TENUTO_DATA": str(server.data)}
    async with server:
        said = server.data / "server.json"
        assert json.loads(said.read_text()) == {"url": server.url, "pid": server.pid}
        assert stat.S_IMODE(said.stat().st_mode) == 0o600
        command = await start("run", "Hi", env=env)
        await (await model.next_request()).say("Hello")
        assert await command.ends() == 0
        assert await server.terminate() == 0
        assert not said.exists()
        await server.start()
        await server.kill()
        assert said.exists()
        again = await start("run", "Hi", env=env)
        assert await again.ends() == 6
        assert "tenuto serve" in again.err.decode()
