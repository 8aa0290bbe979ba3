"""A busy session: waiting, steering, replacing, and changing what waits."""

import pytest

from tests.api.contract.house import House, Json, refused
from tests.support.log import assert_settled, read_log
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio


async def look(exchange: Exchange) -> None:
    """Answer with a tool call that only looks, so that the run has a next step."""
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.finish("tool_calls")


async def finish(house: House, answer: str = "Done.") -> Json:
    """Answer the next request; which prompt it was for, and the run's end."""
    exchange = await house.request()
    await exchange.say(answer)
    return {"prompt": exchange.prompt}


async def test_prompts_wait_for_their_turn(house: House, session_id: str) -> None:
    runs = [await house.prompt(session_id, word) for word in ("one", "two", "three")]
    assert [run["accept_number"] for run in runs] == [1, 2, 3]
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert session["queued"] in (2, 3)
    for word in ("one", "two", "three"):
        assert (await finish(house, f"to {word}"))["prompt"] == word
    for run in runs:
        assert (await house.ended(run["id"]))["status"] == "completed"
    assert await house.texts(session_id) == ["one", "to one", "two", "to two", "three", "to three"]
    await assert_settled(house.api, session_id)


async def test_a_prompt_that_will_not_wait_is_refused(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "one")
    body = {"input": "two", "when_busy": "reject"}
    path = f"/api/sessions/{session_id}/runs"
    refused(await house.api.post(path, body), 409, "session_busy")
    await exchange.say("Done.")
    await house.ended(run["id"])
    assert (await house.api.post(path, body)).status == 202
    assert len((await house.api.get(path))["runs"]) == 2


async def test_an_interrupting_prompt_takes_the_place_of_all_before_it(
    house: House, session_id: str
) -> None:
    active, exchange = await house.held(session_id, "one")
    await exchange.text("Hal")
    waiting = await house.prompt(session_id, "two")
    last = await house.prompt(session_id, "three", when_busy="interrupt")
    await exchange.closed()
    for run in (active, waiting):
        ended = await house.ended(run["id"])
        assert (ended["status"], ended["reason"]) == ("cancelled", "replaced")
    assert (await finish(house))["prompt"] == "three"
    assert (await house.ended(last["id"]))["status"] == "completed"
    await assert_settled(house.api, session_id)


async def test_a_steer_is_given_at_the_next_step(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "look around")
    await exchange.text("Looking.")
    steer = await house.prompt(session_id, "only here", when_busy="steer")
    await look(exchange)
    second = await house.request()
    assert second.messages[-1]["content"] == "only here"
    assert [m["role"] for m in second.messages][-3:] == ["assistant", "tool", "user"]
    await second.say("Here, then.")
    ended = await house.ended(run["id"])
    assert (ended["status"], ended["steered_into"]) == ("completed", None)
    taken = await house.run(steer["id"])
    assert (taken["status"], taken["reason"], taken["steered_into"]) == (
        "completed",
        "end_turn",
        run["id"],
    )
    messages = await house.messages(session_id)
    assert [(m["role"], m["run_id"]) for m in messages] == [
        ("user", run["id"]),
        ("assistant", run["id"]),
        ("user", run["id"]),
        ("assistant", run["id"]),
    ]
    await assert_settled(house.api, session_id)


async def test_a_steer_that_comes_too_late_becomes_a_run_of_its_own(
    house: House, session_id: str
) -> None:
    run, exchange = await house.held(session_id, "one")
    steer = await house.prompt(session_id, "two", when_busy="steer")
    await exchange.say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await finish(house))["prompt"] == "two"
    ended = await house.ended(steer["id"])
    assert (ended["status"], ended["steered_into"]) == ("completed", None)


async def test_what_waits_can_be_moved_and_changed(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "first")
    a, b, c = [await house.prompt(session_id, word) for word in "abc"]
    moved = await house.api.call("PATCH", f"/api/runs/{c['id']}", {"position": 0})
    assert (moved.status, moved.body["status"]) == (200, "queued")
    changed = await house.api.call("PATCH", f"/api/runs/{a['id']}", {"input": "A", "position": 9})
    assert changed.body["input"] == "A"
    far = await house.api.call("PATCH", f"/api/runs/{a['id']}", {"position": 10**30})
    assert far.status in (200, 422)
    await exchange.say("Done.")
    order = [(await finish(house))["prompt"] for _ in range(3)]
    assert order == ["c", "b", "A"]
    await house.ended(a["id"])
    assert (await house.run(b["id"]))["status"] == "completed"
    assert run["id"] in {r["id"] for r in (await _runs(house, session_id))}
    await assert_settled(house.api, session_id)


async def test_what_waits_can_become_a_steer(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "look")
    waiting = await house.prompt(session_id, "wait")
    changed = await house.api.call("PATCH", f"/api/runs/{waiting['id']}", {"when_busy": "steer"})
    assert changed.body["when_busy"] == "steer"
    await look(exchange)
    assert (await finish(house))["prompt"] == "wait"
    await house.ended(run["id"])
    assert (await house.run(waiting["id"]))["steered_into"] == run["id"]


