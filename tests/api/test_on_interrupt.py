"""A prompt that says so goes on by itself when the server dies in the middle of its run."""

from typing import Any

import pytest

from tests.support.log import assert_settled
from tests.support.model_server import ModelServer
from tests.support.raw import RawApi
from tests.support.server import TenutoServer

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.one_node("it kills the server"),
]

Json = dict[str, Any]


async def begun(raw: RawApi, model: ModelServer, **fields: Any) -> tuple[str, Json]:
    session: str = (await raw.post("/api/sessions", {})).body["id"]
    body = {"input": "Tell", "mode": "chat", **fields}
    run: Json = (await raw.post(f"/api/sessions/{session}/runs", body)).body
    await said(raw, model, session, "half ")
    return session, run


async def said(raw: RawApi, model: ModelServer, session: str, text: str) -> None:
    exchange = await model.next_request()
    async with raw.sse(f"/api/sessions/{session}/events", after="now") as stream:
        await exchange.text(text)
        await stream.until("part.delta")


async def runs_of(raw: RawApi, session: str) -> list[Json]:
    found: list[Json] = (await raw.get(f"/api/sessions/{session}/runs"))["runs"]
    return found[::-1]


@pytest.mark.parametrize("how", ["kill", "terminate"])
@pytest.mark.parametrize("server_env", [{"TENUTO_DRAIN": "0"}])
async def test_it_goes_on_before_what_waits_behind_it(
    raw: RawApi, model: ModelServer, server: TenutoServer, how: str
) -> None:
    session, run = await begun(raw, model, on_interrupt="continue")
    await raw.post(f"/api/sessions/{session}/runs", {"input": "Next", "mode": "chat"})
    await getattr(server, how)()
    await server.start()
    exchange = await model.next_request()
    assert exchange.prompt != "Next"
    await exchange.say("and the rest")
    await (await model.next_request()).say("next")
    runs = await runs_of(raw, session)
    async with raw.sse(f"/api/runs/{runs[1]['id']}/events") as stream:
        await stream.to_the_end()
    one, two, three = await runs_of(raw, session)
    reason = "server_crashed" if how == "kill" else "server_stopped"
    assert (one["id"], one["status"], one["reason"]) == (run["id"], "interrupted", reason)
    assert (two["input"], three["continues"]) == ("Next", run["id"])
    assert (three["status"], three["on_interrupt"], three["continued"]) == (
        "completed",
        "continue",
        1,
    )
    await assert_settled(raw, session)


async def test_it_goes_on_three_times_in_a_row_and_no_more(
    raw: RawApi, model: ModelServer, server: TenutoServer
) -> None:
    session, _ = await begun(raw, model, on_interrupt="continue")
    for _ in range(3):
        await server.kill()
        await server.start()
        await said(raw, model, session, "more ")
    await server.kill()
    await server.start()
    runs = await runs_of(raw, session)
    assert [run["continued"] for run in runs] == [0, 1, 2, 3]
    assert {run["status"] for run in runs} == {"interrupted"}
    assert len(model.exchanges) == 4
    await assert_settled(raw, session)


@pytest.mark.parametrize("fields", [{}, {"on_interrupt": "stop"}])
async def test_any_other_stops_there(
    raw: RawApi, model: ModelServer, server: TenutoServer, fields: Json
) -> None:
    session, _ = await begun(raw, model, **fields)
    await server.kill()
    await server.start()
    assert [run["status"] for run in await runs_of(raw, session)] == ["interrupted"]
    await assert_settled(raw, session)
