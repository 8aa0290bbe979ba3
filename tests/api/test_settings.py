"""What is set while the server runs counts at once, and stays."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.contract.house import Api, House, Json, refused
from tests.support.model_server import Exchange, ModelServer
from tests.support.server import TenutoServer

pytestmark = [
    pytest.mark.anyio,
    # What holds there is asked in test_nodes.py.
    pytest.mark.one_node("a change holds on the other node within a second, not at once"),
]

FREE = {"TENUTO_TITLES": ""}
"""Not even the switch that other tests set."""


@pytest.fixture
def model_list() -> list[str]:
    return ["one", "two"]


@pytest.fixture
def server_env() -> dict[str, str]:
    return FREE


@pytest.fixture
def api(server: TenutoServer) -> Api:
    return Api(server.url, server.token)


async def change(api: Api, **changes: object) -> Json:
    answer = await api.call("PATCH", "/api/settings", changes)
    assert answer.status == 200, answer
    assert answer.body == await api.get("/api/settings")
    now: Json = answer.body
    return now


def permission_of(now: Json, tool: str) -> str:
    (rule,) = [rule for rule in now["tools"] if rule["name"] == tool]
    permission: str = rule["permission"]
    return permission


async def test_at_first_the_configuration_counts(api: Api) -> None:
    now = await api.get("/api/settings")
    assert (now["default_model"], now["titles"], now["permission_default"]) == (None, True, "ask")
    assert (now["permissions"], now["fixed"]) == ({}, {})
    asking = [rule["name"] for rule in now["tools"] if rule["permission"] == "ask"]
    assert asking == [rule["name"] for rule in now["tools"] if rule["changes"]]
    assert {"write_file", "edit_file", "shell", "fetch_url"} <= set(asking)


async def test_the_default_model_can_be_chosen_and_given_back(api: Api) -> None:
    assert (await api.get("/api/models"))["default"] == "openai/one"
    assert (await change(api, default_model="openai/two"))["default_model"] == "openai/two"
    assert (await api.get("/api/models"))["default"] == "openai/two"
    session = (await api.post("/api/sessions", {})).body["id"]
    run = (await api.post(f"/api/sessions/{session}/runs", {"input": "hi"})).body
    assert run["model"] == "openai/two"
    await change(api, default_model=None)
    assert (await api.get("/api/models"))["default"] == "openai/one"


async def test_a_default_that_does_not_exist_is_refused(api: Api) -> None:
    answer = await api.call("PATCH", "/api/settings", {"default_model": "openai/three"})
    assert "did you mean 'openai/two'" in refused(answer, 422, "model_not_found")
    assert (await api.get("/api/settings"))["default_model"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"default_model": ""},
        {"default_model": 7},
        {"titles": "on"},
        {"permission_default": "maybe"},
        {"permissions": {"shell": "maybe"}},
        {"permissions": {"no_such_tool": "allow"}},
        {"permissions": None},
        {"token": "mine"},
    ],
    ids=repr,
)
async def test_what_makes_no_sense_is_refused_whole(shared: Api, wrong: Json) -> None:
    before = await shared.get("/api/settings")
    body = {"permission_default": "deny", **wrong}
    refused(await shared.call("PATCH", "/api/settings", body), 422, "invalid_input")
    assert await shared.get("/api/settings") == before


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """For tests that change nothing."""
    folder = tmp_path_factory.mktemp("shared")
    async with TenutoServer(folder, model_url=None, env=FREE) as server:
        yield Api(server.url, server.token)


async def ask_for(exchange: Exchange, tool: str, arguments: str = "{}") -> None:
    await exchange.tool_call(0, "call_1", tool)
    await exchange.tool_input(0, arguments)
    await exchange.finish("tool_calls")


async def outcome(house: House, tool: str, arguments: str = "{}") -> tuple[str, str | None]:
    """How a call of this tool ended, without anybody's answer."""
    session = await house.session()
    run, exchange = await house.held(session, "go", mode="agent")
    await ask_for(exchange, tool, arguments)
    await (await house.request()).say("Done.")
    await house.ended(run["id"])
    (part,) = [p for p in (await house.messages(session))[-1]["parts"] if p["type"] == "tool"]
    return part["state"], part["error"]


@pytest.fixture
def house(model: ModelServer, server: TenutoServer) -> House:
    return House(model, server)  # type: ignore[arg-type]


async def test_permissions_count_from_the_next_call_on(api: Api, house: House) -> None:
    await change(api, titles=False, permissions={"shell": "allow", "list_files": "deny"})
    echo = '{"command": "true"}'
    assert await outcome(house, "shell", echo) == ("done", None)
    denied = ("denied", "The server's settings do not allow this tool.")
    assert await outcome(house, "list_files") == denied
    now = await change(
        api, permissions={"list_files": None, "shell": None}, permission_default="deny"
    )
    assert (now["permissions"], permission_of(now, "shell")) == ({}, "deny")
    assert await outcome(house, "shell", echo) == denied
    assert await outcome(house, "list_files") == ("done", None)


