"""Questions: a run asks a person in words, and goes on with the answer."""

import json
from typing import Any

import pytest

from tests.api.contract.house import House, Json, refused
from tests.support.log import assert_settled
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio

COLOUR: Json = {
    "question": "Which colour?",
    "options": [{"label": "Red", "about": "like fire"}, {"label": "Blue"}],
}
NAMES: Json = {"question": "Which names?", "options": [{"label": "Ada"}], "multiple": True}


async def ask(exchange: Exchange, *questions: Json, call_id: str = "call_1") -> None:
    await exchange.tool_call(0, call_id, "ask_user")
    await exchange.tool_input(0, json.dumps({"questions": questions}))
    await exchange.finish("tool_calls")


async def asked(
    house: House, session_id: str, *questions: Json, **fields: Any
) -> tuple[Json, Json]:
    """A run that waits for an answer, and its question."""
    run, exchange = await house.held(session_id, "Paint it", **fields)
    await ask(exchange, *(questions or (COLOUR,)))
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        frame = await stream.until("question.asked")
    question: Json = frame.data["question"]
    return run, question


async def answered(house: House, question: Json, body: Json) -> Json:
    answer = await house.api.post(f"/api/questions/{question['id']}", body)
    assert answer.status == 200, answer
    given: Json = answer.body
    return given


async def told(exchange: Exchange) -> str:
    """What the model is told that its call gave."""
    return str(exchange.messages[-1]["content"])


async def test_it_waits_and_goes_on_with_the_answer(house: House, session_id: str) -> None:
    run, question = await asked(house, session_id, COLOUR, NAMES)
    assert question["questions"][0]["options"][0] == {"label": "Red", "about": "like fire"}
    assert (question["run_id"], question["call_id"]) == (run["id"], "call_1")
    assert (question["session_id"], question["root_session_id"]) == (session_id, session_id)
    assert (question["state"], question["answers"], question["answered_by"]) == (
        "pending",
        [],
        None,
    )
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["waiting_questions"]) == ("waiting", 1)
    given = await answered(house, question, {"answers": [["Blue"], ["Ada", "Grace"]]})
    assert (given["state"], given["answered_by"]) == ("answered", "user")
    exchange = await house.request()
    said = await told(exchange)
    assert "Which colour? → Blue" in said and "Which names? → Ada; Grace" in said
    await exchange.say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    found = await house.api.get(f"/api/sessions/{session_id}/questions")
    assert found == {"questions": [given]}
    part = (await house.messages(session_id))[-1]["parts"][0]
    assert (part["state"], part["details"]["answers"]) == ("done", [["Blue"], ["Ada", "Grace"]])
    await assert_settled(house.api, session_id)


async def test_the_first_answer_wins(house: House, session_id: str) -> None:
    run, question = await asked(house, session_id)
    path = f"/api/questions/{question['id']}"
    given = await answered(house, question, {"answers": [["My own: green"]]})
    for late in ({"answers": [["Red"]]}, {"dismiss": True}):
        refused(await house.api.post(path, late), 409, "already_answered")
    exchange = await house.request()
    assert await told(exchange) == "The user answered: My own: green"
    await exchange.say("Done.")
    await house.ended(run["id"])
    (kept,) = (await house.api.get(f"/api/sessions/{session_id}/questions"))["questions"]
    assert kept == given


async def test_it_can_be_dismissed(house: House, session_id: str) -> None:
    run, question = await asked(house, session_id)
    given = await answered(house, question, {"dismiss": True})
    assert (given["state"], given["answers"]) == ("dismissed", [])
    exchange = await house.request()
    assert "does not want to answer" in await told(exchange)
    await exchange.say("Then grey.")
    assert (await house.ended(run["id"]))["status"] == "completed"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"dismiss": False},
        {"answers": []},
        {"answers": [[]]},
        {"answers": [["Red", "Blue"]]},
        {"answers": [["Red"], ["Blue"]]},
        {"answers": [[" "]]},
        {"answers": [[""]]},
        {"answers": ["Red"]},
        {"answers": [[1]]},
        {"answers": [["x" * 10_001]]},
        {"answers": [["Red"]], "dismiss": True},
        {"answers": [["Red"]], "more": 1},
    ],
)
async def test_what_is_no_answer_is_refused(house: House, session_id: str, body: Json) -> None:
    _, question = await asked(house, session_id)
    refused(await house.api.post(f"/api/questions/{question['id']}", body), 422, "invalid_input")
    (kept,) = (await house.api.get(f"/api/sessions/{session_id}/questions"))["questions"]
    assert kept == question


