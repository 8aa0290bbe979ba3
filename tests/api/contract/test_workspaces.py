"""Workspaces: a folder that sessions share, and one stream of all that happens in it."""

import os
from pathlib import Path

import pytest

from tests.api.contract.house import Api, House, Json, refused
from tests.support.raw import RawFrame

pytestmark = pytest.mark.anyio


async def make(api: Api, folder: Path, name: str = "Mine") -> Json:
    answer = await api.post("/api/workspaces", {"name": name, "path": str(folder)})
    assert answer.status == 201, answer
    made: Json = answer.body
    assert answer.headers["Location"] == f"/api/workspaces/{made['id']}"
    return made


def kinds(frames: list[RawFrame]) -> list[str]:
    return [frame.event for frame in frames]


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_the_default_workspace_always_exists(api: Api) -> None:
    found = (await api.get("/api/workspaces"))["workspaces"]
    assert "default" in {workspace["id"] for workspace in found}
    assert Path((await api.get("/api/workspaces/default"))["path"]).is_absolute()


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_a_workspace_is_made_read_changed_and_removed(api: Api, tmp_path: Path) -> None:
    made = await make(api, tmp_path)
    path = f"/api/workspaces/{made['id']}"
    assert (made["name"], made["path"]) == ("Mine", str(tmp_path))
    assert await api.get(path) == made
    inner = tmp_path / "inner"
    inner.mkdir()
    changed = await api.call("PATCH", path, {"name": "Ours", "path": str(inner)})
    assert (changed.status, changed.body["name"], changed.body["path"]) == (
        200,
        "Ours",
        str(inner),
    )
    assert (await api.call("PATCH", path, {})).body == changed.body
    assert (await api.call("DELETE", path)).status == 204
    refused(await api.call("GET", path), 404, "not_found")
    assert inner.is_dir()


async def test_a_workspace_needs_a_folder_that_exists(api: Api, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for path in (tmp_path / "nothing", file, "", " ", "\0", "x" * 5000):
        body = {"name": "Mine", "path": str(path)}
        refused(await api.post("/api/workspaces", body), 422, "invalid_input")
    for name in ("", "x" * 201):
        body = {"name": name, "path": str(tmp_path)}
        refused(await api.post("/api/workspaces", body), 422, "invalid_input")


async def test_a_folder_whose_name_is_no_text_is_refused(api: Api, tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")
    (tmp_path / "link").symlink_to(os.fsdecode(b"\xff"))
    body = {"name": "Odd", "path": str(tmp_path / "link")}
    refused(await api.post("/api/workspaces", body), 422, "invalid_input")
    answer = await api.call("PATCH", "/api/workspaces/default", {"path": body["path"]})
    refused(answer, 422, "invalid_input")


async def test_the_default_workspace_cannot_be_removed(api: Api) -> None:
    refused(await api.call("DELETE", "/api/workspaces/default"), 403, "forbidden")


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_sessions_belong_to_their_workspace_and_go_with_it(
    house: House, tmp_path: Path
) -> None:
    made = await make(house.api, tmp_path)
    inside, outside = await house.session(workspace=made["id"]), await house.session()
    run, exchange = await house.held(inside, "hi")
    listed = await house.api.get(f"/api/sessions?workspace={made['id']}")
    assert [session["id"] for session in listed["sessions"]] == [inside]
    assert (await house.api.call("DELETE", f"/api/workspaces/{made['id']}")).status == 204
    await exchange.closed()
    refused(await house.api.call("GET", f"/api/sessions/{inside}"), 404, "not_found")
    refused(await house.api.call("GET", f"/api/runs/{run['id']}"), 404, "not_found")
    assert (await house.api.get(f"/api/sessions/{outside}"))["id"] == outside


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_tools_work_in_the_workspaces_folder(house: House, tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("found it")
    made = await make(house.api, tmp_path)
    run, exchange = await house.held(await house.session(workspace=made["id"]), "read")
    await exchange.tool_call(0, "call_1", "read_file")
    await exchange.tool_input(0, '{"path": "here.txt"}')
    await exchange.finish("tool_calls")
    second = await house.request()
    assert "found it" in second.messages[-1]["content"]
    await second.say("Done.")
    await house.ended(run["id"])


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_the_stream_tells_of_sessions_and_runs(house: House, tmp_path: Path) -> None:
    made = await make(house.api, tmp_path)
    path = f"/api/workspaces/{made['id']}/events"
    async with house.api.sse(path) as stream:
        session_id = await house.session(workspace=made["id"], title="Named")
        await house.session(title="Elsewhere")
        await house.answered(session_id, "hi", "Hello.")
        await house.api.call("PATCH", f"/api/sessions/{session_id}", {"pinned": True})
        await stream.until("session.updated")
        await house.api.call("DELETE", f"/api/sessions/{session_id}")
        await stream.until("session.deleted")
    assert kinds(stream.frames) == [
        "session.created",
        "run.accepted",
        "run.started",
        "run.finished",
        "session.updated",
        "session.deleted",
    ]
    assert [frame.id for frame in stream.frames] == [1, 2, 3, 4, 5, 6]
    assert stream.frames[0].data["session"]["id"] == session_id
    assert stream.frames[3].data["run"]["status"] == "completed"
    assert {frame.data["session_id"] for frame in stream.frames} == {session_id}


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_what_was_said_in_a_deleted_session_is_gone_from_the_workspace_too(
    house: House, tmp_path: Path
) -> None:
    made = await make(house.api, tmp_path)
    kept = await house.session(workspace=made["id"], title="Kept")
    session_id = await house.session(workspace=made["id"])
    await house.answered(session_id, "the secret word", "Hm.")
    await house.api.call("DELETE", f"/api/sessions/{session_id}")
    async with house.api.sse(f"/api/workspaces/{made['id']}/events") as stream:
        snapshot = await stream.next()
        assert snapshot.event == "snapshot"
        assert [session["id"] for session in snapshot.data["sessions"]] == [kept]
        assert "secret" not in str(snapshot.data)


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_the_streams_cursor_follows_the_same_rules(house: House, tmp_path: Path) -> None:
    made = await make(house.api, tmp_path)
    path = f"/api/workspaces/{made['id']}/events"
    one = await house.session(workspace=made["id"], title="One")
    two = await house.session(workspace=made["id"], title="Two")
    async with house.api.sse(path, after=1) as stream:
        assert (await stream.next()).data["session"]["id"] == two
    async with house.api.sse(path, after=0, last_event_id=1) as stream:
        assert (await stream.next()).id == 2
    for after in ("now", "99", "x", "-1", "9" * 5000):
        async with house.api.sse(path, after=after) as stream:
            snapshot = await stream.next()
            assert (snapshot.event, snapshot.id) == ("snapshot", 2)
            assert {s["id"] for s in snapshot.data["sessions"]} == {one, two}


@pytest.mark.one_node("a shared folder is named below --workspaces, and not by its path")
async def test_a_live_viewer_of_a_workspace_sees_what_happens_next(
    house: House, tmp_path: Path
) -> None:
    made = await make(house.api, tmp_path)
    async with house.api.sse(f"/api/workspaces/{made['id']}/events", after="now") as stream:
        assert (await stream.next()).event == "snapshot"
        session_id = await house.session(workspace=made["id"], title="New")
        created = await stream.next()
        assert (created.event, created.data["session_id"]) == ("session.created", session_id)
