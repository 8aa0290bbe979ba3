"""What the server says of itself: models, health, metrics and its own description."""

import re
from typing import Any

import aiohttp
import pytest

from tests.api.contract.house import Api, House
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio

CALLS = """
GET /healthz
GET /readyz
GET /metrics
GET /api/models
POST /api/workspaces
GET /api/workspaces
GET /api/workspaces/{id}
PATCH /api/workspaces/{id}
DELETE /api/workspaces/{id}
GET /api/workspaces/{id}/events
POST /api/sessions
GET /api/sessions
GET /api/sessions/{id}
PATCH /api/sessions/{id}
DELETE /api/sessions/{id}
GET /api/sessions/{id}/messages
GET /api/sessions/{id}/events
POST /api/sessions/{id}/runs
GET /api/sessions/{id}/runs
GET /api/runs
GET /api/runs/{id}
GET /api/runs/{id}/events
POST /api/sessions/{id}/cancel
POST /api/runs/{id}/cancel
PATCH /api/runs/{id}
DELETE /api/runs/{id}
POST /api/runs/{id}/continue
POST /api/sessions/{id}/undo
POST /api/sessions/{id}/retry
POST /api/sessions/{id}/edit
POST /api/sessions/{id}/fork
POST /api/sessions/{id}/compact
GET /api/sessions/{id}/approvals
POST /api/approvals/{id}
POST /api/files
GET /api/files/{id}
POST /api/comparisons
GET /api/comparisons/{id}
POST /api/comparisons/{id}/vote
POST /api/comparisons/{id}/keep
GET /api/comparisons/scoreboard
GET /api/events
"""
EVENTS = (
    "run.accepted run.started run.updated run.finished message.started part.started part.updated "
    "part.delta message.finished approval.requested approval.resolved session.updated "
    "session.rewound session.deleted session.compacted"
)


async def test_models_are_listed_with_what_they_can(api: Api, model: ModelServer) -> None:
    found = await api.get("/api/models")
    assert found["default"] == "openai/test-model"
    (one,) = found["models"]
    assert (one["id"], one["name"], one["provider"]) == (
        "openai/test-model",
        "test-model",
        "openai",
    )
    assert one["context_window"] > 0
    assert "tools" in one["capabilities"]


async def test_health_is_told_to_anyone(house: House) -> None:
    async with aiohttp.ClientSession() as http:
        for path in ("/healthz", "/readyz"):
            async with http.get(house.server.url + path) as response:
                assert response.status == 200


@pytest.mark.one_node("each node counts for itself")
async def test_metrics_count_what_happens(house: House, session_id: str) -> None:
    before = await house.api.text("/metrics")
    await house.answered(session_id, "hi", "Hello.")
    after = await house.api.text("/metrics")
    ended = 'tenuto_runs_ended_total{reason="end_turn",status="completed"}'
    assert _value(after, "tenuto_runs_accepted_total") == 1 + _value(
        before, "tenuto_runs_accepted_total"
    )
    assert _value(after, ended) == 1 + _value(before, ended)
    assert re.search(r"^# TYPE tenuto_active_runs gauge$", after, re.MULTILINE)


def _value(text: str, name: str) -> float:
    lines = [line for line in text.splitlines() if line.startswith(name + " ")]
    return float(lines[0].rsplit(" ", 1)[1]) if lines else 0.0


