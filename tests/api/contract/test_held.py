"""A stop that keeps what waits: held prompts stay in their place until they are let go."""

from pathlib import Path

import pytest

from tests.api.contract.house import House, Json, open_house, refused
from tests.support.log import assert_settled, read_log

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E4")]

HOLD = {"queue": "hold"}


async def stopped(house: House, session_id: str, *waiting: str) -> tuple[Json, list[Json], Json]:
    """A run that was stopped with these behind it; what the stop answered."""
    active, exchange = await house.held(session_id, "one")
    await exchange.text("Hal")
    waits = [await house.prompt(session_id, word) for word in waiting]
    answer = await house.api.post(f"/api/sessions/{session_id}/cancel", HOLD)
    assert answer.status == 200, answer
    await exchange.closed()
    return active, waits, answer.body


async def test_a_stop_that_holds_ends_the_active_run_alone(house: House, session_id: str) -> None:
    active, waits, said = await stopped(house, session_id, "two", "three")
    ids = [run["id"] for run in waits]
    assert (said["cancelled"], said["held"], said["settled"]) == ([active["id"]], ids, True)
    ended = await house.run(active["id"])
    assert (ended["status"], ended["reason"], ended["held"]) == ("cancelled", "user", False)
    for run_id in ids:
        run = await house.run(run_id)
        assert (run["status"], run["held"]) == ("queued", True)
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["queued"]) == ("idle", 2)
    queued = await house.api.get(f"/api/sessions/{session_id}/runs?status=queued")
    assert [run["id"] for run in queued["runs"]] == ids[::-1]
    again = await house.api.post(f"/api/sessions/{session_id}/cancel", HOLD)
    assert (again.body["cancelled"], again.body["held"]) == ([], [])
    # The log says of each that it is held, once.
    told = [e for e in await read_log(house.api, session_id) if e["type"] == "run.updated"]
    assert [(e["run_id"], e["run"]["held"]) for e in told] == [(run_id, True) for run_id in ids]


async def test_later_prompts_pass_what_is_held_and_a_release_lets_it_go_in_order(
    house: House, session_id: str
) -> None:
    _, waits, _ = await stopped(house, session_id, "two", "three")
    later = await house.answered(session_id, "four", "4", when_busy="reject")
    assert later["status"] == "completed"
    path = f"/api/sessions/{session_id}/release"
    released = await house.api.post(path)
    assert (released.status, released.body["released"]) == (200, [run["id"] for run in waits])
    for word in ("two", "three"):
        exchange = await house.request()
        assert exchange.prompt == word
        await exchange.say(f"to {word}")
    for run in waits:
        assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await house.api.post(path)).body["released"] == []
    assert (await house.texts(session_id))[2:] == [
        "four",
        "4",
        "two",
        "to two",
        "three",
        "to three",
    ]
    await assert_settled(house.api, session_id)


async def test_one_can_be_let_go_or_held_by_itself(house: House, session_id: str) -> None:
    _, (two, three), _ = await stopped(house, session_id, "two", "three")
    answer = await house.api.call("PATCH", f"/api/runs/{three['id']}", {"held": False})
    assert (answer.status, answer.body["held"]) == (200, False)
    exchange = await house.request()
    assert exchange.prompt == "three"
    assert (await house.run(two["id"]))["held"] is True
    refused(
        await house.api.call("PATCH", f"/api/runs/{three['id']}", {"held": True}),
        409,
        "session_busy",
    )
    four = await house.prompt(session_id, "four")
    held = await house.api.call("PATCH", f"/api/runs/{four['id']}", {"held": True})
    assert held.body["held"] is True
    await exchange.say("3")
    assert (await house.ended(three["id"]))["status"] == "completed"
    assert (await house.run(four["id"]))["status"] == "queued"


async def test_a_steer_that_is_held_is_given_to_no_run(house: House, session_id: str) -> None:
    _, (two,), _ = await stopped(house, session_id, "two")
    await house.api.call("PATCH", f"/api/runs/{two['id']}", {"when_busy": "steer"})
    run, exchange = await house.held(session_id, "look")
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.finish("tool_calls")
    exchange = await house.request()
    await exchange.say("Seen.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await house.run(two["id"]))["status"] == "queued"
    assert "two" not in await house.texts(session_id)


async def test_a_plain_cancel_ends_what_is_held_and_its_user_can_take_it_back(
    house: House, session_id: str
) -> None:
    _, (two, three), _ = await stopped(house, session_id, "two", "three")
    assert (await house.api.call("DELETE", f"/api/runs/{three['id']}")).status == 204
    answer = await house.api.post(f"/api/sessions/{session_id}/cancel")
    assert (answer.body["cancelled"], answer.body["held"]) == ([two["id"]], [])
    ended = await house.run(two["id"])
    assert (ended["status"], ended["reason"], ended["held"]) == ("cancelled", "user", False)
    assert (await house.run(three["id"]))["reason"] == "withdrawn"


async def test_a_prompt_that_interrupts_leaves_what_is_held(house: House, session_id: str) -> None:
    _, (two,), _ = await stopped(house, session_id, "two")
    active, exchange = await house.held(session_id, "three")
    last = await house.prompt(session_id, "four", when_busy="interrupt")
    await exchange.closed()
    assert (await house.ended(active["id"]))["reason"] == "replaced"
    exchange = await house.request()
    await exchange.say("4")
    assert (await house.ended(last["id"]))["status"] == "completed"
    assert (await house.run(two["id"]))["held"] is True


async def test_what_is_held_keeps_nobody_from_undoing_retrying_and_forking(
    house: House, session_id: str
) -> None:
    _, (two,), _ = await stopped(house, session_id, "two")
    assert (await house.api.post(f"/api/sessions/{session_id}/fork", {})).status == 201
    retried = await house.api.post(f"/api/sessions/{session_id}/retry", {})
    assert retried.status == 202
    exchange = await house.request()
    await exchange.say("One.")
    await house.ended(retried.body["id"])
    assert (await house.api.post(f"/api/sessions/{session_id}/undo")).status == 200
    assert (await house.run(two["id"]))["held"] is True


async def test_a_wrong_word_for_the_queue_stops_nothing(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "one")
    path = f"/api/sessions/{session_id}/cancel"
    refused(await house.api.post(path, {"queue": "keep"}), 422, "invalid_input")
    refused(await house.api.post(path, {"que": "hold"}), 422, "invalid_input")
    await exchange.say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"


@pytest.mark.one_node("it kills the server")
async def test_what_is_held_stays_held_through_a_kill(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as house:
        session_id = await house.session()
        _, (two, three), _ = await stopped(house, session_id, "two", "three")
        for _ in range(2):
            await house.server.kill()
            await house.server.start()
        later = await house.answered(session_id, "four", "4")
        assert later["status"] == "completed"
        assert [(await house.run(r["id"]))["held"] for r in (two, three)] == [True, True]
        await house.api.post(f"/api/sessions/{session_id}/release")
        for word in ("two", "three"):
            exchange = await house.request()
            assert exchange.prompt == word
            await exchange.say(word)
        assert (await house.ended(three["id"]))["status"] == "completed"
