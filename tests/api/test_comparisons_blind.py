"""A blind comparison gives no model away: line 50 of the failure ledger."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.api.blind import MODELS, NAMES, BlindHouse, everything, open_blind_house, told
from tests.api.contract.house import refused
from tests.oracle.fold import fold
from tests.support.log import assert_settled, read_log
from tests.support.talk import call_tool

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[BlindHouse]:
    async with open_blind_house(tmp_path) as house:
        yield house


async def nothing_told(house: BlindHouse, comparison: Json) -> None:
    assert told(await everything(house, comparison)) == []
    assert told("\n".join(house.api.heard)) == []


def sessions_of(comparison: Json) -> list[str]:
    return [pane["session_id"] for pane in comparison["panes"]]


@pytest.mark.failure(50)
async def test_nothing_that_is_shown_while_a_blind_answer_streams_names_its_model(
    house: BlindHouse,
) -> None:
    comparison = await house.compare()
    assert [pane["model"] for pane in comparison["panes"]] == [None, None]
    await nothing_told(house, comparison)
    streaming, failing = await house.asked(comparison)
    await streaming.text("So far")
    await failing.fail(400, f"{failing.body['model']} of the burrow and hangar is out of order")
    first, second = sessions_of(comparison)
    failed = await house.ended((await house.runs_of(second))[0]["id"])
    assert (failed["status"], failed["error"]["code"]) == ("failed", "provider_error")
    await nothing_told(house, comparison)
    await streaming.usage(100, 50)
    await streaming.finish()
    done = await house.ended((await house.runs_of(first))[0]["id"])
    assert done["usage"]["output_tokens"] == 50
    await nothing_told(house, comparison)


@pytest.mark.failure(50)
async def test_that_a_blind_answer_waits_for_its_provider_does_not_name_it(
    house: BlindHouse,
) -> None:
    comparison = await house.compare()
    waiting, _ = await house.asked(comparison)
    session_id = sessions_of(comparison)[0]
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        words = f"{waiting.body['model']} has too much to do"
        await waiting.fail(429, words, headers={"Retry-After": "60"})
        update = await stream.until("run.updated")
    assert update.data["run"]["waiting"]["attempt"] == 2
    await nothing_told(house, comparison)


@pytest.mark.failure(50)
async def test_tools_approvals_and_cancels_of_a_blind_pane_do_not_name_its_model(
    house: BlindHouse,
) -> None:
    comparison = await house.compare(mode="agent")
    asking, silent = await house.asked(comparison)
    first, second = sessions_of(comparison)
    await call_tool(asking, "shell", call_id="call_by_zeppelin_and_quokka", command="true")
    async with house.api.sse(f"/api/sessions/{first}/events") as stream:
        asked = await stream.until("approval.requested")
    await nothing_told(house, comparison)
    await house.api.post(f"/api/approvals/{asked.data['approval']['id']}", {"decision": "deny"})
    again = await house.request()
    # The provider's own call is answered, under a number of ours.
    (call,) = again.messages[-2]["tool_calls"]
    assert again.messages[-1]["tool_call_id"] == call["id"]
    assert "zeppelin" not in call["id"] + asked.data["approval"]["call_id"]
    await again.say("Then not.")
    await silent.begin()
    await house.api.post(f"/api/sessions/{second}/cancel")
    await silent.closed()
    async with anyio.create_task_group() as group:
        group.start_soon(house.api.post, f"/api/sessions/{second}/compact")
        compacting = await house.request()
        await compacting.fail(400, f"{compacting.body['model']} cannot summarise")
    await house.ended((await house.runs_of(first))[0]["id"])
    await nothing_told(house, comparison)


@pytest.mark.failure(50)
async def test_a_crash_does_not_give_a_blind_model_away(house: BlindHouse) -> None:
    comparison = await house.compare()
    first, second = await house.asked(comparison)
    models = [first.body["model"], second.body["model"]]
    await first.text("Half of")
    async with house.api.sse(f"/api/sessions/{sessions_of(comparison)[0]}/events") as stream:
        await stream.until("part.delta")
    await house.server.kill()
    await house.server.start()
    for session_id in sessions_of(comparison):
        (run,) = await house.runs_of(session_id)
        await house.ended(run["id"])
    await nothing_told(house, comparison)
    # And it is the same model that goes on.
    for session_id, model in zip(sessions_of(comparison), models, strict=True):
        (run,) = await house.runs_of(session_id)
        answer = await house.api.post(f"/api/runs/{run['id']}/continue")
        assert (answer.status, answer.body["model"]) == (202, None)
        exchange = await house.request()
        assert exchange.body["model"] == model
        await exchange.say("the rest")
        await house.ended(answer.body["id"])
    await nothing_told(house, comparison)


async def test_a_blind_panes_model_can_be_neither_changed_nor_guessed(house: BlindHouse) -> None:
    comparison = await house.compare()
    session_id = sessions_of(comparison)[0]
    for exchange in await house.asked(comparison):
        await exchange.say("Hello.")
    (run,) = await house.runs_of(session_id)
    await house.ended(run["id"])
    message_id = (await house.messages(session_id))[0]["id"]
    path = f"/api/sessions/{session_id}"
    for model in MODELS:
        given = {"model": model}
        edit = {"message_id": message_id, "input": "other", **given}
        for answer in (
            await house.api.call("PATCH", path, given),
            await house.api.post(f"{path}/runs", {"input": "hi", **given}),
            await house.api.post(f"{path}/retry", given),
            await house.api.post(f"{path}/edit", edit),
        ):
            assert refused(answer, 422, "invalid_input").startswith("a pane of a comparison keeps")
    assert "vote first" in refused(await house.api.post(f"{path}/fork"), 409, "session_busy")
    keep = await house.api.post(f"/api/comparisons/{comparison['id']}/keep", {"index": 0})
    assert "vote first" in refused(keep, 409, "session_busy")
    # Without a model, all of them are asked of the pane's own.
    again = await house.api.post(f"{path}/retry")
    assert (again.status, again.body["model"]) == (202, None)
    await (await house.request()).say("Hello again.")
    await house.ended(again.body["id"])
    await nothing_told(house, comparison)


async def test_a_model_that_is_gone_is_not_named_to_whoever_prompts_its_pane(
    tmp_path: Path,
) -> None:
    async with open_blind_house(tmp_path) as house:
        comparison = await house.compare()
        (tmp_path / "tenuto.toml").unlink()
        house.server.env |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": house.model.url}
        await house.server.kill()
        await house.server.start()
        for session_id in sessions_of(comparison):
            answer = await house.api.post(f"/api/sessions/{session_id}/runs", {"input": "hi"})
            refused(answer, 422, "model_not_found")
        assert told("\n".join(house.api.heard)) == []


@pytest.mark.failure(21)
async def test_the_vote_shows_all_to_everyone_at_once_and_reload_equals_live(
    house: BlindHouse,
) -> None:
    comparison = await house.compare()
    first, second = sessions_of(comparison)
    done, failing = await house.asked(comparison)
    models = [
        f"hangar/{name}" if name == "zeppelin" else f"burrow/{name}"
        for name in (done.body["model"], failing.body["model"])
    ]
    reason = f"{failing.body['model']} is out of order"
    await done.say("Hello.")
    await failing.fail(400, reason)
    for session_id in (first, second):
        await house.ended((await house.runs_of(session_id))[0]["id"])
    _, under_way = await house.asked(comparison)
    await under_way.text("still ")
    async with house.api.sse(f"/api/sessions/{second}/events") as stream:
        await stream.until("part.delta")
        voted = await house.api.post(f"/api/comparisons/{comparison['id']}/vote", {"winner": 0})
        update = await stream.until("session.updated", run_id=None)
        while "model" not in update.data["changes"]:
            update = await stream.until("session.updated", run_id=None)
        seen = fold(frame.data for frame in stream.frames)
    assert [pane["model"] for pane in voted.body["panes"]] == models
    assert (voted.body["voted"], voted.body["winner"]) == (True, 0)
    # Live, at the very event; and by reading.
    assert {run["model"] for run in seen.runs.values()} == {models[1]}
    assert {run["id"]: run for run in await house.runs_of(second)} == seen.runs
    failed = (await house.runs_of(second))[0]
    assert reason in failed["error"]["message"]
    session = await house.api.get(f"/api/sessions/{first}")
    assert session["model"] == models[0]
    assert session["usage"]["cost_usd"] == (await house.runs_of(first))[0]["usage"]["cost_usd"] > 0
    # What still streamed ends in the open, and the whole log folds to what is read.
    await under_way.say("talking")
    await house.api.post(f"/api/sessions/{first}/cancel")
    ended = await house.ended((await house.runs_of(second))[-1]["id"])
    assert (ended["model"], ended["usage"]["cost_usd"] is None) == (models[1], False)
    for session_id in (first, second):
        await assert_settled(house.api, session_id)


async def test_what_was_answered_before_the_vote_is_answered_the_same_after_it(
    house: BlindHouse,
) -> None:
    body, key = {"models": MODELS}, {"Idempotency-Key": "one"}
    made = await house.api.call("POST", "/api/comparisons", body, headers=key)
    session_id = sessions_of(made.body)[0]
    run = await house.api.call(
        "POST", f"/api/sessions/{session_id}/runs", {"input": "hi"}, headers=key
    )
    await (await house.request()).say("Hello.")
    await house.ended(run.body["id"])
    await house.api.post(f"/api/comparisons/{made.body['id']}/vote", {"winner": "none"})
    again = await house.api.call("POST", "/api/comparisons", body, headers=key)
    assert (again.status, again.body["id"]) == (201, made.body["id"])
    assert [pane["model"] for pane in again.body["panes"]] == [None, None]
    rerun = await house.api.call(
        "POST", f"/api/sessions/{session_id}/runs", {"input": "hi"}, headers=key
    )
    assert rerun.body == run.body


async def test_twenty_votes_at_once_and_a_crash_leave_one_that_shows_every_pane(
    house: BlindHouse,
) -> None:
    comparison = await house.compare()
    path = f"/api/comparisons/{comparison['id']}"
    for exchange in await house.asked(comparison):
        await exchange.text("So far")
    won: list[Any] = []
    lost: list[Any] = []

    async def cast(n: int) -> None:
        winner: Any = ("tie", "none", 0, 1)[n % 4]
        answer = await house.api.post(f"{path}/vote", {"winner": winner})
        if answer.status == 200:
            won.append(winner)
        else:
            lost.append(refused(answer, 409, "already_answered"))

    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(cast, n)
    assert (len(won), len(lost)) == (1, 19)
    await house.server.kill()
    await house.server.start()
    found = await house.api.get(path)
    assert (found["voted"], found["winner"]) == (True, won[0])
    assert sorted(pane["model"] for pane in found["panes"]) == sorted(MODELS)
    for pane in found["panes"]:
        session = await house.api.get(f"/api/sessions/{pane['session_id']}")
        assert session["model"] == pane["model"]
        await house.ended((await house.runs_of(pane["session_id"]))[0]["id"])
        log = await assert_settled(house.api, pane["session_id"])
        assert [e["type"] for e in log].count("session.updated") == 2, "a title and the vote"


async def test_the_panes_of_blind_comparisons_are_shuffled(house: BlindHouse) -> None:
    orders = set()
    for _ in range(40):
        comparison = await house.compare()
        await house.api.post(f"/api/comparisons/{comparison['id']}/vote", {"winner": "none"})
        found = await house.api.get(f"/api/comparisons/{comparison['id']}")
        orders.add(tuple(pane["model"] for pane in found["panes"]))
    # Once in a million million runs all are alike.
    assert orders == {tuple(MODELS), tuple(reversed(MODELS))}


async def test_the_walk_would_find_a_leak(house: BlindHouse) -> None:
    """The same walk over an open comparison finds both names, so it looks where they would be."""
    comparison = await house.compare(blind=False)
    for exchange in await house.asked(comparison):
        await exchange.say("Hello.")
    for session_id in sessions_of(comparison):
        await house.ended((await house.runs_of(session_id))[0]["id"])
        log = await read_log(house.api, session_id)
        assert log[0]["run"]["model"] in MODELS
    seen = await everything(house, comparison)
    for name in NAMES:
        assert re.search(name, seen)
    for kind in (r"GET /api/sessions/\w+/events\?", r"GET /api/runs/\w+/events", "GET /api/events"):
        assert re.search(kind, seen)
    assert len(told(seen)) > 20
