"""Fetching from a web server that wishes us ill."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.tools.web.charset import codec_for
from tests.tools.desk import Desk

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]

Send = Callable[[bytes], Awaitable[None]]


class HostileSite:
    """Answers each request with what the test says, byte by byte, until the client has enough."""

    def __init__(self, answer: Callable[[Send], Awaitable[None]]) -> None:
        self._answer = answer
        self.url = ""
        self.cut_off = False
        """The client left before it had everything."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            await reader.readuntil(b"\r\n\r\n")
            await self._answer(send)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.cut_off = True
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def site(answer: Callable[[Send], Awaitable[None]]) -> AsyncIterator[HostileSite]:
    made = HostileSite(answer)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server:
        yield made


def answer(head: bytes, body: bytes) -> Callable[[Send], Awaitable[None]]:
    async def all_at_once(send: Send) -> None:
        length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
        await send(b"HTTP/1.1 " + head + b"\r\n" + length + body)

    return all_at_once


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, allow_private_addresses=True)


BROKEN = {
    "utf-7": b"+2AA-",
    "unicode_escape": b"\\ud800",
    "raw_unicode_escape": b"\\ud800",
    "zlib": zlib.compress(b"x"),
    "hex": b"61",
    "base64": b"YQ==",
    "bz2": b"x",
    "rot13": b"x",
    "undefined": b"x",
    "idna": b"xn--a",
    "\xff": b"x",
    "x" * 5000: b"x",
}


@pytest.mark.parametrize("charset", BROKEN)
@pytest.mark.parametrize("status", [b"200 OK", b"404 Not Found"])
async def test_a_charset_that_no_page_may_name_is_read_as_utf_8(
    desk: Desk, charset: str, status: bytes
) -> None:
    head = status + b"\r\nContent-Type: text/plain; charset=" + charset.encode("latin-1")
    async with site(answer(head, BROKEN[charset])) as there:
        call = desk.failure if status.startswith(b"404") else desk.run
        said = await call("fetch_url", url=there.url)
    said.encode()
    assert "\ud800" not in said
    assert BROKEN[charset].decode("utf-8", "replace").strip() in said


async def test_a_charset_that_takes_quadratic_time_is_not_used(desk: Desk) -> None:
    body = b"a" * 4_000_000 + "é".encode()
    async with site(answer(b"200 OK\r\nContent-Type: text/plain; charset=punycode", body)) as there:
        said = await desk.run("fetch_url", url=there.url)
    assert "[3,970,001 characters left out here" in said
    page = b"<meta charset=punycode><p>" + b"a" * 4_000_000
    async with site(answer(b"200 OK\r\nContent-Type: text/html", page)) as there:
        assert "left out here" in await desk.run("fetch_url", url=there.url)


KNOWN = {
    "Shift_JIS": ("日本語", "shift_jis"),
    "windows-1251": ("привет", "cp1251"),
    "gb2312": ("中文", "gb2312"),
    "EUC-KR": ("한국어", "euc_kr"),
    "ISO-8859-1": ("café €", "cp1252"),
    "latin-1": ("café", "latin-1"),
    "utf-16": ("hello", "utf-16"),
    "UTF-8": ("\ufeffhello", "utf-8"),
    "koi8-r": ("привет", "koi8_r"),
    "big5": ("中文", "big5"),
}


@pytest.mark.parametrize("charset", KNOWN)
async def test_the_charsets_of_the_web_are_read(desk: Desk, charset: str) -> None:
    text, codec = KNOWN[charset]
    head = b"200 OK\r\nContent-Type: text/plain; charset=" + charset.encode()
    async with site(answer(head, text.encode(codec))) as there:
        said = await desk.run("fetch_url", url=there.url)
    assert said.endswith("\n\n" + text.lstrip("\ufeff"))


MORE = ["gb18030", "iso-2022-jp", "utf-16le", "utf-16be", "euc-jp", "x-mac-cyrillic", "windows-874"]


