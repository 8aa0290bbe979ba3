"""A node that is killed: the other settles what it ran, and goes on with what waited."""

import pytest

from tests.api.contract.test_approvals import asked, decide
from tests.api.contract.test_questions import answered
from tests.api.contract.test_questions import asked as questioned
from tests.nodes.stage import Stage, texts_shown
from tests.support.log import assert_settled, read_log
from tests.support.watch import until

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E10")]

FULL = pytest.mark.parametrize("settings", [{"TENUTO_LIMITS_ACTIVE_RUNS": "1"}])


async def test_its_run_is_interrupted_with_all_that_was_seen(stage: Stage) -> None:
    session = await stage.ada.session()
    run, exchange = await stage.ada.held(session, "hello")
    await exchange.text("half of it")
    seen = await texts_shown(stage.ada, session, "half of it")
    async with stage.bea.api.sse(f"/api/runs/{run['id']}/events") as watching:
        await stage.cluster.node("ada").kill()
        ended = await stage.settled(stage.bea, run["id"])
        assert (ended["status"], ended["reason"]) == ("interrupted", "server_crashed")
        assert (await watching.to_the_end())[-1].event == "run.finished"
    assert (await read_log(stage.bea.api, session))[: len(seen)] == seen
    assert await stage.bea.texts(session) == ["hello", "half of it"]
    await assert_settled(stage.bea.api, session)


async def test_what_it_had_queued_runs_elsewhere(stage: Stage) -> None:
    session = await stage.ada.session()
    first, _ = await stage.ada.held(session, "one")
    second = await stage.ada.prompt(session, "two")
    await stage.cluster.node("ada").kill()
    assert (await stage.settled(stage.bea, first["id"]))["status"] == "interrupted"
    exchange = await stage.bea.request()
    assert exchange.prompt == "two"
    await exchange.say("2")
    assert (await stage.bea.ended(second["id"]))["status"] == "completed"
    await assert_settled(stage.bea.api, session)


@pytest.mark.guarantee("E2")
async def test_its_run_that_waits_for_a_person_goes_on_where_it_is_answered(stage: Stage) -> None:
    session = await stage.ada.session()
    run, approval = await asked(stage.ada, session, "asked.txt")
    await stage.cluster.node("ada").kill()

    async def parked() -> bool:
        # What its node had is known to be left once a cancel elsewhere would not wait for it.
        nodes = (await stage.bea.api.get("/api/nodes"))["nodes"]
        return [node["state"] for node in nodes].count("alive") == 1

    await until(parked)
    assert (await stage.bea.run(run["id"]))["status"] == "running"
    await decide(stage.bea, approval, "allow_once")
    await (await stage.bea.request()).say("Written.")
    assert (await stage.settled(stage.bea, run["id"]))["status"] == "completed"
    assert (stage.cluster.shared / "default" / "asked.txt").read_text() == "hello"
    await assert_settled(stage.bea.api, session)


@pytest.mark.guarantee("E2")
async def test_its_question_is_answered_where_it_is_seen_and_the_run_goes_on_there(
    stage: Stage,
) -> None:
    session = await stage.ada.session()
    run, question = await questioned(stage.ada, session)
    await stage.cluster.node("ada").kill()
    (pending,) = (await stage.bea.api.get(f"/api/sessions/{session}/questions"))["questions"]
    assert (pending["id"], pending["state"]) == (question["id"], "pending")
    await answered(stage.bea, question, {"answers": [["Blue"]]})
    exchange = await stage.bea.request()
    assert "Blue" in str(exchange.messages[-1]["content"])
    await exchange.say("Painted.")
    assert (await stage.settled(stage.bea, run["id"]))["status"] == "completed"
    await assert_settled(stage.bea.api, session)


@FULL
async def test_an_attached_run_elsewhere_whose_stream_it_held_is_cancelled(stage: Stage) -> None:
    full, busy = await stage.ada.held(await stage.ada.session(), "fill ada")
    session = await stage.ada.session()
    body = {"input": "attached", "on_disconnect": "cancel"}
    path = f"/api/sessions/{session}/runs"
    async with stage.ada.api.sse(path, method="POST", body=body) as stream:
        exchange = await stage.ada.request()
        await exchange.text("so far")
        await stream.until("part.delta")
        await stage.cluster.node("ada").kill()
        await exchange.closed()
    (run,) = (await stage.bea.api.get(path))["runs"]
    ended = await stage.settled(stage.bea, run["id"])
    assert (ended["status"], await stage.bea.texts(session)) == (
        "cancelled",
        ["attached", "so far"],
    )
    assert (await stage.settled(stage.bea, full["id"]))["status"] == "interrupted"
    await busy.closed()


@FULL
async def test_a_node_that_drains_hands_what_waits_to_the_others(stage: Stage) -> None:
    held = {}
    for house in (stage.ada, stage.bea):
        held[house], exchange = await house.held(await house.session(), "fill")
        if house is stage.bea:
            of_bea = exchange
    waiting = await stage.ada.prompt(await stage.ada.session(), "who is free?")
    stage.cluster.node("ada").signal_stop()
    await of_bea.say("Free.")
    exchange = await stage.bea.request()
    assert exchange.prompt == "who is free?"
    await exchange.say("Bea.")
    assert (await stage.bea.ended(waiting["id"]))["status"] == "completed"
    # Ada still waits for its own.
    assert (await stage.bea.run(held[stage.ada]["id"]))["status"] == "running"