async def test_every_change_to_the_queue_is_told_to_all_who_watch(
    house: House, session_id: str
) -> None:
    await house.held(session_id, "first")
    a, b = [await house.prompt(session_id, word) for word in "ab"]
    await house.api.call("PATCH", f"/api/runs/{b['id']}", {"position": 0})
    log = await read_log(house.api, session_id)
    assert log[-2]["type"] == "run.updated"
    assert log[-1]["changes"] == {"queue": [b["id"], a["id"]]}


async def test_a_prompt_that_is_taken_back_leaves_no_message(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "one")
    waiting = await house.prompt(session_id, "two")
    answer = await house.api.call("DELETE", f"/api/runs/{waiting['id']}")
    assert (answer.status, answer.body) == (204, None)
    ended = await house.run(waiting["id"])
    assert (ended["status"], ended["reason"], ended["input"]) == ("cancelled", "withdrawn", "two")
    await exchange.say("Done.")
    await house.ended(run["id"])
    assert await house.texts(session_id) == ["one", "Done."]
    await assert_settled(house.api, session_id)


async def test_what_has_started_or_ended_can_be_neither_changed_nor_taken_back(
    house: House, session_id: str
) -> None:
    run, exchange = await house.held(session_id, "one")
    path = f"/api/runs/{run['id']}"
    for _ in range(2):
        refused(await house.api.call("PATCH", path, {"input": "two"}), 409, "session_busy")
        refused(await house.api.call("DELETE", path), 409, "session_busy")
        if exchange.ended == "open":
            await exchange.say("Done.")
            await house.ended(run["id"])
    assert (await house.run(run["id"]))["input"] == "one"


async def test_a_change_that_makes_no_sense_changes_nothing(house: House, session_id: str) -> None:
    await house.held(session_id, "one")
    waiting = await house.prompt(session_id, "two")
    path = f"/api/runs/{waiting['id']}"
    for body in ({"position": -1}, {"input": ""}, {"when_busy": "queue"}, {"model": "x"}):
        refused(await house.api.call("PATCH", path, body), 422, "invalid_input")
    assert await house.run(waiting["id"]) == waiting


async def test_a_hundred_prompts_may_wait(house: House, session_id: str) -> None:
    await house.held(session_id, "first")
    for number in range(100):
        await house.prompt(session_id, f"prompt {number}")
    path = f"/api/sessions/{session_id}/runs"
    full = await house.api.post(path, {"input": "one too many"})
    refused(full, 429, "queue_full")
    assert int(full.headers["Retry-After"]) > 0
    assert (await house.api.get(f"/api/sessions/{session_id}"))["queued"] == 100
    cancelled = await house.api.post(f"/api/sessions/{session_id}/cancel")
    assert (len(cancelled.body["cancelled"]), cancelled.body["settled"]) == (101, True)
    await assert_settled_long(house, session_id)


async def assert_settled_long(house: House, session_id: str) -> None:
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["queued"]) == ("idle", 0)
    runs = await _runs(house, session_id)
    assert {(run["status"], run["reason"]) for run in runs} == {("cancelled", "user")}
    assert len(await house.messages(session_id)) == 202


async def test_runs_are_listed_newest_first_by_page_and_by_status(
    house: House, session_id: str
) -> None:
    done = await house.answered(session_id, "one", "Done.")
    active, _ = await house.held(session_id, "two")
    waiting = [await house.prompt(session_id, word) for word in ("three", "four")]
    expected = [waiting[1]["id"], waiting[0]["id"], active["id"], done["id"]]
    assert [run["id"] for run in await _runs(house, session_id)] == expected
    path = f"/api/sessions/{session_id}/runs"
    first = await house.api.get(f"{path}?limit=3")
    second = await house.api.get(f"{path}?limit=3&cursor={first['next']}")
    assert [run["id"] for run in first["runs"] + second["runs"]] == expected
    assert second["next"] is None
    for status, ids in [("completed", [done["id"]]), ("running", [active["id"]])]:
        found = (await house.api.get(f"{path}?status={status}"))["runs"]
        assert [run["id"] for run in found] == ids
    everywhere = (await house.api.get("/api/runs?status=queued"))["runs"]
    assert [run["id"] for run in everywhere] == expected[:2]


async def test_a_cancel_by_run_touches_that_run_only(house: House, session_id: str) -> None:
    active, exchange = await house.held(session_id, "one")
    second, third = [await house.prompt(session_id, word) for word in ("two", "three")]
    answer = await house.api.post(f"/api/runs/{second['id']}/cancel")
    assert (answer.status, answer.body["status"], answer.body["reason"]) == (
        200,
        "cancelled",
        "user",
    )
    assert exchange.ended == "open"
    await exchange.say("Done.")
    assert (await house.ended(active["id"]))["status"] == "completed"
    assert (await finish(house))["prompt"] == "three"
    ended = await house.ended(third["id"])
    again = await house.api.post(f"/api/runs/{third['id']}/cancel")
    assert (again.status, again.body) == (200, ended)


async def _runs(house: House, session_id: str) -> list[Json]:
    found: list[Json] = (await house.api.get(f"/api/sessions/{session_id}/runs?limit=200"))["runs"]
    return found
