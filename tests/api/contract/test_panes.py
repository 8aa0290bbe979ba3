"""One prompt to all panes, and one stream that their runs hang on."""

from collections.abc import AsyncIterator

import anyio
import pytest

from tests.api.contract.house import House, Json, open_house, refused
from tests.support.log import read_log
from tests.support.model_server import Exchange
from tests.support.raw import RawSse

pytestmark = pytest.mark.anyio

MODELS = [f"openai/{name}" for name in ("one", "two", "three")]


@pytest.fixture(scope="module")
async def shared_house(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, str]
) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("house"), settings) as house:
        house.model.models = ["one", "two", "three"]
        yield house


@pytest.fixture
async def comparison(house: House) -> Json:
    answer = await house.api.post("/api/comparisons", {"models": MODELS, "blind": False})
    assert answer.status == 201, answer
    made: Json = answer.body
    return made


def path_of(comparison: Json) -> str:
    return f"/api/comparisons/{comparison['id']}/runs"


def attached(house: House, comparison: Json, **body: object) -> RawSse:
    return house.api.sse(
        path_of(comparison), method="POST", body={"on_disconnect": "cancel", **body}
    )


async def asked(house: House) -> dict[str, Exchange]:
    """What the model was asked for the three panes, by the model's name."""
    with anyio.fail_after(15):
        exchanges = [await house.request() for _ in MODELS]
    return {exchange.body["model"]: exchange for exchange in exchanges}


async def last_run(house: House, session_id: str) -> Json:
    found: Json = (await house.api.get(f"/api/sessions/{session_id}/runs"))["runs"][0]
    return found


async def test_one_stream_tells_every_pane_and_ends_when_all_have_ended(
    house: House, comparison: Json
) -> None:
    async with attached(house, comparison, input="hi") as stream:
        for name, exchange in (await asked(house)).items():
            await exchange.say(f"I am {name}.")
        frames = await stream.to_the_end()
    for pane in comparison["panes"]:
        session_id = pane["session_id"]
        own = [frame.data for frame in frames if frame.log == session_id]
        log = await read_log(house.api, session_id)
        assert own == [event for event in log if event["run_id"] is not None]
        assert own[-1]["type"] == "run.finished"
        name = pane["model"].removeprefix("openai/")
        assert await house.texts(session_id) == ["hi", f"I am {name}."]
    assert {frame.log for frame in frames} == {p["session_id"] for p in comparison["panes"]}


async def test_closing_the_stream_stops_them_all_also_while_they_are_silent(
    house: House, comparison: Json
) -> None:
    async with attached(house, comparison, input="hi") as stream:
        exchanges = await asked(house)
        await exchanges["one"].text("Hal")
        await stream.until("part.delta")
        for exchange in exchanges.values():
            assert exchange.ended == "open"
    with anyio.fail_after(15):
        for exchange in exchanges.values():
            await exchange.closed()
    for pane in comparison["panes"]:
        run = await house.ended((await last_run(house, pane["session_id"]))["id"])
        assert (run["status"], run["reason"]) == ("cancelled", "disconnect")
    assert await house.texts(comparison["panes"][0]["session_id"]) == ["hi", "Hal"]


async def test_a_pane_that_is_stopped_alone_leaves_the_others_and_the_stream(
    house: House, comparison: Json
) -> None:
    first = comparison["panes"][0]["session_id"]
    async with attached(house, comparison, input="hi") as stream:
        exchanges = await asked(house)
        await house.api.post(f"/api/sessions/{first}/cancel")
        with anyio.fail_after(15):
            await exchanges["one"].closed()
        for name in ("two", "three"):
            await exchanges[name].say("Done.")
        frames = await stream.to_the_end()
    ends = {f.log: f.data["run"]["status"] for f in frames if f.event == "run.finished"}
    assert sorted(ends.values()) == ["cancelled", "completed", "completed"]
    assert ends[first] == "cancelled"


async def test_one_pane_alone_can_be_asked_and_asked_again_in_place_of_its_answer(
    house: House, comparison: Json
) -> None:
    pane = comparison["panes"][1]["session_id"]
    for body, said in ({"input": "hi"}, "First."), ({}, "Second."):
        async with attached(house, comparison, panes=[1], **body) as stream:
            exchange = await house.request()
            assert exchange.body["model"] == "two"
            await exchange.say(said)
            await stream.to_the_end()
        assert await house.texts(pane) == ["hi", said]
    for other in (0, 2):
        assert await house.messages(comparison["panes"][other]["session_id"]) == []


