"""The model server does what its tests rely on."""

import asyncio
import sys

import aiohttp
import pytest

from tests.support.model_server import ClientGone, ModelServer, answer

pytestmark = pytest.mark.anyio

ASK = {"model": "test-model", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


async def test_nothing_is_sent_before_the_test_says_so() -> None:
    async with ModelServer() as server, aiohttp.ClientSession() as client:
        asking = asyncio.create_task(client.post(f"{server.url}/chat/completions", json=ASK))
        exchange = await server.next_request()
        assert exchange.prompt == "Hi"
        assert not asking.done()
        await exchange.text("one")
        response = await asking
        first = await response.content.readline()
        assert b'"content":"one"' in first
        await exchange.text("two")
        await exchange.finish()
        rest = await response.content.read()
        assert b'"content":"two"' in rest and rest.endswith(b"data: [DONE]\n\n")
        assert exchange.ended == "finished"


@pytest.mark.parametrize("begun", ["before anything was sent", "after the first piece"])
async def test_a_closed_connection_is_noticed_while_nothing_is_sent(begun: str) -> None:
    async with ModelServer() as server:
        client = aiohttp.ClientSession()
        asking = asyncio.create_task(client.post(f"{server.url}/chat/completions", json=ASK))
        exchange = await server.next_request()
        if begun == "after the first piece":
            await exchange.text("one")
            (await asking).close()
        else:
            asking.cancel()
        await exchange.closed(timeout=2)
        assert exchange.ended == "closed by client"
        with pytest.raises(ClientGone):
            await exchange.text("two")
        await client.close()


async def test_a_script_answers_by_itself() -> None:
    async with ModelServer() as server, aiohttp.ClientSession() as client:
        server.script(answer("Hello world", pieces=5))
        async with client.post(f"{server.url}/chat/completions", json=ASK) as response:
            body = await response.text()
        assert body.count('"content"') == 5
        assert [exchange.ended for exchange in server.exchanges] == ["finished"]


async def test_it_runs_as_a_process_and_counts() -> None:
    command = [sys.executable, "-m", "tests.support.model_server", "--pieces", "3"]
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert child.stdout is not None
        url = (await child.stdout.readline()).decode().strip()
        async with aiohttp.ClientSession() as client:
            async with client.post(f"{url}/chat/completions", json=ASK) as response:
                assert (await response.text()).count('"content"') == 3
            stats = url.removesuffix("/v1") + "/stats"
            assert (await (await client.get(stats)).json()) == {
                "open": 0,
                "finished": 1,
                "closed_by_client": 0,
                "dropped": 0,
            }
    finally:
        child.kill()
        await child.communicate()
