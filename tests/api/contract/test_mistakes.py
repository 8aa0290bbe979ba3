"""A client's mistakes: each has its code, none of them is a 500, none of them stores anything."""

import base64
import json
from typing import Any

import pytest

from tests.api.contract.house import Api, House, refused
from tests.support.log import read_log

pytestmark = pytest.mark.anyio

NOWHERE = "ses_00000000000000000000000000"
UNKNOWN = [
    ("GET", "/api/workspaces/nope"),
    ("PATCH", "/api/workspaces/nope"),
    ("DELETE", "/api/workspaces/nope"),
    ("GET", "/api/workspaces/nope/events"),
    ("GET", f"/api/sessions/{NOWHERE}"),
    ("PATCH", f"/api/sessions/{NOWHERE}"),
    ("DELETE", f"/api/sessions/{NOWHERE}"),
    ("GET", f"/api/sessions/{NOWHERE}/messages"),
    ("GET", f"/api/sessions/{NOWHERE}/events"),
    ("GET", f"/api/sessions/{NOWHERE}/runs"),
    ("GET", f"/api/sessions/{NOWHERE}/approvals"),
    ("POST", f"/api/sessions/{NOWHERE}/cancel"),
    ("POST", f"/api/sessions/{NOWHERE}/undo"),
    ("POST", f"/api/sessions/{NOWHERE}/retry"),
    ("POST", f"/api/sessions/{NOWHERE}/fork"),
    ("POST", f"/api/sessions/{NOWHERE}/compact"),
    ("GET", "/api/runs/run_nope"),
    ("GET", "/api/runs/run_nope/events"),
    ("POST", "/api/runs/run_nope/cancel"),
    ("POST", "/api/runs/run_nope/continue"),
    ("PATCH", "/api/runs/run_nope"),
    ("DELETE", "/api/runs/run_nope"),
    ("GET", "/api/nothing"),
    ("GET", "/api/sessions/"),
    ("GET", "/api/sessions/%00"),
    ("GET", "/api/sessions/..%2f..%2fetc"),
]
BODIES = {
    "POST /api/sessions": ["workspace", "title", "model", "system"],
    "POST /api/workspaces": ["name", "path"],
    "POST /api/sessions/{id}/runs": ["input", "model", "mode", "when_busy", "on_disconnect"],
    "PATCH /api/sessions/{id}": ["title", "model", "pinned", "archived", "draft", "system"],
    "POST /api/sessions/{id}/edit": ["message_id", "input"],
    "POST /api/sessions/{id}/fork": ["message_id"],
    "PATCH /api/runs/{run}": ["input", "position", "when_busy"],
    "POST /api/approvals/apr_nope": ["decision", "note"],
}
GOOD: dict[str, Any] = {
    "name": "a",
    "path": "/",
    "input": "hi",
    "message_id": "msg_1",
    "decision": "deny",
}


async def place(house: House, call: str) -> tuple[str, str]:
    """The method and path of a call, for a session with a run under way and one that waits."""
    method, path = call.split()
    if "{" not in path:
        return method, path
    session_id = await house.session()
    await house.prompt(session_id)
    waiting = await house.prompt(session_id)
    return method, path.format(id=session_id, run=waiting["id"])


@pytest.mark.parametrize(("method", "path"), UNKNOWN)
async def test_what_is_not_there_is_not_found(api: Api, method: str, path: str) -> None:
    body: object = {} if method in ("POST", "PATCH") else None
    refused(await api.call(method, path, body), 404, "not_found")


async def test_prompts_edits_and_answers_to_nothing_are_not_found(api: Api) -> None:
    prompt = {"input": "hi"}
    refused(await api.post(f"/api/sessions/{NOWHERE}/runs", prompt), 404, "not_found")
    edit = {"message_id": "msg_1", "input": "hi"}
    refused(await api.post(f"/api/sessions/{NOWHERE}/edit", edit), 404, "not_found")
    refused(await api.post("/api/approvals/apr_nope", {"decision": "deny"}), 404, "not_found")
    refused(await api.post("/api/sessions", {"workspace": "nope"}), 404, "not_found")


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_method_that_a_path_does_not_know_is_refused(api: Api, method: str) -> None:
    assert (await api.call(method, "/api/sessions")).status == 405


@pytest.mark.parametrize("body", [b"{", b"nonsense", b"\xff\xfe{}", b'{"input": "\xff"}', b"{} {}"])
@pytest.mark.parametrize("call", BODIES)
async def test_a_body_that_is_no_json_is_unreadable(house: House, call: str, body: bytes) -> None:
    method, path = await place(house, call)
    refused(await house.api.send(method, path, body), 400, "invalid_input")


@pytest.mark.parametrize("call", BODIES)
async def test_a_body_of_the_wrong_shape_is_invalid(house: House, call: str) -> None:
    method, path = await place(house, call)
    fields = BODIES[call]
    good = {name: GOOD[name] for name in fields if name in GOOD}
    for body in (b"[]", b'"text"', b"7", b"null", b"true"):
        refused(await house.api.send(method, path, body), 422, "invalid_input")
    said = refused(
        await house.api.call(method, path, {**good, "surprise": 1}), 422, "invalid_input"
    )
    assert "surprise" in said
    for name in fields:
        for wrong in (7, ["x"], {"x": 1}, 1.5):
            if name == "position" and wrong == 7:
                continue
            answer = await house.api.call(method, path, {**good, name: wrong})
            assert name in refused(answer, 422, "invalid_input")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": ""},
        {"input": " \n\t"},
        {"input": []},
        {"input": [{"type": "text", "text": " "}]},
        {"input": [{"type": "image", "text": "x"}]},
        {"input": [{"type": "file"}]},
        {"input": [{"type": "file", "file_id": "fil_nope"}]},
        {"input": ["hi"]},
        {"input": "hi", "mode": "compact"},
        {"input": "hi", "mode": ""},
        {"input": "hi", "model": ""},
        {"input": "hi", "when_busy": "never"},
        {"input": "hi", "on_disconnect": "explode"},
    ],
)
async def test_a_prompt_that_makes_no_sense_is_not_accepted(
    house: House, session_id: str, body: dict[str, Any]
) -> None:
    path = f"/api/sessions/{session_id}/runs"
    refused(await house.api.post(path, body), 422, "invalid_input")
    assert await read_log(house.api, session_id) == []


