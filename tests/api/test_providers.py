"""Providers that come and go while the server runs, and keys that never come out."""

import asyncio
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.api.contract.house import Api, Json, refused
from tests.support.model_server import ModelServer, answer
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

KEY = "sk-very-secret-0123456789"
ANOTHER_KEY = "another.secret/with+signs=="
EMBEDDED = {"TENUTO_EMBEDDED_ENABLED": "on"}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[TenutoServer]:
    """Without a provider, as after the first start."""
    async with TenutoServer(tmp_path, model_url=None, env=EMBEDDED) as server:
        yield server


@pytest.fixture
def api(server: TenutoServer) -> Api:
    return Api(server.url, server.token)


@pytest.fixture
def dead_url() -> Iterator[str]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


async def put(api: Api, model: ModelServer, name: str = "lab", **fields: object) -> Json:
    body = {"kind": "openai", "base_url": model.url, "key": KEY, **fields}
    answer = await api.call("PUT", f"/api/providers/{name}", body)
    assert answer.status == 200, answer
    provider: Json = answer.body
    return provider


async def providers(api: Api) -> list[Json]:
    found: list[Json] = (await api.get("/api/providers"))["providers"]
    return found


async def test_the_first_provider_takes_over_from_the_embedded_model(
    api: Api, model: ModelServer
) -> None:
    assert (await api.get("/api/models"))["default"] == "embedded/smollm2-135m"
    model.models = ["gpt-4", "gpt-5", "text-embedding-3", "gpt-5-mini"]
    assert await put(api, model) == {
        "name": "lab",
        "kind": "openai",
        "base_url": model.url,
        "key": "set",
        "source": "settings",
        "models": [],
        "offers": 3,
        "error": None,
    }
    found = await api.get("/api/models")
    assert [one["id"] for one in found["models"]] == ["lab/gpt-4", "lab/gpt-5", "lab/gpt-5-mini"]
    assert found["default"] == "lab/gpt-5"
    assert (await api.call("DELETE", "/api/providers/lab")).status == 204
    assert await providers(api) == []
    assert (await api.get("/api/models"))["default"] == "embedded/smollm2-135m"


async def test_the_next_run_uses_it_with_its_key(api: Api, model: ModelServer) -> None:
    await put(api, model)
    session = (await api.post("/api/sessions", {})).body["id"]
    await api.post(f"/api/sessions/{session}/runs", {"input": "hi"})
    exchange = await model.next_request()
    assert exchange.headers["Authorization"] == f"Bearer {KEY}"
    await exchange.say("Hello.")


async def test_a_run_under_way_keeps_its_provider_when_it_is_removed(
    api: Api, model: ModelServer
) -> None:
    await put(api, model)
    session = (await api.post("/api/sessions", {})).body["id"]
    run = (await api.post(f"/api/sessions/{session}/runs", {"input": "hi"})).body
    exchange = await model.next_request()
    await exchange.text("Still ")
    await api.call("DELETE", "/api/providers/lab")
    await exchange.text("here.")
    await exchange.finish()
    async with api.sse(f"/api/runs/{run['id']}/events") as stream:
        await stream.to_the_end()
    assert (await api.get(f"/api/runs/{run['id']}"))["status"] == "completed"
    (_, said) = (await api.get(f"/api/sessions/{session}/messages"))["messages"]
    assert said["parts"][0]["text"] == "Still here."
    lost = await api.post(f"/api/sessions/{session}/runs", {"input": "x", "model": run["model"]})
    refused(lost, 422, "model_not_found")


async def test_what_was_added_survives_a_crash(
    server: TenutoServer, api: Api, model: ModelServer
) -> None:
    await put(api, model, "lab")
    await put(api, model, "bench", key=ANOTHER_KEY, models=["by-hand"])
    before = await providers(api)
    await server.kill()
    await server.start()
    assert await providers(api) == before
    assert [p["name"] for p in before] == ["lab", "bench"]
    found = await api.get("/api/models")
    assert "bench/by-hand" in [one["id"] for one in found["models"]]


def files_with(server: TenutoServer, key: str) -> list[str]:
    files = [path for path in server.data.iterdir() if path.is_file()]
    return [path.name for path in files if key.encode() in path.read_bytes()]