async def test_every_call_of_the_contract_is_described(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    described = {
        f"{method.upper()} {path}" for path, calls in document["paths"].items() for method in calls
    }
    assert set(CALLS.strip().splitlines()) <= described


async def test_the_description_is_sound(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] and document["info"]["version"]
    names = set(document["components"]["schemas"])
    for reference in _values(document, "$ref"):
        assert reference.removeprefix("#/components/schemas/") in names
    operations = [call for calls in document["paths"].values() for call in calls.values()]
    ids = [call["operationId"] for call in operations]
    assert len(ids) == len(set(ids))
    for path, calls in document["paths"].items():
        for call in calls.values():
            given = {p["name"] for p in call["parameters"] if p["in"] == "path"}
            assert given == set(re.findall(r"{(\w+)}", path))
            assert {"400", "403", "431", "500"} <= call["responses"].keys()
            assert any(status.startswith("2") for status in call["responses"])


async def test_only_these_need_no_token(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    assert document["security"]
    calls = {(p, m): call for p, calls in document["paths"].items() for m, call in calls.items()}
    assert {key for key, call in calls.items() if call.get("security") == []} == {
        ("/healthz", "get"),
        ("/readyz", "get"),
    }
    without = {key for key, call in calls.items() if "401" not in call["responses"]}
    assert without == {("/healthz", "get"), ("/readyz", "get")}


STREAMS = {
    ("/api/sessions/{id}/events", "get"),
    ("/api/runs/{id}/events", "get"),
    ("/api/workspaces/{id}/events", "get"),
    ("/api/events", "get"),
    ("/api/sessions/{id}/runs", "post"),
    ("/api/sessions/{id}/retry", "post"),
    ("/api/sessions/{id}/edit", "post"),
    ("/api/runs/{id}/continue", "post"),
    ("/api/comparisons/{id}/runs", "post"),
}


async def test_every_stream_is_described(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    streaming = {
        (path, method)
        for path, calls in document["paths"].items()
        for method, call in calls.items()
        if "text/event-stream" in call["responses"].get("200", {}).get("content", {})
    }
    assert streaming == STREAMS


async def test_parameters_have_types_and_ranges(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    given = {
        p["name"]: p["schema"]
        for path in ("/api/sessions", "/api/runs", "/api/usage", "/api/events")
        for p in document["paths"][path]["get"]["parameters"]
    }
    assert given["limit"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert given["days"] == {"type": "integer", "minimum": 1, "maximum": 366, "default": 30}
    assert given["archived"] == {"type": "boolean", "default": False}
    assert "running" in given["status"]["enum"]
    assert given["session"] == {"type": "array", "items": {"type": "string"}, "maxItems": 200}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/sessions", {"GET", "HEAD", "POST"}),
        ("/api/sessions/x", {"GET", "HEAD", "PATCH", "DELETE"}),
        ("/api/settings", {"GET", "HEAD", "PATCH"}),
        ("/api/providers/x", {"PUT", "DELETE"}),
        ("/healthz", {"GET", "HEAD"}),
    ],
)
async def test_a_method_that_is_not_there_is_told_which_are(
    api: Api, path: str, allowed: set[str]
) -> None:
    for method in ("TRACE", "OPTIONS"):
        answer = await api.call(method, path)
        assert answer.status == 405
        assert set(answer.headers["Allow"].split(", ")) == allowed


async def test_what_creates_something_takes_a_key(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    keyed = {
        path
        for path, calls in document["paths"].items()
        if "Idempotency-Key" in _values(calls.get("post", {}), "name")
    }
    assert keyed == {
        "/api/mcp/{name}/read",
        "/api/workspaces",
        "/api/sessions",
        "/api/sessions/{id}/runs",
        "/api/sessions/{id}/retry",
        "/api/sessions/{id}/edit",
        "/api/sessions/{id}/fork",
        "/api/sessions/{id}/compact",
        "/api/runs/{id}/continue",
        "/api/files",
        "/api/comparisons",
        "/api/comparisons/{id}/runs",
        "/api/comparisons/{id}/vote",
    }


async def test_every_event_is_described(api: Api) -> None:
    document = await api.get_unchecked("/openapi.json")
    schemas = document["components"]["schemas"]
    kinds = {
        kind
        for reference in _values(schemas["Event"], "$ref")
        for kind in schemas[reference.rsplit("/", 1)[-1]]["properties"]["type"]["enum"]
    }
    assert set(EVENTS.split()) <= kinds


async def test_the_description_can_be_browsed(house: House) -> None:
    page = await house.api.text("/docs")
    for path in re.findall(r'(?:href|src)="(/[^"]+)"', page):
        assert await house.api.text(path)
    assert "http://" not in page and "https://" not in page


def _values(node: Any, key: str) -> list[Any]:
    """All values of a key, anywhere below."""
    if isinstance(node, list):
        return [value for item in node for value in _values(item, key)]
    if isinstance(node, dict):
        own = [node[key]] if isinstance(node.get(key), str) else []
        return own + [value for item in node.values() for value in _values(item, key)]
    return []
