"""A large file that is attached to a prompt is told in part, and can be read on demand."""

import pytest

from tests.api.contract.house import House
from tests.support.model_server import Exchange, ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

LINES = "".join(f"line {n} of the log\n" for n in range(20_000)).encode()


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


async def read(exchange: Exchange, path: str, offset: int = 1) -> None:
    await exchange.tool_call(0, f"c{offset}", "read_file")
    await exchange.tool_input(0, f'{{"path": "{path}", "offset": {offset}, "limit": 2}}')
    await exchange.finish("tool_calls")


async def test_a_large_text_is_told_in_part_and_read_on_demand(house: House) -> None:
    session = await house.session()
    file = (await house.api.upload(LINES, "big.log", "text/plain")).body
    prompt = [{"type": "text", "text": "Read it"}, {"type": "file", "file_id": file["id"]}]
    run, exchange = await house.held(session, prompt)
    assert "line 0 of the log" in exchange.prompt
    assert "line 19999 of" not in exchange.prompt
    assert len(exchange.prompt) < 70_000
    assert f"read_file with path file:{file['id']}" in exchange.prompt
    await read(exchange, f"file:{file['id']}", offset=19_999)
    exchange = await house.request()
    assert "line 19998 of the log\n" in exchange.messages[-1]["content"]
    await exchange.say("Read.")
    assert (await house.ended(run["id"]))["status"] == "completed"


async def test_a_file_of_another_conversation_cannot_be_read(house: House) -> None:
    session = await house.session()
    file = (await house.api.upload(b"secret", "a.txt", "text/plain")).body
    _, exchange = await house.held(session, "Read it")
    await read(exchange, f"file:{file['id']}")
    exchange = await house.request()
    assert "There is no file" in exchange.messages[-1]["content"]
    await exchange.say("No.")
