"""Idempotency keys: the same request twice is one, another body under the same key is a mistake."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.api.contract.house import Api, House, open_house, refused
from tests.support.log import read_log
from tests.support.raw import RawAnswer

pytestmark = pytest.mark.anyio


async def send(api: Api, path: str, body: Any, key: str) -> RawAnswer:
    return await api.call("POST", path, body, headers={"Idempotency-Key": key})


@pytest.mark.failure(19)
async def test_the_same_prompt_with_the_same_key_is_one_run(house: House, session_id: str) -> None:
    path, body = f"/api/sessions/{session_id}/runs", {"input": "hi"}
    first = await send(house.api, path, body, "k1")
    again = await send(house.api, path, body, "k1")
    assert (first.status, again.status) == (202, 202)
    assert again.body == first.body
    assert again.headers["Location"] == first.headers["Location"]
    await (await house.request()).say("Hello.")
    await house.ended(first.body["id"])
    assert (await send(house.api, path, body, "k1")).body["id"] == first.body["id"]
    assert await house.texts(session_id) == ["hi", "Hello."]


async def test_the_same_again_is_answered_even_when_it_would_now_be_refused(
    house: House, session_id: str
) -> None:
    path, body = f"/api/sessions/{session_id}/runs", {"input": "hi", "when_busy": "reject"}
    first = await send(house.api, path, body, "busy")
    await house.request()
    refused(await house.api.post(path, body), 409, "session_busy")
    again = await send(house.api, path, body, "busy")
    assert (again.status, again.body["id"]) == (202, first.body["id"])


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_the_same_again_is_answered_when_its_model_or_folder_has_gone_since(
    house: House, session_id: str, tmp_path: Path
) -> None:
    house.model.models = ["test-model", "passing"]
    await house.api.post("/api/models/refresh")
    folder = tmp_path / "passing"
    folder.mkdir()
    calls: list[tuple[str, Any]] = [
        ("/api/sessions", {"model": "openai/passing"}),
        (f"/api/sessions/{session_id}/runs", {"input": "hi", "model": "openai/passing"}),
        ("/api/comparisons", {"models": ["openai/passing", "openai/test-model"]}),
        ("/api/workspaces", {"name": "Passing", "path": str(folder)}),
    ]
    first = [await send(house.api, path, body, "gone") for path, body in calls]
    assert [answer.status for answer in first] == [201, 202, 201, 201]
    house.model.models = ["test-model"]
    await house.api.post("/api/models/refresh")
    folder.rmdir()
    for (path, body), before in zip(calls, first, strict=True):
        assert (await house.api.post(path, body)).status == 422
        again = await send(house.api, path, body, "gone")
        assert (again.status, again.body["id"]) == (before.status, before.body["id"])


async def test_a_fork_and_a_retry_sent_again_are_answered_as_before(
    house: House, session_id: str
) -> None:
    await house.answered(session_id, "hi", "Hello.")
    path = f"/api/sessions/{session_id}"
    forked = await send(house.api, f"{path}/fork", {}, "fork")
    retried = await send(house.api, f"{path}/retry", {}, "retry")
    exchange = await house.request()
    assert (await send(house.api, f"{path}/fork", {}, "fork")).body == forked.body
    await exchange.say("Hello again.")
    await house.ended(retried.body["id"])
    await house.api.post(f"{path}/undo")
    assert (await send(house.api, f"{path}/retry", {}, "retry")).body == retried.body
    assert await house.texts(session_id) == []


@pytest.mark.failure(19)
async def test_a_double_submit_at_the_same_moment_is_one_run(house: House, session_id: str) -> None:
    path, answers = f"/api/sessions/{session_id}/runs", []

    async def submit() -> None:
        answers.append(await send(house.api, path, {"input": "hi"}, "both"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(submit)
    assert {answer.status for answer in answers} == {202}
    assert len({answer.body["id"] for answer in answers}) == 1
    log = await read_log(house.api, session_id)
    assert [event["type"] for event in log].count("run.accepted") == 1


async def test_another_body_under_the_same_key_is_a_mistake(house: House, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/runs"
    await send(house.api, path, {"input": "one"}, "k2")
    refused(await send(house.api, path, {"input": "two"}, "k2"), 409, "idempotency_mismatch")
    assert len((await house.api.get(path))["runs"]) == 1


async def test_the_same_json_written_differently_is_the_same_body(
    house: House, session_id: str
) -> None:
    path, headers = f"/api/sessions/{session_id}/runs", {"Idempotency-Key": "k3"}
    first = await house.api.send("POST", path, b'{"input":"hi","mode":"chat"}', headers=headers)
    again = await house.api.send(
        "POST", path, b'{ "mode": "chat", "input": "\\u0068i" }', headers=headers
    )
    assert (again.status, again.body["id"]) == (202, first.body["id"])


async def test_a_key_belongs_to_its_path(house: House) -> None:
    one, two = await house.session(), await house.session()
    runs = [
        await send(house.api, f"/api/sessions/{session}/runs", {"input": "hi"}, "k4")
        for session in (one, two)
    ]
    assert runs[0].body["session_id"] == one
    assert runs[1].body["session_id"] == two


@pytest.mark.parametrize("key", ["", "x" * 256])
async def test_a_key_has_a_length(api: Api, key: str) -> None:
    refused(await send(api, "/api/sessions", {}, key), 422, "invalid_input")


async def test_a_refused_request_leaves_its_key_free(house: House, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/runs"
    refused(await send(house.api, path, {"input": ""}, "k5"), 422, "invalid_input")
    assert (await send(house.api, path, {"input": "hi"}, "k5")).status == 202


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_sessions_workspaces_and_files_are_made_once(house: House, tmp_path: Path) -> None:
    for path, body in [
        ("/api/sessions", {"title": "Once"}),
        ("/api/workspaces", {"name": "Once", "path": str(tmp_path)}),
    ]:
        first, again = [await send(house.api, path, body, "k6") for _ in range(2)]
        assert (first.status, again.status) == (201, 201)
        assert first.body == again.body
        other = await send(house.api, path, _other(body), "k6")
        refused(other, 409, "idempotency_mismatch")
    headers = {"Idempotency-Key": "k6"}
    files = [
        await house.api.upload(b"abc", "a.txt", "text/plain", headers=headers) for _ in range(2)
    ]
    assert files[0].body == files[1].body
    other = await house.api.upload(b"abd", "a.txt", "text/plain", headers=headers)
    refused(other, 409, "idempotency_mismatch")


def _other(body: dict[str, str]) -> dict[str, str]:
    return {name: value if name == "path" else "Other" for name, value in body.items()}


async def test_retry_edit_fork_and_continue_happen_once(house: House, session_id: str) -> None:
    await house.answered(session_id, "hi", "Hello.")
    path = f"/api/sessions/{session_id}"
    forks = [await send(house.api, f"{path}/fork", {}, "f") for _ in range(2)]
    assert forks[0].body == forks[1].body
    for call in ("retry", "edit"):
        asked = {"message_id": await _user(house, session_id), "input": "other"}
        body = asked if call == "edit" else {}
        first = await send(house.api, f"{path}/{call}", body, call)
        await (await house.request()).say("Again.")
        await house.ended(first.body["id"])
        again = await send(house.api, f"{path}/{call}", body, call)
        assert (first.status, again.status, again.body) == (202, 202, first.body)
    last = (await house.api.get(f"{path}/runs"))["runs"][0]["id"]
    first = await send(house.api, f"/api/runs/{last}/continue", {}, "c")
    again = await send(house.api, f"/api/runs/{last}/continue", {}, "c")
    assert (first.status, again.body["id"]) == (202, first.body["id"])


async def _user(house: House, session_id: str) -> str:
    found: str = (await house.messages(session_id))[0]["id"]
    return found


@pytest.mark.failure(19)
async def test_a_key_is_known_after_a_crash(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as house:
        session_id = await house.session()
        path = f"/api/sessions/{session_id}/runs"
        first = await send(house.api, path, {"input": "hi"}, "k")
        await (await house.request()).say("Hello.")
        await house.ended(first.body["id"])
        await house.server.kill()
        await house.server.start()
        again = await send(house.api, path, {"input": "hi"}, "k")
        assert (again.status, again.body["id"]) == (202, first.body["id"])
        refused(await send(house.api, path, {"input": "ho"}, "k"), 409, "idempotency_mismatch")
        assert len(house.model.exchanges) == 1