@pytest.mark.failure(61)
async def test_half_a_character_is_never_stored(house: House, session_id: str) -> None:
    """A lone surrogate can be written in JSON and nowhere else."""
    half = b'"\\ud83d"'
    for method, path, body in [
        ("POST", f"/api/sessions/{session_id}/runs", b'{"input": %b}' % half),
        ("PATCH", f"/api/sessions/{session_id}", b'{"title": %b}' % half),
        ("PATCH", f"/api/sessions/{session_id}", b'{"draft": %b}' % half),
        ("POST", "/api/sessions", b'{"system": %b}' % half),
        ("POST", "/api/workspaces", b'{"path": "/", "name": %b}' % half),
    ]:
        answer = await house.api.send(method, path, body)
        assert answer.status in (400, 422), answer
        refused(answer, answer.status, "invalid_input")
    assert await read_log(house.api, session_id) == []


async def test_odd_but_valid_text_is_kept_as_it_is(house: House, session_id: str) -> None:
    odd = 'nul \0, line \u2028, rtl \u202e, "quotes" \\ and 👩‍👩‍👧'
    run = await house.answered(session_id, odd, odd)
    assert run["input"] == odd
    assert await house.texts(session_id) == [odd, odd]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/api/sessions", {"model": "openai/nope"}),
        ("/api/sessions", {"model": "nope"}),
    ],
)
async def test_a_model_that_does_not_exist_is_said_to(
    api: Api, path: str, fields: dict[str, str]
) -> None:
    refused(await api.post(path, fields), 422, "model_not_found")


async def test_a_prompt_for_a_model_that_does_not_exist_is_not_accepted(
    house: House, session_id: str
) -> None:
    path = f"/api/sessions/{session_id}"
    body = {"input": "hi", "model": "openai/nope"}
    said = refused(await house.api.post(f"{path}/runs", body), 422, "model_not_found")
    assert "openai/nope" in said
    refused(await house.api.call("PATCH", path, {"model": "x/y"}), 422, "model_not_found")
    assert await read_log(house.api, session_id) == []


@pytest.mark.parametrize("path", ["/api/sessions", "/api/runs", "/api/sessions/{id}/runs"])
@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=201",
        "limit=x",
        "limit=1.5",
        "limit=" + "9" * 5000,
        "cursor=x",
        "cursor=!!",
        "cursor=bm90IGpzb24=",
        "cursor=WyJhIiwiYiIsImMiXQ==",
    ],
)
async def test_pages_that_cannot_be_are_invalid(
    house: House, session_id: str, path: str, query: str
) -> None:
    answer = await house.api.call("GET", path.format(id=session_id) + "?" + query)
    refused(answer, 422, "invalid_input")


@pytest.mark.parametrize(
    "place",
    [
        ["9223372036854775808", "b"],
        ["9" * 5000, "b"],
        ["-1", "b"],
        ["\u0661", "b"],
        ["", ""],
        ["1\x00", "b"],
    ],
)
async def test_a_cursor_that_was_tampered_with_is_invalid(
    api: Api, session_id: str, place: list[str]
) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(place).encode()).decode()
    answer = await api.call("GET", f"/api/sessions/{session_id}/runs?cursor={cursor}")
    refused(answer, 422, "invalid_input")
    for path in ("/api/runs", "/api/sessions", "/api/comparisons"):
        assert (await api.call("GET", f"{path}?cursor={cursor}")).status in (200, 422)


async def test_filters_that_mean_nothing_are_invalid(api: Api) -> None:
    refused(await api.call("GET", "/api/runs?status=lost"), 422, "invalid_input")
    refused(await api.call("GET", "/api/sessions?archived=maybe"), 422, "invalid_input")


async def test_a_body_that_is_too_large_is_refused(house: House, session_id: str) -> None:
    body = json.dumps({"input": "x" * (10 * 1024 * 1024)}).encode()
    answer = await house.api.send("POST", f"/api/sessions/{session_id}/runs", body)
    refused(answer, 413, "payload_too_large")
    assert await read_log(house.api, session_id) == []


async def test_a_large_prompt_that_is_allowed_is_kept_whole(house: House, session_id: str) -> None:
    words = "word " * 400_000
    body = json.dumps({"input": words, "mode": "chat"}).encode()
    answer = await house.api.send("POST", f"/api/sessions/{session_id}/runs", body)
    assert answer.status == 202
    await (await house.request()).say("Long.")
    assert (await house.ended(answer.body["id"]))["input"] == words


async def test_json_that_goes_too_deep_is_refused(house: House, session_id: str) -> None:
    for body in (b"[" * 100_000, b'{"input":' * 50_000, b'{"x":' + b"[" * 100_000):
        answer = await house.api.send("POST", f"/api/sessions/{session_id}/runs", body)
        assert answer.status in (400, 422), answer
