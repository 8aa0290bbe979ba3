"""Files: uploaded once, used in prompts, shown to the model in the way it can take them."""

import base64
from pathlib import Path

import aiohttp
import pytest

from tests.api.contract.house import Api, House, Json, open_house, refused
from tests.support.raw import RawAnswer
from tests.support.talk import call_tool

pytestmark = pytest.mark.anyio

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)


async def uploaded(api: Api, content: bytes, name: str, media_type: str) -> Json:
    answer = await api.upload(content, name, media_type)
    assert answer.status == 201, answer
    info: Json = answer.body
    return info


def with_file(info: Json, text: str = "Look") -> list[Json]:
    return [{"type": "text", "text": text}, {"type": "file", "file_id": info["id"]}]


async def test_an_upload_is_described(api: Api) -> None:
    info = await uploaded(api, b"abc", "notes.txt", "text/plain")
    assert info.keys() >= {"id", "name", "media_type", "size"}
    assert (info["name"], info["media_type"], info["size"]) == ("notes.txt", "text/plain", 3)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("../../etc/passwd", "passwd"), ("C:\\a\\b.txt", "b.txt"), ("né\u202e.txt", "né.txt")],
)
async def test_a_name_is_only_a_name(api: Api, given: str, kept: str) -> None:
    assert (await uploaded(api, b"x", given, "text/plain"))["name"] == kept


async def fetched(house: House, path: str, *, known: bool = True) -> RawAnswer:
    """The answer with its body as it came."""
    headers = {"Authorization": f"Bearer {house.server.token}"} if known else {}
    async with (
        aiohttp.ClientSession() as http,
        http.get(house.server.url + path, headers=headers) as response,
    ):
        return RawAnswer(response.status, await response.read(), dict(response.headers))


async def test_a_picture_is_given_back_to_be_shown(house: House) -> None:
    info = await uploaded(house.api, PNG, "ünder [1].png", "image/png")
    answer = await fetched(house, f"/api/files/{info['id']}")
    assert (answer.status, answer.body) == (200, PNG)
    assert answer.headers["Content-Type"] == "image/png"
    said = answer.headers["Content-Disposition"]
    assert said == "inline; filename*=UTF-8''%C3%BCnder%20%5B1%5D.png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/pdf", "x/y"])
async def test_what_could_hold_a_script_is_only_saved(house: House, media_type: str) -> None:
    body = b"<script>alert(1)</script>"
    info = await uploaded(house.api, body, "x.html", media_type)
    answer = await fetched(house, f"/api/files/{info['id']}")
    assert answer.body == body
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert "sandbox" in answer.headers["Content-Security-Policy"]


async def test_a_file_is_gone_with_the_last_session_that_spoke_of_it(house: House) -> None:
    info = await uploaded(house.api, PNG, "x.png", "image/png")
    one, two = await house.session(), await house.session()
    for session_id in (one, two):
        await house.prompt(session_id, with_file(info))
    for session_id, status in ((one, 200), (two, 404)):
        assert (await house.api.call("DELETE", f"/api/sessions/{session_id}")).status == 204
        assert (await fetched(house, f"/api/files/{info['id']}")).status == status


async def test_a_file_is_given_only_to_who_is_known(house: House) -> None:
    info = await uploaded(house.api, PNG, "x.png", "image/png")
    assert (await fetched(house, f"/api/files/{info['id']}", known=False)).status == 401
    assert (await fetched(house, "/api/files/fil_of_nobody")).status == 404


async def test_a_text_file_goes_to_the_model_as_text(house: House, session_id: str) -> None:
    info = await uploaded(house.api, "größe = 3\n".encode(), "size.toml", "text/plain")
    run, exchange = await house.held(session_id, with_file(info))
    said = str(exchange.messages[-1]["content"])
    assert "Look" in said and "größe = 3" in said and "size.toml" in said
    assert run["input"][1] == {
        "type": "file",
        "file_id": info["id"],
        "name": "size.toml",
        "media_type": "text/plain",
        "size": 12,
    }
    part = (await house.messages(session_id))[0]["parts"][1]
    assert (part["type"], part["file_id"], part["name"], part["size"]) == (
        "file",
        info["id"],
        "size.toml",
        12,
    )


async def test_what_describes_a_file_is_ours_and_not_the_clients(
    house: House, session_id: str
) -> None:
    info = await uploaded(house.api, b"abc", "a.txt", "text/plain")
    told = {**with_file(info)[1], "name": "lie.exe", "size": 9999}
    run = await house.prompt(session_id, [told])
    assert (run["input"][0]["name"], run["input"][0]["size"]) == ("a.txt", 3)


