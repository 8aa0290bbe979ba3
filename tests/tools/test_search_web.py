"""`search_web` against a server that answers in the true shapes of each service, and in bad ones."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tenuto.agent.tools.search_web import SearchWeb, Service, brave, searxng, tavily
from tenuto.core.value import CallId
from tenuto.ports.tool import Place, ToolFailed, ToolResult

pytestmark = pytest.mark.anyio

SEARXNG = {
    "query": "tides",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://example.org/tides",
            "title": "Tides &amp; currents",
            "content": "How the\n moon  does it.",
            "engine": "duckduckgo",
            "parsed_url": ["https", "example.org", "/tides", "", "", ""],
            "engines": ["duckduckgo"],
            "positions": [1],
            "score": 1.0,
            "category": "general",
        },
        {"url": "javascript:alert(1)", "title": "Bad", "content": "bad"},
        {"url": "https://example.org/none", "title": None},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": ["tide table"],
    "unresponsive_engines": [["qwant", "timeout"]],
}
BRAVE = {
    "type": "search",
    "query": {"original": "tides", "more_results_available": True},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Tides",
                "url": "https://example.org/tides",
                "is_source_local": False,
                "description": "How the <strong>moon</strong> does it, if 1 < 2.",
                "age": "May 1, 2026",
                "meta_url": {"scheme": "https", "netloc": "example.org"},
            }
        ],
    },
}
TAVILY = {
    "query": "tides",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {
            "url": "https://example.org/tides",
            "title": "Tides",
            "content": "How the moon does it.",
            "score": 0.9,
            "raw_content": None,
        }
    ],
    "response_time": 0.6,
}


class SearchServer:
    """Answers whatever the test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: Any = {}
        self.status = 200
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []
        self.headers: dict[str, str] = {}
        self.url = ""

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        self.asked.append((request.method, request.path, dict(request.query), body))
        self.headers = dict(request.headers)
        if isinstance(self.answer, bytes):
            return web.Response(status=self.status, body=self.answer)
        return web.json_response(self.answer, status=self.status)


@pytest.fixture
async def server() -> AsyncIterator[SearchServer]:
    server, app = SearchServer(), web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def search(service: Service, tmp_path: Path, query: str = "tides") -> ToolResult:
    place = Place(folder=tmp_path, call_id=CallId("call"), progress=lambda _: None)
    return await SearchWeb(service, "sk-secret").run({"query": query}, place)


async def test_searxng_is_asked_for_json(server: SearchServer, tmp_path: Path) -> None:
    server.answer = SEARXNG
    result = await search(searxng(server.url + "/"), tmp_path)
    assert server.asked == [("GET", "/search", {"q": "tides", "format": "json"}, None)]
    assert result.text == (
        "1. Tides & currents\n   https://example.org/tides\n   How the moon does it.\n"
        "2. (no title)\n   https://example.org/none\n   (no text)"
    )
    assert result.details == {"matches": 2}


async def test_brave_is_asked_with_its_key(server: SearchServer, tmp_path: Path) -> None:
    server.answer = BRAVE
    result = await search(brave(f"{server.url}/res/v1/web/search"), tmp_path)
    asked = ("GET", "/res/v1/web/search", {"q": "tides", "count": "10"}, None)
    assert server.asked == [asked]
    assert server.headers["X-Subscription-Token"] == "sk-secret"
    assert result.text == (
        "1. Tides\n   https://example.org/tides\n   How the moon does it, if 1 < 2."
    )
    server.answer = {"type": "search", "query": {"original": "x"}}
    assert (await search(brave(server.url), tmp_path)).text == "Nothing was found."


async def test_tavily_is_asked_with_its_key(server: SearchServer, tmp_path: Path) -> None:
    server.answer = TAVILY
    result = await search(tavily(f"{server.url}/search"), tmp_path)
    body = {"query": "tides", "max_results": 10, "search_depth": "basic"}
    assert server.asked == [("POST", "/search", {}, body)]
    assert server.headers["Authorization"] == "Bearer sk-secret"
    assert result.text.startswith("1. Tides\n   https://example.org/tides\n   How the moon")


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (403, {"detail": "sk-secret is wrong"}, "Tavily answered 403 Forbidden."),
        (302, {}, "Tavily answered 302 Found."),
        (200, b"<html>", "Tavily did not answer as it should."),
        (200, [], "Tavily did not answer as it should."),
        (200, {"results": None}, "Tavily did not answer as it should."),
        (200, {"results": ["x"]}, "Tavily did not answer as it should."),
        (200, b"[" * 100_000, "Tavily did not answer as it should."),
        (200, b" " * 3_000_000, "Tavily could not be reached."),
    ],
)
async def test_whatever_comes_is_a_failed_call_without_the_key(
    server: SearchServer, tmp_path: Path, status: int, answer: Any, said: str
) -> None:
    server.status, server.answer = status, answer
    with pytest.raises(ToolFailed) as caught:
        await search(tavily(server.url), tmp_path)
    assert str(caught.value) == said


async def test_nobody_there_is_a_failed_call(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match=r"^Brave could not be reached\.$"):
        await search(brave("http://127.0.0.1:9"), tmp_path)
    with pytest.raises(ToolFailed, match="empty"):
        await search(brave("http://127.0.0.1:9"), tmp_path, query="  ")
