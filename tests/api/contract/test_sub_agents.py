"""Sub-agents: a call does its work in a session of its own, seen, answered and stopped from above."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.api.contract.house import House, Json, refused
from tests.support.log import assert_settled
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio


async def delegate(exchange: Exchange, *tasks: Json) -> None:
    for index, task in enumerate(tasks):
        await exchange.tool_call(index, f"call_{index}", "task")
        await exchange.tool_input(index, json.dumps(task))
    await exchange.usage(70, 7)
    await exchange.finish("tool_calls")


async def call(exchange: Exchange, tool: str, arguments: Json) -> None:
    await exchange.tool_call(0, "call_1", tool)
    await exchange.tool_input(0, json.dumps(arguments))
    await exchange.finish("tool_calls")


async def at_work(
    house: House, session_id: str, *tasks: Json, **fields: Any
) -> tuple[Json, list[Exchange]]:
    """A run whose sub-agents have all asked their model, in the order of their tasks."""
    run, exchange = await house.held(session_id, "Do it", **fields)
    await delegate(exchange, *tasks)
    requests = [await house.request() for _ in tasks]
    prompts = [task["prompt"] for task in tasks]
    return run, sorted(requests, key=lambda one: prompts.index(one.prompt))


async def children(house: House, session_id: str) -> list[Json]:
    """Oldest first."""
    found: list[Json] = (await house.api.get(f"/api/sessions?parent={session_id}"))["sessions"]
    return sorted(found, key=lambda one: str(one["created_at"]) + str(one["id"]))


async def calls(house: House, session_id: str) -> list[Json]:
    messages: Sequence[Json] = await house.messages(session_id)
    parts = [part for message in messages for part in message["parts"]]
    return [part for part in parts if part["type"] == "tool"]


async def idle(house: House, session_id: str) -> None:
    """Once its last run has ended."""
    (last, *_) = (await house.api.get(f"/api/sessions/{session_id}/runs"))["runs"]
    await house.ended(last["id"])


def tools_of(exchange: Exchange) -> set[str]:
    return {tool["function"]["name"] for tool in exchange.body.get("tools", ())}


async def test_a_sub_agent_works_in_a_session_of_its_own(house: House, session_id: str) -> None:
    task = {"prompt": "Count the files", "title": "Counting"}
    run, (child,) = await at_work(house, session_id, task)
    assert child.prompt == "Count the files"
    assert "sub-agent" in str(child.messages[0]["content"])
    (session,) = await children(house, session_id)
    assert (session["title"], session["state"]) == ("Counting", "running")
    assert session["parent"] == {
        "session_id": session_id,
        "run_id": run["id"],
        "call_id": "call_0",
    }
    (part,) = await calls(house, session_id)
    assert (part["state"], part["details"]["session_id"]) == ("running", session["id"])
    below = await house.run(session["active_run"])
    assert (below["parent_run"], below["tools"]) == (run["id"], "look")
    await child.text("Three.")
    await child.usage(100, 3)
    await child.finish()
    exchange = await house.request()
    told = exchange.messages[-1]["content"]
    assert told.startswith("Three.") and session["id"] in told
    await exchange.text("There are three.")
    await exchange.usage(90, 5)
    await exchange.finish()
    ended = await house.ended(run["id"])
    assert ended["status"] == "completed"
    assert (ended["usage"]["input_tokens"], ended["usage"]["children"]["input_tokens"]) == (
        160,
        100,
    )
    (part,) = await calls(house, session_id)
    assert (part["state"], part["details"]["session_id"]) == ("done", session["id"])
    for one in (session_id, session["id"]):
        await assert_settled(house.api, one)


async def used(house: House) -> Counter[str]:
    """Input tokens, by what they were for."""
    days = (await house.api.get("/api/usage"))["days"]
    return Counter({day["kind"]: day["input_tokens"] for day in days})


async def test_its_cost_is_counted_once(house: House, session_id: str) -> None:
    before = await used(house)
    _, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    await child.usage(100, 3)
    await child.text("Seen.")
    await child.finish()
    last = await house.request()
    await last.text("Done.")
    await last.usage(1, 1)
    await last.finish()
    await idle(house, session_id)
    now = await used(house)
    assert (now["run"] - before["run"], now["sub_agent"] - before["sub_agent"]) == (71, 100)


async def test_it_is_in_no_list_unless_it_is_asked_for(house: House, session_id: str) -> None:
    _, (child,) = await at_work(house, session_id, {"prompt": "Look for walnuts"})
    (session,) = await children(house, session_id)
    for query in ("", "?q=walnuts", "?workspace=default"):
        found = (await house.api.get(f"/api/sessions{query}"))["sessions"]
        assert session["id"] not in {one["id"] for one in found}
    found = (await house.api.get("/api/sessions?children=true"))["sessions"]
    assert {session_id, session["id"]} <= {one["id"] for one in found}
    assert (await house.api.get(f"/api/sessions?parent={session['id']}"))["sessions"] == []
    async with house.api.sse("/api/workspaces/default/events", after="now") as stream:
        frame = await stream.next()
        assert session["id"] not in {one["id"] for one in frame.data["sessions"]}
    await child.say("None.")
    await (await house.request()).say("Done.")


async def test_one_that_looks_has_nothing_that_changes_and_none_has_sub_agents(
    house: House, session_id: str
) -> None:
    tasks = ({"prompt": "Look"}, {"prompt": "Write", "tools": "all"})
    _, (look, every) = await at_work(house, session_id, *tasks)
    assert {"read_file", "search_files", "ask_user"} <= tools_of(look)
    assert not {"write_file", "edit_file", "shell", "fetch_url", "task"} & tools_of(look)
    assert {"write_file", "shell"} <= tools_of(every)
    assert "task" not in tools_of(every)
    await call(look, "write_file", {"path": "a", "content": "b"})
    again = await house.request()
    assert "There is no tool 'write_file'" in str(again.messages[-1]["content"])
    await again.say("Then not.")
    await every.say("Nothing.")
    await (await house.request()).say("Done.")
    await idle(house, session_id)
    # Also one that is prompted by itself has none of its own.
    session = (await children(house, session_id))[0]
    _, direct = await house.held(session["id"], "And now you")
    assert "task" not in tools_of(direct) and "write_file" in tools_of(direct)
    await direct.say("Yes.")


async def test_four_work_side_by_side_and_the_fifth_waits(house: House, session_id: str) -> None:
    tasks = [{"prompt": f"Task {n}"} for n in range(5)]
    run, exchange = await house.held(session_id, "Do it")
    await delegate(exchange, *tasks)
    first = [await house.request() for _ in range(4)]
    assert len(await children(house, session_id)) == 4
    await first[0].say("One.")
    fifth = await house.request()
    assert fifth.prompt not in {one.prompt for one in first}
    for one in (*first[1:], fifth):
        await one.say("Another.")
    last = await house.request()
    assert len([m for m in last.messages if m["role"] == "tool"]) == 5
    await last.say("All done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    await assert_settled(house.api, session_id)


@pytest.mark.guarantee("E7")
@pytest.mark.parametrize("by", ["session", "run", "hold"])
async def test_one_stop_ends_all_of_them_before_it_answers(
    house: House, session_id: str, by: str
) -> None:
    tasks = [{"prompt": f"Task {n}"} for n in range(3)]
    run, requests = await at_work(house, session_id, *tasks)
    await requests[0].text("So far")
    if by == "run":
        answer = await house.api.post(f"/api/runs/{run['id']}/cancel")
        assert answer.body["status"] == "cancelled"
    else:
        body = {"queue": "hold"} if by == "hold" else None
        answer = await house.api.post(f"/api/sessions/{session_id}/cancel", body)
        assert (answer.body["cancelled"], answer.body["settled"]) == ([run["id"]], True)
    for session in await children(house, session_id):
        assert session["state"] == "idle"
        (below,) = (await house.api.get(f"/api/sessions/{session['id']}/runs"))["runs"]
        assert (below["status"], below["reason"]) == ("cancelled", "user")
        await assert_settled(house.api, session["id"])
    for one in requests:
        await one.closed()
    assert [part["state"] for part in await calls(house, session_id)] == ["cancelled"] * 3
    await assert_settled(house.api, session_id)


@pytest.mark.guarantee("E7")
async def test_a_prompt_in_its_place_ends_them_too(house: House, session_id: str) -> None:
    run, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    body = {"input": "Instead", "when_busy": "interrupt", "mode": "chat"}
    await house.api.post(f"/api/sessions/{session_id}/runs", body)
    await child.closed()
    await (await house.request()).say("Yes.")
    assert (await house.ended(run["id"]))["reason"] == "replaced"
    (session,) = await children(house, session_id)
    (below,) = (await house.api.get(f"/api/sessions/{session['id']}/runs"))["runs"]
    assert (below["status"], below["reason"]) == ("cancelled", "replaced")


async def test_one_that_is_stopped_alone_is_a_failed_call(house: House, session_id: str) -> None:
    tasks = ({"prompt": "First"}, {"prompt": "Second"})
    run, (first, second) = await at_work(house, session_id, *tasks)
    await first.text("Half of it")
    (session,) = [s for s in await children(house, session_id) if s["title"] == "First"]
    answer = await house.api.post(f"/api/sessions/{session['id']}/cancel")
    assert answer.body["settled"] is True
    await first.closed()
    assert (await house.run(run["id"]))["status"] == "running"
    await second.say("Whole.")
    last = await house.request()
    told = [str(m["content"]) for m in last.messages if m["role"] == "tool"]
    assert "stopped this sub-agent" in told[0] and "Half of it" in told[0]
    assert told[1].startswith("Whole.")
    await last.say("One of two.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert [part["state"] for part in await calls(house, session_id)] == ["failed", "done"]
    await assert_settled(house.api, session_id)


async def test_one_that_fails_is_a_failed_call(house: House, session_id: str) -> None:
    run, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    await child.fail(400, "no such thing")
    last = await house.request()
    assert "The sub-agent failed." in str(last.messages[-1]["content"])
    await last.say("A pity.")
    assert (await house.ended(run["id"]))["status"] == "completed"


async def test_an_earlier_one_goes_on_in_its_session(house: House, session_id: str) -> None:
    _, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    await child.say("Seen.")
    exchange = await house.request()
    (session,) = await children(house, session_id)
    await delegate(exchange, {"prompt": "And further?", "session": session["id"]})
    again = await house.request()
    assert [m["role"] for m in again.messages[1:]] == ["user", "assistant", "user"]
    await again.say("Nothing more.")
    last = await house.request()
    assert "Nothing more." in str(last.messages[-1]["content"])
    await last.say("Done.")
    await idle(house, session_id)
    assert len(await children(house, session_id)) == 1


async def test_only_its_own_can_be_continued(house: House) -> None:
    one, two = await house.session(), await house.session()
    _, (child,) = await at_work(house, one, {"prompt": "Look"})
    (session,) = await children(house, one)
    run, exchange = await house.held(two, "Do it")
    await delegate(exchange, *[{"prompt": "On", "session": s} for s in (session["id"], one, "x")])
    last = await house.request()
    told = [str(m["content"]) for m in last.messages if m["role"] == "tool"]
    assert len(told) == 3 and all("There is no sub-agent" in text for text in told)
    await last.say("Then not.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    await child.say("Seen.")
    await (await house.request()).say("Done.")


async def asked_below(house: House, session_id: str, tool: str, arguments: Json) -> Json:
    """A sub-agent that asks; what a viewer of the session above sees of it."""
    event, name = (
        ("question.asked", "question") if tool == "ask_user" else ("approval.requested", "approval")
    )
    async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
        _, (child,) = await at_work(house, session_id, {"prompt": "Do", "tools": "all"})
        await call(child, tool, arguments)
        request: Json = (await stream.until(event)).data[name]
    return request


ASK: Json = {"questions": [{"question": "Which colour?"}]}


async def test_what_it_asks_is_seen_and_answered_from_above(house: House, session_id: str) -> None:
    question = await asked_below(house, session_id, "ask_user", ASK)
    (session,) = await children(house, session_id)
    assert question["session_id"] == session["id"]
    assert question["root_session_id"] == session_id
    for one in (session_id, session["id"]):
        assert (await house.api.get(f"/api/sessions/{one}"))["state"] == "waiting"
        found = await house.api.get(f"/api/sessions/{one}/questions")
        assert found == {"questions": [question]}
    async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
        assert (await stream.next()).data["questions"] == [question]
        body = {"answers": [["Blue"]]}
        given = await house.api.post(f"/api/questions/{question['id']}", body)
        assert given.status == 200
        assert (await stream.until("question.answered")).data["question"] == given.body
    refused(await house.api.post(f"/api/questions/{question['id']}", body), 409, "already_answered")
    child = await house.request()
    assert child.messages[-1]["content"] == "The user answered: Blue"
    await child.say("Blue.")
    await (await house.request()).say("Done.")
    await idle(house, session_id)
    for one in (session_id, session["id"]):
        await assert_settled(house.api, one)


async def test_leave_that_it_asks_for_is_given_from_above(house: House, session_id: str) -> None:
    shell = {"command": "echo hello"}
    approval = await asked_below(house, session_id, "shell", shell)
    assert approval["root_session_id"] == session_id
    (session,) = await children(house, session_id)
    path = f"/api/approvals/{approval['id']}"
    assert (await house.api.post(path, {"decision": "allow_session"})).status == 200
    child = await house.request()
    assert "hello" in str(child.messages[-1]["content"])
    # What is granted below is not granted above.
    assert (await house.api.get(f"/api/sessions/{session_id}"))["grants"] == []
    assert (await house.api.get(f"/api/sessions/{session['id']}"))["grants"] == ["shell"]
    await child.say("Done.")
    await (await house.request()).say("Done.")


async def test_what_is_granted_above_is_granted_below(house: House, session_id: str) -> None:
    _, exchange = await house.held(session_id, "Do it")
    await call(exchange, "shell", {"command": "echo above"})
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        approval = (await stream.until("approval.requested")).data["approval"]
    await house.api.post(f"/api/approvals/{approval['id']}", {"decision": "allow_session"})
    await delegate(await house.request(), {"prompt": "Below", "tools": "all"})
    await call(await house.request(), "shell", {"command": "echo below"})
    child = await house.request()
    assert "below" in str(child.messages[-1]["content"])
    await child.say("Done.")
    await (await house.request()).say("Done.")


async def test_a_stop_takes_back_what_is_asked_below(house: House, session_id: str) -> None:
    question = await asked_below(house, session_id, "ask_user", ASK)
    answer = await house.api.post(f"/api/sessions/{session_id}/cancel")
    assert answer.body["settled"] is True
    (kept,) = (await house.api.get(f"/api/sessions/{session_id}/questions"))["questions"]
    assert (kept["id"], kept["state"]) == (question["id"], "cancelled")
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["waiting_questions"]) == ("idle", 0)


async def test_deleting_a_session_deletes_its_sub_agents(house: House, session_id: str) -> None:
    _, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    (session,) = await children(house, session_id)
    assert (await house.api.call("DELETE", f"/api/sessions/{session_id}")).status == 204
    await child.closed()
    refused(await house.api.call("GET", f"/api/sessions/{session['id']}"), 404, "not_found")
    found = (await house.api.get("/api/sessions?children=true"))["sessions"]
    assert not {session_id, session["id"]} & {one["id"] for one in found}


async def test_a_fork_of_one_is_a_session_of_its_own(house: House, session_id: str) -> None:
    _, (child,) = await at_work(house, session_id, {"prompt": "Look"})
    await child.say("Seen.")
    await (await house.request()).say("Done.")
    await idle(house, session_id)
    (session,) = await children(house, session_id)
    fork = (await house.api.post(f"/api/sessions/{session['id']}/fork", {})).body
    assert "parent" not in fork
    found = (await house.api.get("/api/sessions"))["sessions"]
    assert fork["id"] in {one["id"] for one in found}