async def test_a_key_is_encrypted_in_whatever_is_on_disk(
    server: TenutoServer, api: Api, model: ModelServer
) -> None:
    await put(api, model)
    await put(api, model, key=ANOTHER_KEY)
    assert files_with(server, KEY) == files_with(server, ANOTHER_KEY) == []
    assert stat.S_IMODE((server.data / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE((server.data / "tenuto.sqlite3").stat().st_mode) == 0o600


async def test_another_secret_stops_the_start_in_a_sentence_and_destroys_nothing(
    server: TenutoServer, api: Api, model: ModelServer
) -> None:
    await put(api, model)
    before = await providers(api)
    await server.kill()
    server.env["TENUTO_SECRET"] = "quite-another-secret"
    await server.start_nowait()
    assert await server.wait() == 1
    assert "encrypted with another secret" in server.log()
    assert "Traceback" not in server.log()
    del server.env["TENUTO_SECRET"]
    await server.start()
    assert await providers(api) == before


async def test_two_who_add_at_once_both_succeed(api: Api, model: ModelServer) -> None:
    names = [f"lab-{n}" for n in range(8)]
    await asyncio.gather(*(put(api, model, name) for name in names))
    assert sorted(p["name"] for p in await providers(api)) == names
    await asyncio.gather(*(api.call("DELETE", f"/api/providers/{name}") for name in names[:4]))
    assert sorted(p["name"] for p in await providers(api)) == names[4:]


async def test_a_key_is_kept_when_it_is_not_given_but_never_for_another_address(
    server: TenutoServer, api: Api, model: ModelServer, dead_url: str
) -> None:
    await put(api, model)
    again = await api.call(
        "PUT", "/api/providers/lab", {"kind": "openai", "base_url": model.url, "models": ["more"]}
    )
    assert (again.body["key"], again.body["models"]) == ("set", ["more"])
    elsewhere = {"kind": "openai", "base_url": dead_url}
    answer = await api.call("PUT", "/api/providers/lab", elsewhere)
    assert "give the key again" in refused(answer, 422, "invalid_input")
    tried = await api.post("/api/providers/test", {**elsewhere, "name": "lab"})
    assert "give the key again" in refused(tried, 422, "invalid_input")
    without = await api.call("PUT", "/api/providers/lab", {**elsewhere, "key": None})
    assert without.body["key"] == "missing"
    assert files_with(server, KEY) == []


async def test_a_key_never_comes_out(server: TenutoServer, api: Api, model: ModelServer) -> None:
    """Not in an answer, an event, an error or a log, whatever goes wrong with it."""
    await put(api, model)
    model.script(answer("Hello."))
    session = (await api.post("/api/sessions", {})).body["id"]
    fine = (await api.post(f"/api/sessions/{session}/runs", {"input": "hi"})).body["id"]
    async with api.sse(f"/api/runs/{fine}/events") as stream:
        await stream.to_the_end()
    model.script(lambda exchange: exchange.fail(401, f"the key {KEY} is wrong"))
    wrong = (await api.post(f"/api/sessions/{session}/runs", {"input": "hi"})).body["id"]
    async with api.sse(f"/api/runs/{wrong}/events") as stream:
        await stream.to_the_end()
    model.models_status = 500
    said = [
        await api.post(
            "/api/providers/test", {"kind": "openai", "base_url": model.url, "key": KEY}
        ),
        await api.call(
            "PUT", "/api/providers/lab", {"kind": "openai", "key": KEY, "base_url": "x"}
        ),
        await api.call("PUT", "/api/providers/lab", {"kind": "openai", "key": f"{KEY} {KEY}"}),
        await api.call("PUT", "/api/providers/lab", {"kind": KEY[:3], "key": [KEY]}),
        await api.post("/api/models/refresh"),
        *[await api.call("GET", path) for path in (await _paths(api, session, wrong))],
    ]
    async with api.sse(f"/api/sessions/{session}/events") as stream:
        await stream.until("run.finished", run_id=wrong)
        events = repr(stream.frames)
    metrics = await api.text("/metrics")
    export = await api.text(f"/api/sessions/{session}/export")
    for text in (repr(said), events, metrics, export, server.log()):
        assert KEY not in text
    assert "provider set" in server.log()


async def _paths(api: Api, session: str, run: str) -> list[str]:
    document = await api.get_unchecked("/openapi.json")
    paths = [path for path, calls in document["paths"].items() if "get" in calls]
    found = [p.replace("/runs/{id}", f"/runs/{run}").replace("{id}", session) for p in paths]
    return [path for path in found if "events" not in path and path.startswith("/api/")]


@pytest.mark.parametrize("name", ["Lab", "", "a/b", "x" * 33, "-lab", "la b", "embedded", "lÄb"])
async def test_a_bad_name_is_refused(api: Api, name: str) -> None:
    answer = await api.call("PUT", f"/api/providers/{name}", {"kind": "openai"})
    assert answer.status in (404, 422)
    assert await providers(api) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "ftp://127.0.0.1"},
        {"base_url": "127.0.0.1:80"},
        {"base_url": "http://"},
        {"base_url": "http://user:pass@127.0.0.1/v1"},
        {"base_url": "http://127.0.0.1/v1?key=x"},
        {"base_url": "http://127.0.0.1:99999"},
        {"base_url": "http://a b"},
        {"base_url": "http://" + "x" * 600},
        {"key": "two words"},
        {"key": "line\nbreak"},
        {"key": "ключ"},
        {"key": "x" * 5000},
        {"models": ["a b"]},
        {"models": [""]},
        {"models": "one"},
        {"kind": "gemini"},
        {"kind": None},
        {"colour": "blue"},
    ],
    ids=repr,
)
async def test_a_bad_provider_is_refused(shared: Api, wrong: Json) -> None:
    answer = await shared.call("PUT", "/api/providers/lab", {"kind": "openai", **wrong})
    refused(answer, 422, "invalid_input")
    assert (await shared.get("/api/providers"))["providers"] == []


