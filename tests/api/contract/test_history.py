"""Changes to what was said: undo, retry, edit, fork, continue, compact."""

from typing import Any

import anyio
import pytest

from tests.api.contract.house import House, refused
from tests.support.log import assert_settled, read_log

pytestmark = pytest.mark.anyio

BUSY_CALLS = ["undo", "retry", "edit", "fork", "compact"]


async def test_undo_removes_the_last_prompt_and_all_after_it(house: House, session_id: str) -> None:
    await house.answered(session_id, "one", "1")
    await house.answered(session_id, "two", "2")
    gone = [message["id"] for message in (await house.messages(session_id))[2:]]
    answer = await house.api.post(f"/api/sessions/{session_id}/undo")
    head = (await house.api.get(f"/api/sessions/{session_id}"))["head"]
    assert (answer.status, answer.body) == (200, {"removed": gone, "head": head})
    assert await house.texts(session_id) == ["one", "1"]
    assert (await house.api.post(f"/api/sessions/{session_id}/undo")).status == 200
    nothing = await house.api.post(f"/api/sessions/{session_id}/undo")
    refused(nothing, 409, "nothing_to_undo")
    log = await assert_settled(house.api, session_id)
    assert [e["type"] for e in log].count("session.rewound") == 2


@pytest.mark.failure(42)
async def test_what_was_undone_is_not_told_to_the_model(house: House, session_id: str) -> None:
    await house.answered(session_id, "forget this", "Fine.")
    await house.api.post(f"/api/sessions/{session_id}/undo")
    _, exchange = await house.held(session_id, "hello")
    assert "forget this" not in str(exchange.messages)


async def test_retry_asks_the_same_again_in_its_place(house: House, session_id: str) -> None:
    await house.answered(session_id, "one", "1")
    old = await house.answered(session_id, "two", "wrong", mode="chat")
    answer = await house.api.post(f"/api/sessions/{session_id}/retry")
    assert (answer.status, answer.body["input"], answer.body["mode"]) == (202, "two", "chat")
    assert answer.headers["Location"] == f"/api/runs/{answer.body['id']}"
    exchange = await house.request()
    assert "wrong" not in str(exchange.messages)
    await exchange.say("right")
    new = await house.ended(answer.body["id"])
    assert await house.texts(session_id) == ["one", "1", "two", "right"]
    assert new["id"] != old["id"]
    assert await house.run(old["id"]) == old
    await assert_settled(house.api, session_id)


async def test_retry_may_ask_another_model(house: House, session_id: str) -> None:
    await house.answered(session_id, "one", "1")
    path = f"/api/sessions/{session_id}/retry"
    refused(await house.api.post(path, {"model": "openai/nope"}), 422, "model_not_found")
    assert await house.texts(session_id) == ["one", "1"]
    answer = await house.api.post(path, {"model": "openai/test-model"})
    assert answer.status == 202


async def test_retry_of_nothing_is_refused(house: House, session_id: str) -> None:
    answer = await house.api.post(f"/api/sessions/{session_id}/retry")
    refused(answer, 409, "nothing_to_undo")


async def test_edit_asks_something_else_and_drops_what_came_after(
    house: House, session_id: str
) -> None:
    for number in ("1", "2", "3"):
        await house.answered(session_id, f"ask {number}", f"answer {number}")
    messages = await house.messages(session_id)
    path = f"/api/sessions/{session_id}/edit"
    answer = await house.api.post(path, {"message_id": messages[2]["id"], "input": "better"})
    assert answer.status == 202
    await (await house.request()).say("Better.")
    await house.ended(answer.body["id"])
    assert await house.texts(session_id) == ["ask 1", "answer 1", "better", "Better."]
    for message_id in ("msg_nope", messages[1]["id"], messages[4]["id"]):
        body = {"message_id": message_id, "input": "x"}
        refused(await house.api.post(path, body), 404, "not_found")
    body = {"message_id": messages[0]["id"], "input": " "}
    refused(await house.api.post(path, body), 422, "invalid_input")
    await assert_settled(house.api, session_id)


async def test_a_fork_begins_with_the_same_words_and_goes_its_own_way(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "one", "1")
    await house.answered(session_id, "two", "2")
    messages = await house.messages(session_id)
    whole = await house.api.post(f"/api/sessions/{session_id}/fork")
    part = await house.api.post(
        f"/api/sessions/{session_id}/fork", {"message_id": messages[1]["id"]}
    )
    assert (whole.status, part.status) == (201, 201)
    assert part.headers["Location"] == f"/api/sessions/{part.body['id']}"
    assert await house.texts(whole.body["id"]) == ["one", "1", "two", "2"]
    assert await house.texts(part.body["id"]) == ["one", "1"]
    _, exchange = await house.held(part.body["id"], "three")
    assert [m["content"] for m in exchange.messages[1:]] == ["one", "1", "three"]
    await exchange.say("3")
    await house.ended(
        (await house.api.get(f"/api/sessions/{part.body['id']}/runs"))["runs"][0]["id"]
    )
    assert await house.texts(session_id) == ["one", "1", "two", "2"]
    ids = {m["id"] for m in await house.messages(part.body["id"])}
    assert not ids & {m["id"] for m in messages}
    await assert_settled(house.api, part.body["id"])
    refused(
        await house.api.post(f"/api/sessions/{session_id}/fork", {"message_id": "msg_nope"}),
        404,
        "not_found",
    )