async def test_an_answer_asked_again_hangs_on_the_stream_too(
    house: House, comparison: Json
) -> None:
    pane = comparison["panes"][0]["session_id"]
    await house.answered(pane, "hi", "First.")
    async with attached(house, comparison, panes=[0]):
        exchange = await house.request()
        await exchange.text("Sec")
    with anyio.fail_after(15):
        await exchange.closed()
    run = await house.ended((await last_run(house, pane))["id"])
    assert (run["status"], run["reason"]) == ("cancelled", "disconnect")


async def test_without_a_stream_the_runs_are_the_answer_and_go_on_alone(
    house: House, comparison: Json
) -> None:
    answer = await house.api.post(path_of(comparison), {"input": "hi"})
    assert answer.status == 202
    sessions = [run["session_id"] for run in answer.body["runs"]]
    assert sessions == [pane["session_id"] for pane in comparison["panes"]]
    for exchange in (await asked(house)).values():
        await exchange.say("Yes.")
    for run in answer.body["runs"]:
        assert (await house.ended(run["id"]))["status"] == "completed"


async def test_the_same_prompt_with_the_same_key_is_asked_once(
    house: House, comparison: Json
) -> None:
    headers = {"Idempotency-Key": "panes-once"}
    first, again = [
        await house.api.call("POST", path_of(comparison), {"input": "hi"}, headers=headers)
        for _ in range(2)
    ]
    assert [r["id"] for r in again.body["runs"]] == [r["id"] for r in first.body["runs"]]


async def test_the_same_prompt_has_the_same_answer_when_a_pane_was_kept_since(
    house: House, comparison: Json
) -> None:
    headers = {"Idempotency-Key": "panes-kept"}
    path = path_of(comparison).removesuffix("/runs")
    first = await house.api.call("POST", f"{path}/runs", {"input": "hi"}, headers=headers)
    for exchange in (await asked(house)).values():
        await exchange.say("Yes.")
    for run in first.body["runs"]:
        await house.ended(run["id"])
    await house.api.post(f"{path}/vote", {"winner": 0})
    assert (await house.api.post(f"{path}/keep", {"index": 0})).status == 200
    again = await house.api.call("POST", f"{path}/runs", {"input": "hi"}, headers=headers)
    assert [r["id"] for r in again.body["runs"]] == [r["id"] for r in first.body["runs"]]
    assert len(await house.messages(comparison["panes"][1]["session_id"])) == 2


@pytest.mark.parametrize("panes", [[3], [-1], [0, 0], []])
async def test_panes_that_are_not_there_are_refused_and_nobody_is_asked(
    house: House, comparison: Json, panes: list[int]
) -> None:
    body = {"input": "hi", "panes": panes}
    refused(await house.api.post(path_of(comparison), body), 422, "invalid_input")
    for pane in comparison["panes"]:
        assert await house.messages(pane["session_id"]) == []


@pytest.mark.one_node("each node asks providers for their lists itself")
async def test_a_model_that_is_gone_stops_the_prompt_before_anyone_is_asked(house: House) -> None:
    made = (await house.api.post("/api/comparisons", {"models": MODELS})).body
    house.model.models = ["one", "two"]
    try:
        await house.api.post("/api/models/refresh")
        answer = await house.api.post(path_of(made), {"input": "hi"})
    finally:
        house.model.models = ["one", "two", "three"]
        await house.api.post("/api/models/refresh")
    detail = refused(answer, 422, "model_not_found")
    assert not any(model.removeprefix("openai/") in detail.split() for model in MODELS)
    for pane in made["panes"]:
        assert await house.messages(pane["session_id"]) == []


async def test_asking_all_again_while_one_is_busy_changes_none(
    house: House, comparison: Json
) -> None:
    panes = [pane["session_id"] for pane in comparison["panes"]]
    async with attached(house, comparison, input="hi") as stream:
        for exchange in (await asked(house)).values():
            await exchange.say("First.")
        await stream.to_the_end()
    answer = await house.api.post(f"/api/sessions/{panes[2]}/runs", {"input": "more"})
    busy = await house.request()
    before = [await read_log(house.api, pane) for pane in panes[:2]]
    refused(await house.api.post(path_of(comparison), {}), 409, "session_busy")
    assert [await read_log(house.api, pane) for pane in panes[:2]] == before
    await busy.say("Yes.")
    assert (await house.ended(answer.body["id"]))["status"] == "completed"
