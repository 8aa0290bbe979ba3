"""Looking at a blind comparison from every side that a client has."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.api.contract.house import Api, House, open_house
from tests.support.model_server import Exchange
from tests.support.raw import RawAnswer

Json = dict[str, Any]

SETTINGS = """
[[providers]]
name = "hangar"
kind = "openai"
base_url = "MODEL_URL"
api_key = "none"
[[providers.models]]
id = "zeppelin"
price = { input = 1000.0, output = 1000.0 }

[[providers]]
name = "burrow"
kind = "openai"
base_url = "MODEL_URL"
api_key = "none"
[[providers.models]]
id = "quokka"
price = { input = 10.0, output = 10.0 }
"""
MODELS = ["hangar/zeppelin", "burrow/quokka"]
NAMES = ("zeppelin", "quokka", "hangar", "burrow")
OF_THE_SETTINGS = {"/api/models", "/api/providers", "/api/settings", "/mcp/callback"}
"""They tell which models there are, and nothing of who is asked."""
OF_A_CALL = "{call_id}"
"""What a tool printed is told by the tool, and there is none that did."""
VARIANTS = {
    "/api/sessions": ("", "?q=hello", "?archived=true", "?workspace=default"),
    "/api/runs": ("", "?status=failed", "?status=running", "?status=cancelled"),
    "/api/sessions/{id}/messages": ("", "?limit=1"),
    "/api/sessions/{id}/export": ("?format=markdown", "?format=json"),
}


class Ears(Api):
    """Remembers every byte that it was ever answered."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self.heard: list[str] = []

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: dict[str, str] | None = None
    ) -> RawAnswer:
        answer = await super().call(method, path, body, headers=headers)
        self.heard.append(f"{method} {path} {answer.headers} {json.dumps(answer.body)}")
        return answer


class BlindHouse(House):
    api: Ears

    async def compare(self, models: list[str] = MODELS, **fields: Any) -> Json:
        answer = await self.api.post("/api/comparisons", {"models": models, **fields})
        assert answer.status == 201, answer
        found: Json = answer.body
        return found

    async def asked(self, comparison: Json, **fields: Any) -> list[Exchange]:
        """One prompt to every pane; the request of each, in the order of the panes."""
        panes = [pane["session_id"] for pane in comparison["panes"]]
        for session_id in panes:
            await self.prompt(session_id, f"hello from {session_id}", **fields)
        found = [await self.request() for _ in panes]
        return [next(e for e in found if e.prompt.endswith(session_id)) for session_id in panes]

    async def runs_of(self, session_id: str) -> list[Json]:
        """Oldest first."""
        found: list[Json] = (await self.api.get(f"/api/sessions/{session_id}/runs"))["runs"]
        return list(reversed(found))


@asynccontextmanager
async def open_blind_house(folder: Path) -> AsyncIterator[BlindHouse]:
    async with open_house(folder, {"TENUTO_TITLES": "on"}, settings_file=SETTINGS) as opened:
        opened.model.models = ["zeppelin", "quokka"]
        house = BlindHouse(opened.model, opened.server)
        house.api = Ears(opened.server.url, opened.server.token)
        yield house


async def everything(house: BlindHouse, comparison: Json) -> str:
    """All that any GET and any stream shows now, but for what the settings say."""
    sessions = [pane["session_id"] for pane in comparison["panes"]]
    runs = [run for session_id in sessions for run in await house.runs_of(session_id)]
    ids = {
        "sessions": sessions,
        "runs": [run["id"] for run in runs],
        "workspaces": ["default"],
        "comparisons": [comparison["id"]],
        "files": [],
        "jobs": [],
    }
    seen = [
        await _text(house, path)
        for path in await _paths(house, ids)
        if not path.endswith("/events")
    ]
    for session_id in sessions:
        seen += await _session_streams(house, session_id)
    seen += [await _text(house, f"/api/runs/{run['id']}/events") for run in runs if run["reason"]]
    seen.append(await _first_frame(house, "/api/workspaces/default/events?after=now"))
    seen.append(await _many(house, sessions))
    return "\n".join(seen)


def told(text: str, names: Iterable[str] = NAMES) -> list[str]:
    """Where the text names a model or its provider, or says what it costs."""
    found = [f"…{text[max(0, m.start() - 200) : m.end() + 40]}…" for m in _any_of(names, text)]
    return found + re.findall(r'"cost_usd": ?[0-9.]+', text)


def _any_of(names: Iterable[str], text: str) -> list[re.Match[str]]:
    return list(re.finditer("|".join(names), text, re.IGNORECASE))


async def _paths(house: BlindHouse, ids: dict[str, list[str]]) -> list[str]:
    """Every GET of the server's own description, with every id."""
    document = await house.api.get_unchecked("/openapi.json")
    found: list[str] = []
    for path, calls in document["paths"].items():
        if "get" not in calls or path in OF_THE_SETTINGS or path == "/api/events":
            continue
        if OF_A_CALL in path:
            continue
        kind = path.split("/")[2] if path.startswith("/api/") else ""
        for variant in VARIANTS.get(path, ("",)):
            places = ids[kind] if "{id}" in path else [""]
            found += [path.replace("{id}", id) + variant for id in places]
    return found


async def _session_streams(house: BlindHouse, session_id: str) -> list[str]:
    head = (await house.api.get(f"/api/sessions/{session_id}"))["head"]
    path = f"/api/sessions/{session_id}/events"
    seen = [await _first_frame(house, f"{path}?after=now")]
    if head:
        seen.append(await _text(house, path, lambda text: f"id: {head}\n" in text))
    return seen


async def _many(house: BlindHouse, sessions: list[str]) -> str:
    heads = {(await house.api.get(f"/api/sessions/{one}"))["head"]: one for one in sessions}
    query = "&".join(f"session={one}:0" for one in sessions)

    def whole(text: str) -> bool:
        frames = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: ")]
        there = {(frame.get("seq"), frame.get("session_id")) for frame in frames}
        return all((head, one) in there for head, one in heads.items() if head)

    first = await _first_frame(house, f"/api/events?{query}&workspace=default:now&messages=5")
    return first + await _text(house, f"/api/events?{query}&workspace=default:now", whole)


async def _first_frame(house: BlindHouse, path: str) -> str:
    return await _text(house, path, lambda text: "\n\n" in text)


async def _text(
    house: BlindHouse, path: str, enough: Callable[[str], bool] = lambda text: False
) -> str:
    """The answer with its headers; of a stream, as much as is enough, in whole lines."""
    headers = {"Authorization": f"Bearer {house.server.token}"}
    async with (
        asyncio.timeout(20),
        aiohttp.ClientSession(headers=headers, read_bufsize=2**20) as http,
        http.get(house.server.url + path) as response,
    ):
        assert response.status == 200, (path, response.status)
        text = ""
        async for line in response.content:
            text += line.decode()
            if line == b"\n" and enough(text):
                break
    return f"GET {path}\n{response.headers}\n{text}"