@given(label=st.text() | st.sampled_from([*KNOWN, *MORE]), body=st.binary(max_size=200))
def test_no_label_and_no_body_make_text_that_cannot_be_stored(label: str, body: bytes) -> None:
    body.decode(codec_for(label), "replace").encode()


@pytest.mark.parametrize("header", [b"\xff", b"br", b"gzip, gzip", b"x" * 5000, b"identity;"])
async def test_an_odd_packing_is_refused_with_a_sentence(desk: Desk, header: bytes) -> None:
    async with site(answer(b"200 OK\r\nContent-Encoding: " + header, b"x")) as there:
        said = await desk.failure("fetch_url", url=there.url)
    said.encode()
    assert said.startswith("The answer is packed as ")
    assert len(said) < 200


@pytest.mark.parametrize("kind", [b"\xff/\xfe", b"text/\xff", b"text/plain; charset=\xff", b""])
async def test_an_odd_type_of_content_is_refused_or_read(desk: Desk, kind: bytes) -> None:
    async with site(answer(b"200 OK\r\nContent-Type: " + kind, b"body")) as there:
        readable = kind.startswith(b"text")
        call = desk.run if readable else desk.failure
        said = await call("fetch_url", url=there.url)
    said.encode()
    assert said.endswith("body" if readable else "4 bytes, not text.")


@pytest.mark.parametrize("packing", ["gzip", "deflate"])
async def test_what_comes_behind_the_end_of_a_packed_answer_is_left(
    desk: Desk, packing: str
) -> None:
    packed = gzip.compress(b"packed") if packing == "gzip" else zlib.compress(b"packed")

    async def endless(send: Send) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: {packing}\r\n\r\n"
        await send(head.encode() + packed)
        while True:
            await send(b"rubbish " * 8192)

    async with site(endless) as there:
        assert (await desk.run("fetch_url", url=there.url)).endswith("\n\npacked")


async def _continue_for_ever(send: Send) -> None:
    while True:
        await send(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


async def _one_header_for_ever(send: Send) -> None:
    await send(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        await send(b"x" * 65536)


async def _headers_for_ever(send: Send) -> None:
    await send(b"HTTP/1.1 200 OK\r\n")
    while True:
        await send(b"X: y\r\n" * 1000)


async def _status_for_ever(send: Send) -> None:
    await send(b"HTTP/1.1 200 ")
    while True:
        await send(b"x" * 65536)


async def _chunk_head_for_ever(send: Send) -> None:
    await send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
    while True:
        await send(b"x" * 65536)


FLOODS = [
    _continue_for_ever,
    _one_header_for_ever,
    _headers_for_ever,
    _status_for_ever,
    _chunk_head_for_ever,
]


@pytest.mark.parametrize("flood", FLOODS)
async def test_an_answer_that_never_begins_is_given_up_long_before_its_time(
    desk: Desk, flood: Callable[[Send], Awaitable[None]]
) -> None:
    async with site(flood) as there:
        said = await desk.failure("fetch_url", url=there.url)
        # Not by the time limit, which has a sentence of its own.
        assert said.startswith(f"{there.url} could not be fetched: ")


async def test_a_body_in_pieces_of_one_byte_is_read_as_far_as_may_be(tmp_path: Path) -> None:
    desk = Desk(tmp_path, allow_private_addresses=True, fetch_bytes=100_000)

    async def crumbs(send: Send) -> None:
        kind = b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        await send(b"HTTP/1.1 200 OK\r\n" + kind)
        while True:
            await send(b"1\r\nx\r\n" * 5000)

    async with site(crumbs) as there:
        said = await desk.run("fetch_url", url=there.url)
    assert said.endswith("[only the first 100,000 bytes were read]")


@pytest.mark.parametrize("target", [b"\xff\xfe", b"//[", b"http://", b"x" * 8000, b"\\\\a@b"])
async def test_an_odd_redirect_ends_with_a_sentence(desk: Desk, target: bytes) -> None:
    async with site(answer(b"302 Found\r\nLocation: " + target, b"")) as there:
        said = await desk.failure("fetch_url", url=there.url)
    said.encode()
    assert "error in the server" not in said
