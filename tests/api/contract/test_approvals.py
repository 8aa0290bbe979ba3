"""Approvals: a tool that changes something waits for a person's word."""

from pathlib import Path

import anyio
import pytest

from tests.api.contract.house import House, Json, open_house, refused
from tests.support.log import assert_settled
from tests.support.model_server import Exchange

pytestmark = pytest.mark.anyio


async def write(exchange: Exchange, name: str, call_id: str = "call_1") -> None:
    """Ask to write a file."""
    await exchange.tool_call(0, call_id, "write_file")
    await exchange.tool_input(0, f'{{"path": "{name}", "content": "hello"}}')
    await exchange.finish("tool_calls")


async def pending(house: House, session_id: str) -> Json:
    """The approval that someone must give."""
    async with house.api.sse(f"/api/sessions/{session_id}/events") as stream:
        answered: set[str] = set()
        while True:
            frame = await stream.next()
            if frame.event == "approval.resolved":
                answered.add(frame.data["approval"]["id"])
            if frame.event == "approval.requested":
                found = await house.api.get(f"/api/sessions/{session_id}/approvals")
                open_ones: list[Json] = [a for a in found["approvals"] if a["state"] == "pending"]
                if open_ones:
                    return open_ones[0]


async def asked(house: House, session_id: str, name: str) -> tuple[Json, Json]:
    """A run that waits, and what it waits for."""
    run, exchange = await house.held(session_id, f"write {name}")
    await write(exchange, name)
    return run, await pending(house, session_id)


async def decide(house: House, approval: Json, decision: str, note: str | None = None) -> Json:
    body = {"decision": decision, "note": note} if note else {"decision": decision}
    answer = await house.api.post(f"/api/approvals/{approval['id']}", body)
    assert answer.status == 200, answer
    given: Json = answer.body
    return given


async def folder(house: House) -> Path:
    return Path((await house.api.get("/api/workspaces/default"))["path"])


async def test_a_tool_that_changes_something_asks_first(house: House, session_id: str) -> None:
    run, approval = await asked(house, session_id, "asked.txt")
    assert (approval["run_id"], approval["tool"], approval["state"], approval["decided_by"]) == (
        run["id"],
        "write_file",
        "pending",
        None,
    )
    assert approval["input"] == {"path": "asked.txt", "content": "hello"}
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert (session["state"], session["active_run"]) == ("waiting", run["id"])
    part = (await house.messages(session_id))[-1]["parts"][-1]
    assert (part["state"], part["call_id"]) == ("waiting_approval", "call_1")
    assert not (await folder(house) / "asked.txt").exists()


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_what_is_allowed_once_is_done_once(house: House, session_id: str) -> None:
    run, approval = await asked(house, session_id, "once.txt")
    given = await decide(house, approval, "allow_once")
    assert (given["state"], given["decided_by"]) == ("allowed", "user")
    second = await house.request()
    assert (await folder(house) / "once.txt").read_text() == "hello"
    await write(second, "twice.txt", "call_2")
    assert (await pending(house, session_id))["call_id"] == "call_2"
    await decide(house, await pending(house, session_id), "deny")
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert not (await folder(house) / "twice.txt").exists()
    await assert_settled(house.api, session_id)


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_what_is_allowed_for_the_session_is_not_asked_again_there(house: House) -> None:
    one, two = await house.session(), await house.session()
    run, approval = await asked(house, one, "a.txt")
    await decide(house, approval, "allow_session")
    await write(await house.request(), "b.txt", "call_2")
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await folder(house) / "b.txt").exists()
    _, other = await asked(house, two, "c.txt")
    assert other["state"] == "pending"


async def test_what_was_allowed_for_the_session_can_be_taken_back(
    house: House, session_id: str
) -> None:
    run, approval = await asked(house, session_id, "d.txt")
    await decide(house, approval, "allow_session")
    exchange = await house.request()
    path = f"/api/sessions/{session_id}"
    assert (await house.api.get(path))["grants"] == ["write_file"]
    assert (await house.api.call("DELETE", f"{path}/grants/write_file")).status == 204
    assert (await house.api.get(path))["grants"] == []
    await write(exchange, "e.txt", "call_2")
    await decide(house, await pending(house, session_id), "deny")
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert not (await folder(house) / "e.txt").exists()
    refused(await house.api.call("DELETE", f"{path}/grants/write_file"), 404, "not_found")