async def test_there_is_no_question_that_nobody_asked(house: House) -> None:
    refused(await house.api.post("/api/questions/qst_none", {"dismiss": True}), 404, "not_found")
    refused(await house.api.call("GET", "/api/sessions/ses_none/questions"), 404, "not_found")


async def test_a_steer_while_it_waits_is_the_answer(house: House, session_id: str) -> None:
    run, _ = await asked(house, session_id)
    body = {"input": "Rather green", "when_busy": "steer"}
    steer = (await house.api.post(f"/api/sessions/{session_id}/runs", body)).body
    exchange = await house.request()
    roles = [message["role"] for message in exchange.messages[-2:]]
    assert roles == ["tool", "user"]
    assert exchange.messages[-2]["content"] == "The user wrote instead: Rather green"
    await exchange.say("Green it is.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    taken = await house.api.get(f"/api/runs/{steer['id']}")
    assert (taken["status"], taken["steered_into"]) == ("completed", run["id"])
    (kept,) = (await house.api.get(f"/api/sessions/{session_id}/questions"))["questions"]
    assert (kept["state"], kept["answered_by"]) == ("answered", "steer")
    assert kept["answers"] == [["Rather green"]]
    await assert_settled(house.api, session_id)


@pytest.mark.parametrize("how", ["cancel", "replaced"])
async def test_it_ends_with_its_run(house: House, session_id: str, how: str) -> None:
    run, question = await asked(house, session_id)
    if how == "cancel":
        answer = await house.api.post(f"/api/sessions/{session_id}/cancel")
        assert answer.body["settled"] is True
    else:
        body = {"input": "Instead", "when_busy": "interrupt"}
        await house.api.post(f"/api/sessions/{session_id}/runs", body)
        await (await house.request()).say("Yes.")
    assert (await house.ended(run["id"]))["status"] == "cancelled"
    (kept,) = (await house.api.get(f"/api/sessions/{session_id}/questions"))["questions"]
    assert (kept["state"], kept["answered_by"]) == ("cancelled", "run")
    late = await house.api.post(f"/api/questions/{question['id']}", {"answers": [["Red"]]})
    refused(late, 409, "already_answered")


async def test_nobody_is_asked_where_nobody_can_be(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "Paint it", attended=False)
    await ask(exchange, COLOUR)
    second = await house.request()
    assert "Nobody can be asked" in await told(second)
    await second.say("Red, I assume.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await house.api.get(f"/api/sessions/{session_id}/questions")) == {"questions": []}


async def test_two_calls_of_one_answer_ask_side_by_side(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "Paint it")
    for index, one in enumerate((COLOUR, NAMES)):
        await exchange.tool_call(index, f"call_{index}", "ask_user")
        await exchange.tool_input(index, json.dumps({"questions": [one]}))
    await exchange.finish("tool_calls")
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        both = [(await stream.until("question.asked")).data["question"] for _ in range(2)]
    for question in reversed(both):
        await answered(house, question, {"answers": [["Red"]]})
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    await assert_settled(house.api, session_id)


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [COLOUR] * 5,
        [{"question": ""}],
        [{"options": []}],
        [{"question": "Which?", "options": [{"label": "Red"}, {"label": "Red"}]}],
    ],
)
async def test_a_model_that_asks_wrongly_is_told(
    house: House, session_id: str, questions: list[Json]
) -> None:
    run, exchange = await house.held(session_id, "Paint it")
    await ask(exchange, *questions)
    second = await house.request()
    part = (await house.messages(session_id))[-1]["parts"][0]
    assert part["state"] == "failed", part
    await second.say("I will not ask.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    await assert_settled(house.api, session_id)


async def test_a_viewer_who_comes_later_is_told_what_is_asked(
    house: House, session_id: str
) -> None:
    _, question = await asked(house, session_id)
    async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
        assert (await stream.next()).data["questions"] == [question]
    async with house.api.sse("/api/workspaces/default/events", after="now") as stream:
        sessions = (await stream.next()).data["sessions"]
        (mine,) = [one for one in sessions if one["id"] == session_id]
        assert (mine["state"], mine["waiting_questions"]) == ("waiting", 1)
        await answered(house, question, {"answers": [["Red"]]})
        frame = await stream.until("question.answered")
        assert frame.data["question"]["id"] == question["id"]
    await (await house.request()).say("Done.")
