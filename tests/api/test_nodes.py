"""Two servers on one PostgreSQL: one token, one truth for settings, folders where they are."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.api.contract.house import Api
from tests.support.model_server import ModelServer, answer
from tests.support.postgres import emptied_database, postgres_url
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

__all__ = ["postgres_url"]

SECRET = "one-secret-for-all-nodes"
SECONDS = 20.0


async def until(look: Callable[[], Awaitable[Any]]) -> Any:
    """What it found, as soon as it finds something."""
    with anyio.fail_after(SECONDS):
        while not (found := await look()):  # noqa: ASYNC110  another process has it
            await anyio.sleep(0.02)
    return found


class Pair:
    """Two servers, each with a data folder of its own, and a folder that both have."""

    def __init__(self, folder: Path, url: str, model: ModelServer) -> None:
        self.shared = folder / "shared"
        self.model = model
        env = {
            "TENUTO_DATABASE": url,
            "TENUTO_SECRET": SECRET,
            "TENUTO_TEST_FORGETFUL": "1",
            "TENUTO_WORKSPACES": str(self.shared),
            "TENUTO_LIMITS_LEASE_SECONDS": "5",
            "TENUTO_PERMISSIONS": "allow",
        }
        self.left, self.right = (
            TenutoServer(folder / name, model_url=model.url, env=env | {"TENUTO_NODE": name})
            for name in ("left", "right")
        )
        self.servers = (self.left, self.right)

    @property
    def apis(self) -> tuple[Api, Api]:
        left, right = (Api(server.url, server.token) for server in self.servers)
        return left, right


@pytest.fixture
async def pair(tmp_path: Path, postgres_url: str, model: ModelServer) -> AsyncIterator[Pair]:
    url = await emptied_database(postgres_url, "api_nodes")
    pair = Pair(tmp_path, url, model)
    for folder in (pair.shared, tmp_path / "left", tmp_path / "right"):
        folder.mkdir()
    async with pair.left, pair.right:
        yield pair


async def test_each_node_tells_of_both(pair: Pair) -> None:
    for api in pair.apis:

        async def names(api: Api = api) -> Any:
            nodes = (await api.get("/api/nodes"))["nodes"]
            return len(nodes) == 2 and {(n["name"], n["state"]) for n in nodes}

        assert await until(names) == {("left", "alive"), ("right", "alive")}


async def test_what_is_set_on_one_node_holds_on_the_other(pair: Pair) -> None:
    left, right = pair.apis
    await left.call("PATCH", "/api/settings", {"titles": False})
    await right.call("PATCH", "/api/settings", {"permissions": {"shell": "deny"}})

    for api in (left, right):

        async def both(api: Api = api) -> bool:
            now = await api.get("/api/settings")
            return (now["titles"], now["permissions"]) == (False, {"shell": "deny"})

        await until(both)


async def test_a_provider_that_is_added_on_one_node_answers_on_the_other(pair: Pair) -> None:
    left, right = pair.apis
    draft = {"kind": "openai", "base_url": pair.model.url, "key": "k-of-the-lab"}
    await left.call("PUT", "/api/providers/lab", draft)

    async def offered() -> bool:
        models = (await right.get("/api/models"))["models"]
        return "lab/test-model" in [model["id"] for model in models]

    await until(offered)
    pair.model.script(answer("Hello."))
    session = (await right.post("/api/sessions", {"model": "lab/test-model"})).body["id"]
    run = (await right.post(f"/api/sessions/{session}/runs", {"input": "hi", "mode": "chat"})).body
    async with right.sse(f"/api/runs/{run['id']}/events") as stream:
        await stream.to_the_end()
    assert pair.model.exchanges[-1].headers["Authorization"] == "Bearer k-of-the-lab"
    for server in pair.servers:
        assert "k-of-the-lab" not in server.log()


async def test_another_secret_is_said_at_the_start_and_the_rest_goes_on(pair: Pair) -> None:
    left, _ = pair.apis
    draft = {"kind": "openai", "base_url": pair.model.url, "key": "k-of-the-lab"}
    await left.call("PUT", "/api/providers/lab", draft)
    await pair.right.kill()
    pair.right.env["TENUTO_SECRET"] = "quite-another-secret"
    await pair.right.start_nowait()
    assert await pair.right.wait() == 1
    assert "encrypted with another secret" in pair.right.log()
    (lab,) = [p for p in (await left.get("/api/providers"))["providers"] if p["name"] == "lab"]
    assert lab["key"] == "set"


async def test_a_folder_of_one_node_waits_for_it_and_a_shared_one_does_not(
    pair: Pair, tmp_path: Path
) -> None:
    left, right = pair.apis
    default = await left.get("/api/workspaces/default")
    assert (default["home"], default["path"]) == ("shared", "default")
    own = tmp_path / "own"
    await anyio.Path(own).mkdir()
    new = {"name": "own", "path": str(own), "home": "left"}
    made = (await right.post("/api/workspaces", new)).body
    assert made["home"] == "left"
    await pair.left.kill()
    session = (await right.post("/api/sessions", {"workspace": made["id"]})).body["id"]
    run = (await right.post(f"/api/sessions/{session}/runs", {"input": "look"})).body["id"]

    async def waits() -> Any:
        return (await right.get(f"/api/runs/{run}"))["waiting"]

    assert await until(waits) == {"reason": "node_away", "attempt": 0, "until": None}
    pair.model.script(answer("Anywhere."))
    elsewhere = (await right.post("/api/sessions", {})).body["id"]
    other = (await right.post(f"/api/sessions/{elsewhere}/runs", {"input": "go"})).body["id"]
    async with right.sse(f"/api/runs/{other}/events") as stream:
        await stream.to_the_end()
    assert (await right.get(f"/api/runs/{run}"))["status"] == "queued"
    # What waits for its node can be stopped from any other.
    given_up = (await right.post(f"/api/sessions/{session}/runs", {"input": "and this"})).body["id"]
    stopped = await right.post(f"/api/runs/{given_up}/cancel")
    assert (stopped.status, stopped.body["status"]) == (200, "cancelled")
    await pair.left.start()
    async with right.sse(f"/api/runs/{run}/events") as stream:
        await stream.to_the_end()
    ended = await right.get(f"/api/runs/{run}")
    assert (ended["status"], ended["waiting"]) == ("completed", None)


async def test_without_a_given_token_both_have_the_same_one(pair: Pair) -> None:
    await pair.left.kill()
    await pair.right.kill()
    for server in pair.servers:
        server.env["TENUTO_TOKEN"] = ""
    await pair.left.start_nowait()
    await pair.right.start_nowait()

    async def said(server: TenutoServer) -> Any:
        return [word for word in server.log().split() if "/login?token=" in word]

    async def left() -> Any:
        return await said(pair.left)

    async def right() -> Any:
        return await said(pair.right)

    tokens = {(await until(one))[-1].partition("=")[2] for one in (left, right)}
    assert len(tokens) == 1


async def test_workers_are_nodes_behind_one_port_and_a_stop_drains_them(
    pair: Pair,
) -> None:
    await pair.left.kill()
    pair.left.env["TENUTO_WORKERS"] = "2"
    await pair.left.start()
    left, _ = pair.apis

    async def workers() -> Any:
        nodes = (await left.get("/api/nodes"))["nodes"]
        alive = {node["name"] for node in nodes if node["state"] == "alive"}
        return alive >= {"left-1", "left-2"}

    await until(workers)
    assert await pair.left.terminate() == 0
