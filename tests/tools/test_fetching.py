"""Fetching from the web, from a real server on loopback."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tenuto.agent.tools.web.address import is_public
from tenuto.ports.tool import GivenFile
from tests.agent.test_pdf import page, paper
from tests.strict.pictures import png
from tests.tools.desk import Desk, alive

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><html><head><title>A  page</title><style>p {}</style></head><body>
<script>alert("no")</script><h1>Head &amp; tail</h1><p>Some <b>bold</b>
text with <a href="/next?a=1">a link</a>.</p><ul><li>one</li><li>two</li></ul>
<pre>  kept
    as it is</pre></body></html>"""


class Site:
    """A web server that counts what it is asked."""

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.port = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.hits.append(f"{request.headers['Host']}{request.path}")
        match request.path:
            case "/page":
                return web.Response(text=PAGE, content_type="text/html")
            case "/json":
                return web.json_response({"a": 1})
            case "/latin":
                return web.Response(body=b"caf\xe9", content_type="text/plain", charset="latin-1")
            case "/image":
                return web.Response(body=b"\x89PNG\0", content_type="image/png")
            case "/dot.png":
                return web.Response(body=png(3, 2), content_type="application/octet-stream")
            case "/paper":
                return web.Response(body=paper(page("Hello there")), content_type="application/pdf")
            case "/big":
                return web.Response(text="x" * 300_000)
            case "/zip":
                packed = gzip.compress(b"unpacked " * 100)
                return web.Response(
                    body=packed, headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"}
                )
            case "/bomb":
                packed = zlib.compress(b"0" * 200_000_000, 9)
                headers = {"Content-Encoding": "deflate", "Content-Type": "text/plain"}
                return web.Response(body=packed, headers=headers)
            case "/slow":
                await asyncio.sleep(1000)
            case "/round":
                raise web.HTTPFound("/round")
            case "/moved":
                raise web.HTTPMovedPermanently("page")
            case "/to":
                raise web.HTTPFound(request.query["url"])
            case "/hard":
                return web.Response(text="<a " * 400_000, content_type="text/html")
        raise web.HTTPNotFound(text="no such thing here")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    app = web.Application()
    app.router.add_get("/{rest:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listener = socket.create_server(("0.0.0.0", 0))
    site.port = listener.getsockname()[1]
    await web.SockSite(runner, listener).start()
    yield site
    await runner.cleanup()


@pytest.fixture
def open_desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, allow_private_addresses=True, fetch_bytes=100_000, fetch_seconds=20)


async def test_a_page_comes_as_text_with_its_links(open_desk: Desk, site: Site) -> None:
    here = f"http://127.0.0.1:{site.port}"
    said = await open_desk.run("fetch_url", url=f"{here}/page")
    assert said.splitlines()[:3] == [f"{here}/page (text/html)", "", "A page"]
    assert "# Head & tail" in said
    assert f"Some bold text with [a link]({here}/next?a=1)." in said
    assert "- one\n- two" in said.replace("\n\n", "\n")
    assert "  kept\n    as it is" in said
    assert "alert" not in said
    assert "p {}" not in said


async def test_other_text_comes_as_it_is_in_its_own_charset(open_desk: Desk, site: Site) -> None:
    here = f"http://127.0.0.1:{site.port}"
    assert (await open_desk.run("fetch_url", url=f"{here}/json")).endswith('\n\n{"a": 1}')
    assert (await open_desk.run("fetch_url", url=f"{here}/latin")).endswith("\n\ncafé")
    assert (await open_desk.run("fetch_url", url=f"{here}/zip")).endswith("unpacked unpacked ")


async def test_an_image_is_given_to_be_seen_whatever_it_is_called(
    open_desk: Desk, site: Site
) -> None:
    url = f"http://127.0.0.1:{site.port}/dot.png"
    result = await open_desk.result("fetch_url", url=url)
    assert result.text == f"{url}: an image of 3 × 2 pixels."
    seen = GivenFile(name="dot.png", media_type="image/png", content=png(3, 2))
    assert result.files == (seen,)


async def test_a_pdf_comes_as_its_text(open_desk: Desk, site: Site) -> None:
    url = f"http://127.0.0.1:{site.port}/paper"
    said = await open_desk.run("fetch_url", url=url)
    assert said.startswith(f"{url} (application/pdf)\n\n")
    assert "Hello there" in said


async def test_binary_answers_are_refused_with_their_type(open_desk: Desk, site: Site) -> None:
    url = f"http://127.0.0.1:{site.port}/image"
    assert (
        await open_desk.failure("fetch_url", url=url) == f"{url} is image/png, 5 bytes, not text."
    )


async def test_an_error_of_the_site_is_said_with_its_words(open_desk: Desk, site: Site) -> None:
    url = f"http://127.0.0.1:{site.port}/gone"
    said = await open_desk.failure("fetch_url", url=url)
    assert said == f"{url} answered 404 Not Found.\nno such thing here"


async def test_redirects_are_followed_but_not_for_ever(open_desk: Desk, site: Site) -> None:
    here = f"http://127.0.0.1:{site.port}"
    said = await open_desk.run("fetch_url", url=f"{here}/moved")
    assert said.startswith(f"{here}/page (text/html)")
    assert "more than 10 times" in await open_desk.failure("fetch_url", url=f"{here}/round")


