"""Long outputs: kept whole beside the transcript, for the model and for clients."""

import json
from typing import Any

import aiohttp
import pytest

from tests.api.contract.house import House
from tests.support.model_server import Exchange
from tests.tools.desk import until

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"TENUTO_PERMISSIONS": "allow"}


async def text_at(house: House, path: str) -> tuple[int, str]:
    """What a browser would show."""
    headers = {"Authorization": f"Bearer {house.api.token}"}
    async with (
        aiohttp.ClientSession() as http,
        http.get(house.api.url + path, headers=headers) as response,
    ):
        return response.status, await response.text()


PRINTING = "for i in $(seq 20000); do echo line $i of many; done"
PRINTED = "".join(f"line {n} of many\n" for n in range(1, 20_001))


async def calls(exchange: Exchange, name: str, call_id: str, **given: Any) -> None:
    await exchange.tool_call(0, call_id, name)
    await exchange.tool_input(0, json.dumps(given))
    await exchange.finish("tool_calls")


async def result_of(
    house: House, exchange: Exchange, name: str, **given: Any
) -> tuple[str, Exchange]:
    """What the model is told of this call, and the request that tells it."""
    await calls(exchange, name, "call_9", **given)
    following = await house.request()
    results = [m for m in following.body["messages"] if m["role"] == "tool"]
    return str(results[-1]["content"]), following


async def test_what_was_left_out_can_be_read_searched_and_fetched(house: House) -> None:
    session, other = await house.session(), await house.session()
    run, exchange = await house.held(session, "Print")
    await calls(exchange, "shell", "call_1", command=PRINTING)
    exchange = await house.request()
    told = [m for m in exchange.body["messages"] if m["role"] == "tool"][-1]["content"]
    assert len(told) < 31_000
    assert told.endswith("`output:call_1` as path of read_file or search_files]")
    text, exchange = await result_of(
        house, exchange, "read_file", path="output:call_1", offset=12_345, limit=1
    )
    assert text.startswith(" 12345\tline 12345 of many\n")
    text, exchange = await result_of(
        house, exchange, "search_files", path="output:call_1", pattern="line 1777[0-2] "
    )
    assert text == "\n".join(f"output:call_1:{n}: line {n} of many" for n in (17770, 17771, 17772))
    text, exchange = await result_of(house, exchange, "read_file", path="output:call_other")
    assert text == "There is no output call_other in this conversation."
    await exchange.say("Done.")
    await house.ended(run["id"])
    part = (await house.messages(session))[-1]["parts"][0]
    assert part["details"] == {"exit_code": 0, "kept_characters": len(PRINTED)}
    path = f"/api/sessions/{session}/outputs/call_1"
    assert await text_at(house, path) == (200, PRINTED)
    for wrong in (f"/api/sessions/{other}/outputs/call_1", f"/api/sessions/{session}/outputs/x"):
        assert (await house.api.call("GET", wrong)).status == 404
    await house.api.call("DELETE", f"/api/sessions/{session}")
    assert (await house.api.call("GET", path)).status == 404


async def test_an_output_that_fits_is_not_kept_twice(house: House) -> None:
    session = await house.session()
    run, exchange = await house.held(session, "Print")
    await calls(exchange, "shell", "call_1", command="seq 100")
    await (await house.request()).say("Done.")
    await house.ended(run["id"])
    part = (await house.messages(session))[-1]["parts"][0]
    assert part["details"] == {"exit_code": 0}
    answer = await house.api.call("GET", f"/api/sessions/{session}/outputs/call_1")
    assert answer.status == 404


async def test_what_a_stopped_command_had_printed_is_kept(house: House) -> None:
    session = await house.session()
    _, exchange = await house.held(session, "Print")
    await calls(exchange, "shell", "call_1", command=f"{PRINTING}; touch printed; sleep 1000")
    workspace = await house.api.get("/api/workspaces/default")
    await until((house.server.folder_of(workspace["path"]) / "printed").exists)
    await house.api.post(f"/api/sessions/{session}/cancel")
    assert await text_at(house, f"/api/sessions/{session}/outputs/call_1") == (200, PRINTED)