async def test_an_image_goes_to_a_model_that_sees_and_a_note_to_one_that_does_not(
    house: House,
) -> None:
    info = await uploaded(house.api, PNG, "dot.png", "image/png")
    seeing = await house.session(model="openai/gpt-4o")
    _, exchange = await house.held(seeing, with_file(info))
    (image,) = [b for b in exchange.messages[-1]["content"] if b["type"] == "image_url"]
    url = image["image_url"]["url"]
    assert url == "data:image/png;base64," + base64.b64encode(PNG).decode()
    blind = await house.session(model="openai/test-model")
    _, exchange = await house.held(blind, with_file(info))
    said = str(exchange.messages[-1]["content"])
    assert "dot.png" in said and "base64" not in said


@pytest.fixture(scope="module", autouse=True)
async def two_models(shared_house: House) -> None:
    shared_house.model.models = ["test-model", "gpt-4o"]
    for _ in range(3):
        await shared_house.api.get("/api/models")


async def test_a_prompt_may_be_a_file_alone(house: House, session_id: str) -> None:
    info = await uploaded(house.api, b"abc", "a.txt", "text/plain")
    run, exchange = await house.held(session_id, [{"type": "file", "file_id": info["id"]}])
    await exchange.say("Read.")
    assert (await house.ended(run["id"]))["status"] == "completed"


async def test_a_file_stays_with_its_conversation(house: House, session_id: str) -> None:
    info = await uploaded(house.api, b"the word is swordfish", "a.txt", "text/plain")
    await house.answered(session_id, with_file(info), "Read.")
    _, exchange = await house.held(session_id, "What is the word?")
    assert "swordfish" in str(exchange.messages)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "multipart/form-data"},
        {"Content-Type": "application/json"},
        {},
    ],
)
@pytest.mark.parametrize("body", [b"", b"nonsense", b"--x\r\n", b"{}"])
async def test_an_upload_that_cannot_be_read_is_invalid(
    api: Api, headers: dict[str, str], body: bytes
) -> None:
    answer = await api.send("POST", "/api/files", body, headers=headers)
    refused(answer, 422, "invalid_input")


async def test_a_form_without_a_file_is_invalid(house: House) -> None:
    form = aiohttp.FormData({"file": "text"})
    headers = {"Authorization": f"Bearer {house.server.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.post(house.server.url + "/api/files", data=form) as response,
    ):
        assert (response.status, (await response.json())["code"]) == (422, "invalid_input")


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"TENUTO_LIMITS_MAX_FILE_BYTES": "100000"}


async def test_a_file_that_is_too_large_is_refused(api: Api) -> None:
    assert (await api.upload(b"x" * 100_000, "a", "text/plain")).status == 201
    for size in (100_001, 500_000):
        refused(await api.upload(b"x" * size, "a", "text/plain"), 413, "payload_too_large")


@pytest.mark.guarantee("H5")
async def test_a_prompt_with_its_file_survives_a_crash_right_after_the_202(tmp_path: Path) -> None:
    async with open_house(tmp_path, {}) as house:
        session_id = await house.session()
        await house.held(session_id, "first")
        info = await uploaded(house.api, b"the word is swordfish", "a.txt", "text/plain")
        run = await house.prompt(session_id, with_file(info, "What is it?"))
        await house.server.kill()
        await house.model.forget()
        await house.server.start()
        exchange = await house.request()
        assert "swordfish" in str(exchange.messages[-1])
        await exchange.say("Swordfish.")
        ended = await house.ended(run["id"])
        assert ended["status"] == "completed"
        assert (ended["input"], ended["accepted_at"]) == (run["input"], run["accepted_at"])


async def test_an_image_that_a_tool_reads_is_seen_kept_and_can_be_fetched(
    house: House, tmp_path: Path
) -> None:
    (tmp_path / "dot.png").write_bytes(PNG)
    place = {"name": "Pictures", "path": str(tmp_path)}
    workspace = (await house.api.post("/api/workspaces", place)).body["id"]
    session_id = await house.session(model="openai/gpt-4o", workspace=workspace)
    run, exchange = await house.held(session_id, "What is in dot.png?", mode="agent")
    await call_tool(exchange, "read_file", path="dot.png")
    following = await house.request()
    result, shown = following.messages[-2:]
    assert (result["role"], result["content"]) == ("tool", "dot.png: an image of 1 × 1 pixels.")
    assert shown["role"] == "user"
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert shown["content"][1] == {"type": "image_url", "image_url": {"url": url}}
    await following.say("A dot.")
    await house.ended(run["id"])
    part = (await house.messages(session_id))[1]["parts"][0]
    (file,) = part["files"]
    assert (file["name"], file["media_type"], file["size"]) == ("dot.png", "image/png", len(PNG))
    assert (await fetched(house, f"/api/files/{file['file_id']}")).body == PNG