async def test_a_tool_that_only_looks_can_be_made_to_ask(api: Api, house: House) -> None:
    await change(api, titles=False, permissions={"list_files": "ask"})
    session = await house.session()
    run, exchange = await house.held(session, "look", mode="agent")
    await exchange.tool_call(0, "call_1", "list_files")
    await exchange.tool_input(0, "{}")
    await exchange.tool_call(1, "call_2", "list_files")
    await exchange.tool_input(1, "{}")
    await exchange.finish("tool_calls")
    for _ in range(2):
        async with api.sse(f"/api/sessions/{session}/events") as stream:
            asked = await stream.until("approval.requested")
            while (await _state(api, session, asked.data["approval"]["id"])) != "pending":
                asked = await stream.until("approval.requested")
        answer = {"decision": "allow_once"}
        await api.post(f"/api/approvals/{asked.data['approval']['id']}", answer)
    await (await house.request()).say("Done.")
    assert (await house.ended(run["id"]))["status"] == "completed"


async def _state(api: Api, session: str, approval: str) -> str:
    found = (await api.get(f"/api/sessions/{session}/approvals"))["approvals"]
    (state,) = [one["state"] for one in found if one["id"] == approval]
    return str(state)


async def test_titles_can_be_turned_off_and_on(api: Api, house: House) -> None:
    await change(api, titles=False)
    quiet = await house.session()
    await house.answered(quiet, "first", "Hello.")
    await change(api, titles=True)
    named = await house.session()
    await house.answered(named, "second", "Hello.")
    title = await house.request()
    assert "second" in title.prompt
    await title.say("A fine title")
    async with api.sse(f"/api/sessions/{named}/events") as stream:
        while (await stream.until("session.updated")).data["changes"].get("title_source") != "auto":
            pass
    assert (await api.get(f"/api/sessions/{quiet}"))["title_source"] == "provisional"


async def test_all_of_it_survives_a_crash(server: TenutoServer, api: Api) -> None:
    before = await change(
        api,
        default_model="openai/two",
        titles=False,
        permission_default="allow",
        permissions={"shell": "deny"},
    )
    await server.kill()
    await server.start()
    assert await api.get("/api/settings") == before
    assert (await api.get("/api/models"))["default"] == "openai/two"


async def test_changes_at_once_do_not_lose_each_other(api: Api) -> None:
    tools = [rule["name"] for rule in (await api.get("/api/settings"))["tools"]]
    wishes = [{"permissions": {tool: "deny"}} for tool in tools]
    await asyncio.gather(*(api.call("PATCH", "/api/settings", wish) for wish in wishes))
    assert (await api.get("/api/settings"))["permissions"] == dict.fromkeys(tools, "deny")


async def test_what_a_flag_or_a_variable_sets_is_fixed(tmp_path: Path, model: ModelServer) -> None:
    model.models = ["one", "two"]
    env = {"TENUTO_TITLES": "off", "TENUTO_PERMISSIONS": "deny"}
    flags = ["--model", "openai/two"]
    (tmp_path / "data").mkdir()
    kept = '{"default_model": "openai/one", "titles": true, "permission_default": "allow"}'
    (tmp_path / "data/settings.json").write_text(kept)
    async with TenutoServer(tmp_path, model_url=model.url, env=env, flags=flags) as server:
        api = Api(server.url, server.token)
        now = await api.get("/api/settings")
        assert now["fixed"] == {
            "default_model": "--model",
            "titles": "TENUTO_TITLES",
            "permission_default": "TENUTO_PERMISSIONS",
        }
        assert (now["default_model"], now["titles"], now["permission_default"]) == (
            "openai/two",
            False,
            "deny",
        )
        for wish, source in (
            ({"default_model": "openai/one"}, "--model"),
            ({"titles": True}, "TENUTO_TITLES"),
            ({"permission_default": None}, "TENUTO_PERMISSIONS"),
        ):
            answer = await api.call("PATCH", "/api/settings", wish)
            assert f"is set by {source}" in refused(answer, 422, "invalid_input")
        assert (await change(api, titles=False, permissions={"shell": "ask"}))["permissions"] == {
            "shell": "ask"
        }


async def test_what_the_file_sets_can_be_changed(tmp_path: Path, model: ModelServer) -> None:
    model.models = ["one", "two"]
    (tmp_path / "tenuto.toml").write_text('model = "openai/two"\npermissions = "deny"\n')
    async with TenutoServer(tmp_path, model_url=model.url, env=FREE) as server:
        api = Api(server.url, server.token)
        now = await api.get("/api/settings")
        assert (now["default_model"], now["permission_default"]) == ("openai/two", "deny")
        assert now["fixed"] == {}
        await change(api, default_model="openai/one", permission_default="ask")
        back = await change(api, default_model=None, permission_default=None)
        assert (back["default_model"], back["permission_default"]) == ("openai/two", "deny")


async def test_a_file_that_makes_no_sense_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/settings.json").write_text('{"titles": "perhaps"}')
    server = TenutoServer(tmp_path, model_url=None)
    await server.start_nowait()
    assert await server.wait() == 1
    assert "settings.json makes no sense" in server.log()
    assert "Traceback" not in server.log()


async def test_the_server_tells_about_itself(api: Api) -> None:
    about = await api.get("/api/about")
    assert about.keys() == {"name", "version", "embedded", "sandbox", "started_at"}
    assert about["name"] == "Tenuto"
    assert about["embedded"] == {"available": False, "fetched": False}


async def test_where_there_is_one_server_it_is_the_one_node(api: Api) -> None:
    (node,) = (await api.get("/api/nodes"))["nodes"]
    about = await api.get("/api/about")
    assert node.keys() == {
        "id",
        "name",
        "version",
        "state",
        "started_at",
        "seen_at",
        "active_runs",
    }
    assert (node["name"], node["state"], node["active_runs"]) == ("local", "alive", 0)
    assert node["version"] == about["version"]
    assert node["seen_at"] >= node["started_at"]