@pytest.mark.parametrize("call", BUSY_CALLS)
@pytest.mark.parametrize("waiting", [0, 1])
async def test_none_of_it_happens_while_a_run_is_active(
    house: House, session_id: str, call: str, waiting: int
) -> None:
    await house.answered(session_id, "one", "1")
    user = (await house.messages(session_id))[0]["id"]
    _, exchange = await house.held(session_id, "two")
    for _ in range(waiting):
        await house.prompt(session_id, "three")
    head = (await house.api.get(f"/api/sessions/{session_id}"))["head"]
    body = {"message_id": user, "input": "x"} if call == "edit" else None
    refused(await house.api.post(f"/api/sessions/{session_id}/{call}", body), 409, "session_busy")
    assert (await house.api.get(f"/api/sessions/{session_id}"))["head"] == head
    assert exchange.ended == "open"


async def test_continue_goes_on_from_the_kept_partial(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "count")
    await exchange.text("one, two")
    async with house.api.sse(f"/api/runs/{run['id']}/events") as stream:
        await stream.until("part.delta")
    await house.api.post(f"/api/sessions/{session_id}/cancel")
    answer = await house.api.post(f"/api/runs/{run['id']}/continue")
    assert (answer.status, answer.body["continues"]) == (202, run["id"])
    exchange = await house.request()
    told = [(m["role"], m["content"]) for m in exchange.messages[1:]]
    assert told[0] == ("user", "count")
    assert told[1][0] == "assistant" and told[1][1].startswith("one, two")
    assert told[2][0] == "user" and len(told) == 3
    await exchange.say(", three")
    await house.ended(answer.body["id"])
    messages = await house.messages(session_id)
    assert [(m["role"], m["run_id"]) for m in messages] == [
        ("user", run["id"]),
        ("assistant", run["id"]),
        ("assistant", answer.body["id"]),
    ]
    assert await house.texts(session_id) == ["count", "one, two", ", three"]
    await assert_settled(house.api, session_id)


async def test_only_the_last_run_can_be_continued(house: House, session_id: str) -> None:
    first = await house.answered(session_id, "one", "1")
    last = await house.answered(session_id, "two", "2")
    refused(await house.api.post(f"/api/runs/{first['id']}/continue"), 409, "not_last")
    assert (await house.api.post(f"/api/runs/{last['id']}/continue")).status == 202
    refused(await house.api.post(f"/api/runs/{last['id']}/continue"), 409, "session_busy")


@pytest.mark.failure(10)
async def test_compact_changes_what_the_model_is_told_and_not_what_is_shown(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "my name is Ada", "Hello, Ada.")
    before = await house.messages(session_id)
    answer = await _compacted(house, session_id, "They are Ada.")
    head = (await house.api.get(f"/api/sessions/{session_id}"))["head"]
    assert (answer["run"]["status"], answer["head"]) == ("completed", head)
    assert await house.messages(session_id) == before
    (event,) = [
        e for e in await read_log(house.api, session_id) if e["type"] == "session.compacted"
    ]
    assert (event["through_message_id"], event["summary"]) == (before[-1]["id"], "They are Ada.")
    _, exchange = await house.held(session_id, "who am I?")
    assert "They are Ada." in str(exchange.messages)
    assert "my name is Ada" not in str(exchange.messages)
    assert [m["role"] for m in exchange.messages] == ["system", "user"]


async def test_a_run_can_be_continued_right_after_a_compaction(
    house: House, session_id: str
) -> None:
    """Nothing but the summary is left to tell: the request must still ask something."""
    last = await house.answered(session_id, "one", "1")
    await _compacted(house, session_id, "They counted.")
    run = await house.api.post(f"/api/runs/{last['id']}/continue")
    assert run.status == 202
    exchange = await house.request()
    assert exchange.messages[-1]["role"] == "user"
    await exchange.say("2")
    assert (await house.ended(run.body["id"]))["status"] == "completed"


async def test_a_compaction_that_fails_leaves_everything_as_it_was(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "my name is Ada", "Hello, Ada.")
    before = await house.messages(session_id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_refuse_next, house)
        answer = await house.api.post(f"/api/sessions/{session_id}/compact")
    assert (answer.status, answer.body["run"]["status"]) == (200, "failed")
    assert await house.messages(session_id) == before
    _, exchange = await house.held(session_id, "who am I?")
    assert "my name is Ada" in str(exchange.messages)


async def _refuse_next(house: House) -> None:
    await (await house.request()).fail(400, "too long")


async def _compacted(house: House, session_id: str, summary: str) -> dict[str, Any]:
    async def answer_next() -> None:
        await (await house.request()).say(summary)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_next)
        answer = await house.api.post(f"/api/sessions/{session_id}/compact")
    assert answer.status == 200, answer
    body: dict[str, Any] = answer.body
    return body