async def test_a_denied_call_is_told_to_the_model_with_the_note(
    house: House, session_id: str
) -> None:
    run, approval = await asked(house, session_id, "denied.txt")
    given = await decide(house, approval, "deny", "use another name")
    assert (given["state"], given["note"]) == ("denied", "use another name")
    second = await house.request()
    assert "use another name" in second.messages[-1]["content"]
    await second.say("As you wish.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    part = (await house.messages(session_id))[-1]["parts"][0]
    assert part["state"] == "denied" and "use another name" in part["error"]
    assert not (await folder(house) / "denied.txt").exists()


async def test_the_first_answer_wins(house: House, session_id: str) -> None:
    _, approval = await asked(house, session_id, "race.txt")
    answers = []

    async def answer(decision: str) -> None:
        answers.append(
            await house.api.post(f"/api/approvals/{approval['id']}", {"decision": decision})
        )

    async with anyio.create_task_group() as tasks:
        for decision in ("deny", "deny", "deny"):
            tasks.start_soon(answer, decision)
    assert sorted(a.status for a in answers) == [200, 409, 409]
    late = await house.api.post(f"/api/approvals/{approval['id']}", {"decision": "allow_session"})
    refused(late, 409, "already_answered")
    listed = (await house.api.get(f"/api/sessions/{session_id}/approvals"))["approvals"]
    assert [a["state"] for a in listed] == ["denied"]


async def test_a_cancelled_runs_question_is_withdrawn(house: House, session_id: str) -> None:
    run, approval = await asked(house, session_id, "cancelled.txt")
    cancelled = await house.api.post(f"/api/sessions/{session_id}/cancel")
    assert (cancelled.body["cancelled"], cancelled.body["settled"]) == ([run["id"]], True)
    (listed,) = (await house.api.get(f"/api/sessions/{session_id}/approvals"))["approvals"]
    assert listed["state"] == "cancelled"
    late = await house.api.post(f"/api/approvals/{approval['id']}", {"decision": "allow_once"})
    refused(late, 409, "already_answered")
    part = (await house.messages(session_id))[-1]["parts"][0]
    assert part["state"] == "cancelled"
    assert not (await folder(house) / "cancelled.txt").exists()
    log = await assert_settled(house.api, session_id)
    assert [e["type"] for e in log if e["type"].startswith("approval")] == [
        "approval.requested",
        "approval.resolved",
    ]


@pytest.mark.failure(29)
async def test_whoever_comes_late_sees_the_question_and_may_answer(
    house: House, session_id: str
) -> None:
    run, approval = await asked(house, session_id, "late.txt")
    async with house.api.sse(f"/api/sessions/{session_id}/events", after="now") as stream:
        snapshot = await stream.next()
        assert snapshot.data["approvals"] == [approval]
        await decide(house, snapshot.data["approvals"][0], "allow_once")
        resolved = await stream.until("approval.resolved")
        assert resolved.data["approval"]["state"] == "allowed"
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"


async def test_a_word_that_makes_no_sense_decides_nothing(house: House, session_id: str) -> None:
    _, approval = await asked(house, session_id, "nonsense.txt")
    for body in ({}, {"decision": "maybe"}, {"decision": "deny", "note": "x" * 10_001}):
        answer = await house.api.post(f"/api/approvals/{approval['id']}", body)
        refused(answer, 422, "invalid_input")
    assert await pending(house, session_id) == approval


async def test_a_tool_that_only_looks_does_not_ask(house: House, session_id: str) -> None:
    run, exchange = await house.held(session_id, "look")
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.finish("tool_calls")
    await (await house.request()).say("Nothing there.")
    assert (await house.ended(run["id"]))["status"] == "completed"
    assert (await house.api.get(f"/api/sessions/{session_id}/approvals"))["approvals"] == []


@pytest.mark.failure(29)
@pytest.mark.guarantee("E2")
async def test_a_question_outlives_a_crash_and_is_answered_once(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as house:
        session_id = await house.session()
        run, approval = await asked(house, session_id, "crash.txt")
        await house.server.kill()
        await house.server.start()
        assert (await house.run(run["id"]))["status"] == "running"
        assert (await house.api.get(f"/api/sessions/{session_id}"))["state"] == "waiting"
        (listed,) = (await house.api.get(f"/api/sessions/{session_id}/approvals"))["approvals"]
        assert (listed["id"], listed["state"]) == (approval["id"], "pending")
        path, no = f"/api/approvals/{approval['id']}", {"decision": "deny"}
        assert (await house.api.post(path, no)).status == 200
        await (await house.request()).say("As you like.")
        assert (await house.ended(run["id"]))["status"] == "completed"
        refused(await house.api.post(path, no), 409, "already_answered")
        assert not (await folder(house) / "crash.txt").exists()


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
@pytest.mark.parametrize(("permissions", "written"), [("allow", True), ("deny", False)])
async def test_the_settings_may_answer_for_everyone(
    tmp_path: Path, permissions: str, written: bool
) -> None:
    async with open_house(tmp_path, {"TENUTO_PERMISSIONS": permissions}) as house:
        session_id = await house.session()
        run, exchange = await house.held(session_id, "write")
        await write(exchange, "settled.txt")
        await (await house.request()).say("Done.")
        assert (await house.ended(run["id"]))["status"] == "completed"
        assert (await folder(house) / "settled.txt").exists() is written
        assert (await house.api.get(f"/api/sessions/{session_id}/approvals"))["approvals"] == []