async def test_what_was_never_added_cannot_be_removed(shared: Api) -> None:
    refused(await shared.call("DELETE", "/api/providers/nobody"), 404, "not_found")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """For tests that change nothing."""
    async with TenutoServer(tmp_path_factory.mktemp("shared"), model_url=None) as server:
        yield Api(server.url, server.token)


async def test_what_the_environment_and_the_file_say_is_shown_and_stays(
    tmp_path: Path, model: ModelServer
) -> None:
    file = f'[[providers]]\nname = "my.lab"\nkind = "openai"\nbase_url = "{model.url}"\n'
    (tmp_path / "tenuto.toml").write_text(file)
    async with TenutoServer(tmp_path, model_url=model.url) as server:
        api = Api(server.url, server.token)
        assert [(p["name"], p["source"], p["key"]) for p in await providers(api)] == [
            ("my.lab", "file", "missing"),
            ("openai", "environment", "set"),
        ]
        for name, why in (("my.lab", "tenuto.toml"), ("openai", "environment")):
            body = {"kind": "openai", "key": KEY}
            assert why in refused(
                await api.call("PUT", f"/api/providers/{name}", body), 403, "forbidden"
            )
            removed = await api.call("DELETE", f"/api/providers/{name}")
            assert why in refused(removed, 403, "forbidden")
            tried = await api.post("/api/providers/test", {"name": name})
            assert tried.body == {"ok": True, "models": ["test-model"], "error": None}


async def test_a_new_model_is_there_after_a_refresh(api: Api, model: ModelServer) -> None:
    await put(api, model)
    model.models = ["test-model", "brand-new"]
    listed = await api.get("/api/models")
    assert [one["id"] for one in listed["models"]] == ["lab/test-model"]
    fresh = (await api.post("/api/models/refresh")).body
    assert [one["id"] for one in fresh["models"]] == ["lab/test-model", "lab/brand-new"]


async def test_a_provider_in_trouble_says_so_and_is_kept(
    api: Api, model: ModelServer, dead_url: str
) -> None:
    added = await put(api, model, base_url=dead_url, models=["one"])
    assert (added["offers"], added["error"]) == (1, "lab could not be reached")
    assert (await api.get("/api/models"))["default"] == "lab/one"


async def test_a_preset_fills_in_what_is_left_out(api: Api, model: ModelServer) -> None:
    shown = (await api.get("/api/providers"))["presets"]
    assert {
        "name": "groq",
        "title": "Groq",
        "kind": "openai",
        "base_url": "https://api.groq.com/openai/v1",
        "key": "needed",
        "variable": "GROQ_API_KEY",
        "about": "A key from your Groq account.",
    } in shown
    added = await api.call("PUT", "/api/providers/vllm", {"base_url": model.url})
    assert (added.status, added.body["kind"]) == (200, "openai")
    tried = await api.call("POST", "/api/providers/test", {"name": "vllm", "base_url": model.url})
    assert tried.body["ok"]


async def test_a_name_that_is_no_presets_needs_a_kind(api: Api, model: ModelServer) -> None:
    for name in ("lab", "custom"):
        answer = await api.call("PUT", f"/api/providers/{name}", {"base_url": model.url})
        assert refused(answer, 422, "invalid_input"), answer
