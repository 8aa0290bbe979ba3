"""The page: its files, how they are kept and packed, and the way in for who is not known."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from starlette.routing import Router
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from tenuto.api.page import PATHS, BuiltPage, is_page, own_path
from tenuto.core.principal import OWNER
from tests.support.server import TenutoServer

pytestmark = pytest.mark.anyio

SHOWN = ["/", "/s/ses_1", "/compare", "/compare/cmp_1", "/usage", "/settings", "/settings/models"]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[TenutoServer]:
    async with TenutoServer(tmp_path, model_url=None) as server:
        yield server


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder as the build leaves it."""
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>It</title>")
    script = b"export const answer = 42;"
    (folder / "assets/main-1a2b.js").write_bytes(script)
    (folder / "assets/main-1a2b.js.gz").write_bytes(gzip.compress(script))
    (folder / "assets/main-1a2b.js.br").write_bytes(b"as brotli")
    (folder / "manifest.webmanifest").write_text("{}")
    return folder


def client(folder: Path, *, known: bool = True) -> TestClient:
    router = Router(BuiltPage(folder).routes())

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"who": OWNER if known else None}
        await router(scope, receive, send)

    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize("path", SHOWN)
def test_every_address_of_the_page_is_the_page(built: Path, path: str) -> None:
    answer = client(built).get(path)
    assert (answer.status_code, answer.text) == (200, "<!doctype html><title>It</title>")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/html")


def test_every_kind_of_address_is_tried() -> None:
    patterns = [re.sub(r"{\w+}", "[^/]+", path) for path in PATHS]
    assert all(any(re.fullmatch(pattern, path) for path in SHOWN) for pattern in patterns)


def test_the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(built: Path) -> None:
    rules = dict(
        rule.strip().split(" ", 1)
        for rule in client(built).get("/").headers["content-security-policy"].split(";")
    )
    assert rules["default-src"] == "'none'"
    for kind in ("script-src", "style-src", "connect-src", "worker-src", "font-src"):
        assert rules[kind] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in str(rules) and "http" not in str(rules)


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", b"as brotli"),
        ("gzip;q=0.5", "gzip", b"export const answer = 42;"),
        ("", None, b"export const answer = 42;"),
        ("brotli", None, b"export const answer = 42;"),
    ],
)
def test_files_are_sent_packed_to_whoever_can_unpack_them(
    built: Path, accepted: str, encoding: str | None, body: bytes
) -> None:
    with client(built).stream(
        "GET", "/assets/main-1a2b.js", headers={"accept-encoding": accepted}
    ) as answer:
        raw = b"".join(answer.iter_raw())
        assert answer.headers.get("content-encoding") == encoding
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["content-type"].startswith("text/javascript")
    assert (gzip.decompress(raw) if encoding == "gzip" else raw) == body


def test_files_with_a_name_of_their_own_are_kept_for_ever_and_others_are_asked_for(
    built: Path,
) -> None:
    browser = client(built)
    kept = browser.get("/assets/main-1a2b.js").headers["cache-control"]
    assert "immutable" in kept and "max-age=31536000" in kept
    manifest = browser.get("/manifest.webmanifest")
    assert manifest.headers["cache-control"] == "no-cache"
    again = browser.get("/", headers={"if-none-match": browser.get("/").headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/assets/other.js", "/assets/../index.html", "/index.html.br", "/assets/main-1a2b.js.gz"],
)
def test_only_the_files_of_the_page_are_served(built: Path, path: str) -> None:
    assert client(built).get(path).status_code == 404


def test_a_page_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    answer = client(tmp_path / "nothing").get("/")
    assert answer.status_code == 200
    assert "make page" in answer.text and "/docs" in answer.text


def test_who_is_not_known_is_shown_the_way_in_and_back(built: Path) -> None:
    stranger = client(built, known=False)
    assert stranger.get("/").headers["location"] == "/login"
    deep = stranger.get("/s/ses_1?x=1")
    assert (deep.status_code, deep.headers["location"]) == (303, "/login?next=%2Fs%2Fses_1%3Fx%3D1")


@pytest.mark.parametrize(
    ("given", "goes_to"),
    [
        ("/s/ses_1", "/s/ses_1"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
    ],
)
def test_the_way_back_never_leads_to_another_host(given: str, goes_to: str) -> None:
    assert own_path(given) == goes_to


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/", True),
        ("/s/x", True),
        ("/settings", True),
        ("/api/x", False),
        ("/docs", False),
        ("*", False),
    ],
)
def test_only_the_pages_own_addresses_lead_to_the_way_in(path: str, page: bool) -> None:
    assert is_page(path) is page


async def test_the_printed_address_logs_in_and_leads_to_the_page(server: TenutoServer) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        async with http.get(f"{server.url}/s/ses_1", allow_redirects=False) as answer:
            assert answer.headers["Location"] == "/login?next=%2Fs%2Fses_1"
        async with http.get(f"{server.url}/login?token={server.token}&next=/s/ses_1") as answer:
            assert (answer.status, answer.url.path) == (200, "/s/ses_1")
        async with http.get(f"{server.url}/login?token={server.token}") as answer:
            assert (answer.status, answer.url.path) == (200, "/")
            assert "text/html" in answer.headers["Content-Type"]


async def test_the_form_remembers_the_way_back(server: TenutoServer) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        async with http.get(f'{server.url}/login?next=/s/"><script>') as answer:
            form = await answer.text()
        assert "<script>" not in form and 'name="next"' in form
        sent = {"token": server.token, "next": "/usage"}
        async with http.post(f"{server.url}/login", data=sent) as answer:
            assert (answer.status, answer.url.path) == (200, "/usage")
