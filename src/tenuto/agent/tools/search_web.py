"""`search_web`: what the web has to say, by whoever searches it for this server."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import aiohttp
import anyio
import msgspec
from msgspec import Meta

from tenuto.agent.tools.arguments import Arguments, read_arguments
from tenuto.agent.tools.built_in import schema_of
from tenuto.agent.tools.web.fetching import status_text
from tenuto.core.rule import Subject
from tenuto.core.text import cut, whole
from tenuto.core.value import Value
from tenuto.ports.model import ToolSpec
from tenuto.ports.tool import Parallel, Place, Site, Tool, ToolFailed, ToolResult

RESULTS = 10
ANSWER_BYTES = 2_000_000
SECONDS = 20.0
TITLE_CHARACTERS = 300
TEXT_CHARACTERS = 1_000
URL_CHARACTERS = 2_000
QUERY_CHARACTERS = 400
"""Brave takes no more."""
MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


class SearchRequest(Value):
    """What to send, in the words of one service."""

    method: str
    url: str
    query: dict[str, str] = msgspec.field(default_factory=dict)
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: dict[str, Any] | None = None


class Service(Value):
    """One that can search: how it is asked, and where in its answer the results are."""

    name: str
    ask: Callable[[str, str], SearchRequest]
    """With the query and the key."""
    results: Callable[[Any], Any]
    text: str
    """The field in which a result says what it is about."""


def searxng(url: str) -> Service:
    base = url.rstrip("/").removesuffix("/search")
    return Service(
        name="SearXNG",
        ask=lambda query, key: SearchRequest(
            method="GET", url=f"{base}/search", query={"q": query, "format": "json"}
        ),
        results=lambda answer: answer["results"],
        text="content",
    )


def brave(url: str = "") -> Service:
    return Service(
        name="Brave",
        ask=lambda query, key: SearchRequest(
            method="GET",
            url=url or "https://api.search.brave.com/res/v1/web/search",
            query={"q": query, "count": str(RESULTS)},
            headers={"X-Subscription-Token": key, "Accept": "application/json"},
        ),
        # Without any result it leaves `web` out.
        results=lambda answer: answer.get("web", {}).get("results", []),
        text="description",
    )


def tavily(url: str = "") -> Service:
    return Service(
        name="Tavily",
        ask=lambda query, key: SearchRequest(
            method="POST",
            url=url or "https://api.tavily.com/search",
            headers={"Authorization": f"Bearer {key}"},
            body={"query": query, "max_results": RESULTS, "search_depth": "basic"},
        ),
        results=lambda answer: answer["results"],
        text="content",
    )


class SearchWebArguments(Arguments):
    synonyms: ClassVar[Mapping[str, str]] = {"q": "query", "search": "query", "text": "query"}

    query: Annotated[
        str,
        Meta(
            min_length=1, description="What to look for, as one would type it into a search page."
        ),
    ]


class SearchWeb:
    """Implements `Tool`."""

    changes = True
    """It reaches out."""
    parallel = Parallel.NEVER
    spec = ToolSpec(
        name="search_web",
        description="Search the web. Gives titles, addresses and a few words of each result; read a "
        "page with fetch_url.",
        parameters=schema_of(SearchWebArguments),
    )

    def __init__(self, service: Service, key: str = "") -> None:
        self._service = service
        self._key = key

    async def subject(self, arguments: dict[str, Any], place: Place) -> Subject:
        return Subject(tool="search_web")

    async def run(self, arguments: dict[str, Any], place: Place) -> ToolResult:
        try:
            given, _ = read_arguments(arguments, SearchWebArguments)
        except msgspec.ValidationError as error:
            raise ToolFailed(f"Wrong arguments for search_web: {error}.") from error
        if not given.query.strip():
            raise ToolFailed("The query is empty.")
        found = self._read(await self._answer(cut(given.query.strip(), QUERY_CHARACTERS)))
        if not found:
            return ToolResult(text="Nothing was found.", details={"matches": 0})
        lines = [
            f"{n}. {title}\n   {url}\n   {text}" for n, (title, url, text) in enumerate(found, 1)
        ]
        return ToolResult(text="\n".join(lines), details={"matches": len(found)})

    async def _answer(self, query: str) -> Any:
        asked = self._service.ask(query, self._key)
        name = self._service.name
        try:
            with anyio.fail_after(SECONDS):
                async with (
                    aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
                    http.request(
                        asked.method,
                        asked.url,
                        params=asked.query,
                        headers=asked.headers,
                        json=asked.body,
                        allow_redirects=False,
                    ) as response,
                ):
                    # Its words may repeat the key: only the number is told.
                    if response.status != 200:
                        raise ToolFailed(f"{name} answered {status_text(response.status)}.")
                    return msgspec.json.decode(await _bounded(response))
        except TimeoutError as error:
            raise ToolFailed(f"{name} did not answer within {SECONDS:g} seconds.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ToolFailed(f"{name} could not be reached.") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ToolFailed(f"{name} did not answer as it should.") from error

    def _read(self, answer: Any) -> list[tuple[str, str, str]]:
        try:
            results = self._service.results(answer)
            shown = [_shown(one, self._service.text) for one in results[: RESULTS * 3]]
        except (AttributeError, KeyError, TypeError) as error:
            raise ToolFailed(f"{self._service.name} did not answer as it should.") from error
        return [one for one in shown if one is not None][:RESULTS]


class SearchTools:
    """Implements `Tools`: for every run, if somebody searches for this server."""

    def __init__(self, tool: SearchWeb | None) -> None:
        self._tools: Sequence[Tool] = () if tool is None else (tool,)

    def known(self) -> Sequence[Tool]:
        return self._tools

    async def for_run(self, site: Site) -> Sequence[Tool]:
        return self._tools


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for piece in response.content.iter_chunked(65_536):
        content += piece
        if len(content) > ANSWER_BYTES:
            raise aiohttp.ClientPayloadError("too long")
    return bytes(content)


def _shown(result: dict[str, Any], text: str) -> tuple[str, str, str] | None:
    """Title, address and words, made whole; None for one that leads nowhere."""
    url = result.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    title, about = (_plain(result.get(field)) for field in ("title", text))
    shown = cut(about, TEXT_CHARACTERS) or "(no text)"
    return cut(title, TITLE_CHARACTERS) or "(no title)", cut(url, URL_CHARACTERS), shown


def _plain(value: object) -> str:
    """Without markup, in one line."""
    text = html.unescape(MARKUP.sub("", value)) if isinstance(value, str) else ""
    return whole(" ".join(text.split()))
