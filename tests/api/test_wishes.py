"""What a prompt wishes of its answer: kept on the run, and with whoever asks the same again."""

import pytest

from tests.api.contract.house import House, Json, refused
from tests.support.model_server import ModelServer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

WISHES = {
    "effort": "high",
    "options": {"temperature": 0.5, "stop": ["END"], "seed": 7, "metadata": {"team": "a"}},
    "attended": False,
}


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


def wished(run: Json) -> Json:
    return {field: run[field] for field in WISHES}


async def test_wishes_are_kept_on_the_run_and_when_it_is_asked_again(house: House) -> None:
    session = await house.session()
    run = await house.prompt(session, "Hi", **WISHES)
    assert wished(run) == WISHES
    await (await house.request()).say("Half.")
    ended = await house.ended(run["id"])
    assert wished(ended) == WISHES
    again = await house.api.post(f"/api/sessions/{session}/retry", {})
    assert wished(again.body) == WISHES


async def test_a_prompt_without_wishes_has_none(house: House) -> None:
    session = await house.session()
    run = await house.prompt(session, "Hi")
    assert (run["effort"], run["options"], run["attended"]) == (None, None, True)
    assert run["waiting"] is None


@pytest.mark.parametrize(
    "wish",
    [
        {"effort": "enormous"},
        {"options": {"temperature": 9}},
        {"options": {"top_p": -1}},
        {"options": {"max_output_tokens": 0}},
        {"options": {"stop": [""]}},
        {"options": {"response_format": {"type": "poem"}}},
        {"options": {"warmth": 1}},
        {"options": {"metadata": {"a": "x" * 1000}}},
        {"attended": "no"},
    ],
)
async def test_a_wish_that_no_model_could_fulfil_is_refused(house: House, wish: Json) -> None:
    session = await house.session()
    answer = await house.api.post(f"/api/sessions/{session}/runs", {"input": "Hi", **wish})
    assert next(iter(wish)) in refused(answer, 422, "invalid_input")
    assert (await house.api.get(f"/api/sessions/{session}"))["queued"] == 0


async def test_where_nobody_can_be_asked_what_would_ask_is_denied(house: House) -> None:
    session = await house.session()
    run = await house.prompt(session, "Do it", attended=False)
    exchange = await house.request()
    await exchange.tool_call(0, "c1", "shell")
    await exchange.tool_input(0, '{"command": "echo hi"}')
    await exchange.finish("tool_calls")
    exchange = await house.request()
    result = exchange.messages[-1]
    assert result["role"] == "tool"
    assert "nobody can be asked" in result["content"]
    await exchange.say("Then not.")
    ended = await house.ended(run["id"])
    assert ended["status"] == "completed"