@pytest.mark.parametrize("path", ["/big", "/bomb"])
async def test_only_so_much_is_read_and_that_is_said(
    open_desk: Desk, site: Site, path: str
) -> None:
    said = await open_desk.run("fetch_url", url=f"http://127.0.0.1:{site.port}{path}")
    assert said.endswith("[only the first 100,000 bytes were read]")
    assert "output is capped at 30,000]" in said
    assert "[the whole output: `output:call_1` as path" in said
    assert open_desk.kept is not None and len(open_desk.kept.text) == 100_000
    assert len(said) < 31_000


async def test_a_site_that_does_not_answer_is_given_up(tmp_path: Path, site: Site) -> None:
    desk = Desk(tmp_path, allow_private_addresses=True, fetch_seconds=0.5)
    url = f"http://127.0.0.1:{site.port}/slow"
    said = await desk.failure("fetch_url", url=url)
    assert said == f"{url} did not answer within 0.5 seconds."


async def test_a_page_made_to_be_hard_to_read_is_given_up_and_leaves_no_process(
    tmp_path: Path, site: Site
) -> None:
    desk = Desk(tmp_path, allow_private_addresses=True, search_seconds=1)
    url = f"http://127.0.0.1:{site.port}/hard"
    assert (
        await desk.failure("fetch_url", url=url) == f"{url} is a page that takes too long to read."
    )
    assert [line for line in alive("page.py") if str(site.port) in line] == []


async def test_names_and_ports_that_lead_nowhere_are_said(open_desk: Desk, site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said = await open_desk.failure("fetch_url", url=f"http://127.0.0.1:{port}/")
    assert said == f"http://127.0.0.1:{port}/ could not be fetched: Connection refused."
    said = await open_desk.failure("fetch_url", url="http://no-such-name.invalid/")
    assert said == "http://no-such-name.invalid/ could not be fetched: its name is not known."


HERE = [
    "http://127.0.0.1:{port}/page",
    "http://localhost:{port}/page",
    "http://0x7f000001:{port}/page",
    "http://0.0.0.0:{port}/page",
    "http://[::1]:{port}/page",
    "http://[::ffff:127.0.0.1]:{port}/page",
    "http://[::ffff:7f00:1]:{port}/page",
    "http://[::]:{port}/page",
]


@pytest.mark.parametrize("url", HERE)
async def test_this_machine_is_never_asked_however_it_is_written(
    desk: Desk, site: Site, url: str
) -> None:
    said = await desk.failure("fetch_url", url=url.format(port=site.port))
    assert said.startswith("That address is private")
    assert site.hits == []


@pytest.mark.parametrize("host", ["127.1", "2130706433", "017700000001", "127.0.0.1.", "0"])
async def test_this_machine_is_not_reached_by_half_a_number(
    desk: Desk, site: Site, host: str
) -> None:
    await desk.failure("fetch_url", url=f"http://{host}:{site.port}/page")
    assert site.hits == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "data:text/plain,x",
        "/etc/passwd",
        "http://",
        "http:///x",
        "http://[::1",
        "http://example.com:99999/",
        "http://user:word@example.com/",
    ],
)
async def test_addresses_that_are_not_of_the_web_are_refused(open_desk: Desk, url: str) -> None:
    said = await open_desk.failure("fetch_url", url=url)
    assert "fetched" in said


async def test_a_redirect_to_a_private_address_is_not_followed(
    desk: Desk, site: Site, only_one_is_public: None
) -> None:
    start = f"http://127.0.0.1:{site.port}/to?url=http://127.0.0.2:{site.port}/page"
    assert (await desk.failure("fetch_url", url=start)).startswith("That address is private")
    start = f"http://127.0.0.1:{site.port}/to?url=file:///etc/passwd"
    assert "only http and https" in await desk.failure("fetch_url", url=start)
    assert site.hits == [f"127.0.0.1:{site.port}/to"] * 2


async def test_a_name_that_changes_its_address_gains_nothing(
    desk: Desk, site: Site, only_one_is_public: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.2"]
    monkeypatch.setattr(socket, "getaddrinfo", _names(answers))
    url = f"http://rebind.example:{site.port}/json"
    # The name goes to the server as it is, the address that was judged is the one asked.
    assert '{"a": 1}' in await desk.run("fetch_url", url=url)
    assert (await desk.failure("fetch_url", url=url)).startswith("That address is private")
    assert site.hits == [f"rebind.example:{site.port}/json"]


@pytest.fixture
def only_one_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 127.0.0.1 were out in the open and nothing else."""
    for module in ("address", "fetching"):
        monkeypatch.setattr(f"tenuto.agent.tools.web.{module}.is_public", _only_one)


def _only_one(host: str) -> bool:
    if any(letter.isalpha() for letter in host):
        raise ValueError(host)
    return host == "127.0.0.1"


def _names(answers: list[str]) -> Callable[..., list[Any]]:
    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]

    return getaddrinfo


PRIVATE = [
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "127.0.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "64:ff9b::a00:1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::808:808",
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


def test_private_addresses_are_known_in_every_dress() -> None:
    assert [text for text in PRIVATE if is_public(text)] == []


def test_public_addresses_are_let_through() -> None:
    assert [text for text in PUBLIC if not is_public(text)] == []
