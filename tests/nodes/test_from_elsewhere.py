"""What runs on one node is watched, steered, answered, changed and stopped from the other."""

import pytest

from tests.api.contract.test_approvals import asked, decide
from tests.api.contract.test_comparisons import compare, vote
from tests.api.contract.test_questions import answered
from tests.api.contract.test_questions import asked as questioned
from tests.api.contract.test_queue import look
from tests.nodes.stage import Stage, texts_shown
from tests.support.log import assert_settled

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E9")]


async def test_a_run_is_watched_and_stopped_from_the_other_node(stage: Stage) -> None:
    session = await stage.ada.session()
    run, exchange = await stage.ada.held(session, "hello")
    path = f"/api/runs/{run['id']}/events"
    async with stage.ada.api.sse(path) as here, stage.bea.api.sse(path) as there:
        for piece in ("from ", "the ", "left"):
            await exchange.text(piece)
        await texts_shown(stage.bea, session, "from the left")
        answer = await stage.bea.api.post(f"/api/runs/{run['id']}/cancel")
        assert (answer.status, answer.body["status"]) == (200, "cancelled")
        await exchange.closed()
        assert await here.to_the_end() == await there.to_the_end()
    for house in (stage.ada, stage.bea):
        assert await house.texts(session) == ["hello", "from the left"]
        await assert_settled(house.api, session)


async def test_a_run_is_steered_from_the_other_node(stage: Stage) -> None:
    session = await stage.ada.session()
    run, exchange = await stage.ada.held(session, "look around")
    steer = await stage.bea.prompt(session, "only here", when_busy="steer")
    await look(exchange)
    exchange = await stage.ada.request()
    assert exchange.messages[-1]["content"] == "only here"
    await exchange.say("Here.")
    assert (await stage.bea.ended(run["id"]))["status"] == "completed"
    assert (await stage.ada.run(steer["id"]))["steered_into"] == run["id"]
    await assert_settled(stage.bea.api, session)


async def test_a_question_of_one_node_is_answered_on_the_other(stage: Stage) -> None:
    session = await stage.ada.session()
    run, question = await questioned(stage.ada, session)
    assert (await stage.bea.api.get(f"/api/sessions/{session}"))["state"] == "waiting"
    await answered(stage.bea, question, {"answers": [["Red"]]})
    exchange = await stage.ada.request()
    assert "Red" in str(exchange.messages[-1]["content"])
    await exchange.say("Painted.")
    assert (await stage.bea.ended(run["id"]))["status"] == "completed"
    await assert_settled(stage.ada.api, session)


async def test_a_permission_that_one_node_asks_for_is_given_on_the_other(stage: Stage) -> None:
    session = await stage.ada.session()
    run, approval = await asked(stage.ada, session, "asked.txt")
    await decide(stage.bea, approval, "allow_once")
    await (await stage.ada.request()).say("Written.")
    assert (await stage.bea.ended(run["id"]))["status"] == "completed"
    assert (stage.cluster.shared / "default" / "asked.txt").read_text() == "hello"
    await assert_settled(stage.ada.api, session)


async def test_the_queue_of_one_node_is_changed_on_the_other(stage: Stage) -> None:
    session = await stage.ada.session()
    run, exchange = await stage.ada.held(session, "one")
    changed, removed = [await stage.ada.prompt(session, word) for word in ("two", "three")]
    path = f"/api/runs/{changed['id']}"
    assert (await stage.bea.api.call("PATCH", path, {"input": "deux"})).status == 200
    await stage.bea.api.post(f"/api/runs/{removed['id']}/cancel")
    await exchange.say("1")
    exchange = await stage.ada.request()
    assert exchange.prompt == "deux"
    await exchange.say("2")
    assert (await stage.bea.ended(changed["id"]))["status"] == "completed"
    assert (await stage.ada.ended(removed["id"]))["status"] == "cancelled"
    assert (await stage.bea.ended(run["id"]))["status"] == "completed"
    await assert_settled(stage.bea.api, session)


async def test_what_was_said_on_one_node_is_undone_on_the_other(stage: Stage) -> None:
    session = await stage.ada.session()
    await stage.ada.answered(session, "one", "1")
    await stage.ada.answered(session, "two", "2")
    assert (await stage.bea.api.post(f"/api/sessions/{session}/undo")).status == 200
    assert await stage.ada.texts(session) == ["one", "1"]
    _, exchange = await stage.ada.held(session, "three")
    assert "two" not in str(exchange.messages)
    await exchange.say("3")
    assert (await texts_shown(stage.bea, session, "3"))[-1]


async def test_a_comparison_of_one_node_is_asked_and_judged_on_the_other(stage: Stage) -> None:
    made = await compare(stage.ada.api, ["openai/test-model"] * 2)
    asked_of_all = await stage.bea.api.post(
        f"/api/comparisons/{made['id']}/runs", {"input": "which?"}
    )
    assert asked_of_all.status == 202, asked_of_all
    for answer in ("A", "B"):
        await (await stage.bea.request()).say(answer)
    for pane in made["panes"]:
        for run in (await stage.ada.api.get(f"/api/sessions/{pane['session_id']}/runs"))["runs"]:
            assert (await stage.ada.ended(run["id"]))["status"] == "completed"
    await vote(stage.ada.api, made, 1)
    assert (await stage.bea.api.get(f"/api/comparisons/{made['id']}"))["winner"] == 1


@pytest.mark.parametrize("settings", [{"TENUTO_LIMITS_ACTIVE_RUNS": "1"}])
async def test_an_attached_run_elsewhere_is_cancelled_when_its_connection_closes(
    stage: Stage,
) -> None:
    """Ada has no room, so that bea runs what somebody watches on ada."""
    full, busy = await stage.ada.held(await stage.ada.session(), "fill ada")
    session = await stage.ada.session()
    path, body = f"/api/sessions/{session}/runs", {"input": "attached", "on_disconnect": "cancel"}
    async with stage.ada.api.sse(path, method="POST", body=body) as stream:
        exchange = await stage.ada.request()
        await exchange.text("so far")
        await stream.until("part.delta")
    await exchange.closed()
    (run,) = (await stage.bea.api.get(path))["runs"]
    ended = await stage.bea.ended(run["id"])
    assert (ended["status"], ended["reason"]) == ("cancelled", "disconnect")
    assert await stage.bea.texts(session) == ["attached", "so far"]
    await busy.say("Done.")
    assert (await stage.ada.ended(full["id"]))["status"] == "completed"
