"""Rules: what a person allows once holds as far as it was meant, and no further."""

import json
from pathlib import Path

import pytest

from tests.api.contract.house import House, Json, refused
from tests.api.contract.test_approvals import pending
from tests.support.model_server import Exchange

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]


async def call(exchange: Exchange, *calls: tuple[str, Json]) -> None:
    for n, (tool, arguments) in enumerate(calls):
        await exchange.tool_call(n, f"call_{n}", tool)
        await exchange.tool_input(n, json.dumps(arguments))
    await exchange.finish("tool_calls")


async def answer(house: House, approval: Json, **word: object) -> Json:
    given = await house.api.post(f"/api/approvals/{approval['id']}", word)
    assert given.status == 200, given
    body: Json = given.body
    return body


async def shells(house: House, session_id: str, *lines: str) -> Exchange:
    """A run whose model asks for these commands, one after the other in one answer."""
    _, exchange = await house.held(session_id, "do it")
    await call(exchange, *(("shell", {"command": line}) for line in lines))
    return exchange


async def outputs(house: House, session_id: str) -> list[str]:
    parts = (await house.messages(session_id))[-1]["parts"]
    return [part["state"] for part in parts if part["type"] == "tool"]


async def ends(house: House) -> None:
    exchange = await house.request()
    await exchange.text("done")
    await exchange.finish()
    run = (await house.api.get("/api/runs"))["runs"][0]
    await house.ended(run["id"])


async def test_an_approval_offers_what_can_be_allowed(house: House, session_id: str) -> None:
    await shells(house, session_id, "git status -s")
    approval = await pending(house, session_id)
    assert [one["pattern"] for one in approval["suggestions"]] == ["git status -s", "git status *"]
    await answer(house, approval, decision="deny")
    await ends(house)


async def test_what_is_allowed_for_the_session_by_a_suggestion_is_not_asked_again(
    house: House, session_id: str
) -> None:
    await shells(house, session_id, "echo one")
    approval = await pending(house, session_id)
    await answer(house, approval, decision="allow_session", suggestion=1)
    await call(await house.request(), ("shell", {"command": "echo two"}))
    # Only what was meant: another command, or one that nobody can judge, asks.
    await call(await house.request(), ("shell", {"command": "pwd"}))
    asked = await pending(house, session_id)
    assert asked["input"] == {"command": "pwd"}
    await answer(house, asked, decision="deny")
    await call(await house.request(), ("shell", {"command": "echo $(pwd)"}))
    asked = await pending(house, session_id)
    assert asked["suggestions"] == []
    await answer(house, asked, decision="deny")
    await ends(house)
    session = await house.api.get(f"/api/sessions/{session_id}")
    assert session["grants"] == ["shell echo *"]
    path = f"/api/sessions/{session_id}/grants/shell%20echo%20*"
    assert (await house.api.call("DELETE", path)).status == 204


async def test_what_is_allowed_always_becomes_a_rule_of_the_workspace(house: House) -> None:
    first, second = [await house.session() for _ in range(2)]
    await shells(house, first, "true")
    approval = await pending(house, first)
    await answer(house, approval, decision="allow_always", suggestion=0)
    await ends(house)
    workspace = await house.api.get("/api/workspaces/default")
    assert workspace["rules"] == [{"tool": "shell", "pattern": "true", "decision": "allow"}]
    await shells(house, second, "true")
    await ends(house)
    assert await outputs(house, second) == ["done"]
    await house.api.call("PATCH", "/api/workspaces/default", {"rules": []})


async def test_one_answer_covers_what_else_the_run_asks(house: House, session_id: str) -> None:
    await shells(house, session_id, "echo one", "echo two")
    approval = await pending(house, session_id)
    await answer(house, approval, decision="allow_session", suggestion=1)
    await ends(house)
    assert await outputs(house, session_id) == ["done", "done"]


async def test_a_rule_of_the_workspace_allows_and_a_deny_wins(
    house: House, session_id: str
) -> None:
    rules = [
        {"tool": "shell", "decision": "allow"},
        {"tool": "shell", "pattern": "rm *", "decision": "deny"},
    ]
    changed = await house.api.call("PATCH", "/api/workspaces/default", {"rules": rules})
    assert changed.status == 200
    try:
        await shells(house, session_id, "echo fine", "true && rm -f x")
        await ends(house)
        assert await outputs(house, session_id) == ["done", "denied"]
    finally:
        await house.api.call("PATCH", "/api/workspaces/default", {"rules": []})


async def test_keys_in_a_folder_are_asked_about_also_through_a_link(
    house: House, session_id: str
) -> None:
    folder = Path((await house.api.get("/api/workspaces/default"))["path"])
    (folder / ".env.local").write_text("KEY=1")
    (folder / "harmless.txt").symlink_to(".env.local")
    _, exchange = await house.held(session_id, "read it")
    await call(exchange, ("read_file", {"path": "harmless.txt"}))
    asked = await pending(house, session_id)
    assert asked["tool"] == "read_file"
    await answer(house, asked, decision="deny")
    await ends(house)


WRONG: list[Json] = [
    {"decision": "allow_always"},
    {"decision": "allow_always", "suggestion": 9},
    {"decision": "allow_session", "suggestion": -1},
    {"decision": "deny", "suggestion": 0},
    {"decision": "allow_once", "suggestion": 0},
    {"decision": "allow_session", "pattern": "rm *"},
]


async def test_an_answer_that_makes_no_sense_answers_nothing(house: House, session_id: str) -> None:
    await shells(house, session_id, "true")
    approval = await pending(house, session_id)
    for word in WRONG:
        refused(
            await house.api.post(f"/api/approvals/{approval['id']}", word), 422, "invalid_input"
        )
    assert (await pending(house, session_id))["state"] == "pending"
    await answer(house, approval, decision="deny")
    await ends(house)
