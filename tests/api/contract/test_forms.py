"""Forms are read with a bound on everything, whoever sends them and whatever they say they are."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.api.contract.house import House, Json

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]

FILE_BYTES = 100_000
PIECE = b"x" * 10_000
UTF_8 = ["", "; charset=utf-8", '; charset="UTF-8"']
OTHERS = ["punycode", "undefined", "utf-7", "utf-16", "zlib", "idna", "no-such-thing", "\x80", '"']


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    return {"TENUTO_LIMITS_MAX_FILE_BYTES": str(FILE_BYTES)}


def part(name: str, value: bytes, *, filename: str | None = None) -> bytes:
    more = "" if filename is None else f'; filename="{filename}"'
    head = f'--BB\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode() + value + b"\r\n"


END = b"--BB--\r\n"


async def send(
    house: House, path: str, body: bytes | AsyncIterator[bytes], *, kind: str
) -> tuple[int, Json | None]:
    """Status and problem; the caller is known."""
    headers = {"Authorization": f"Bearer {house.server.token}", "Content-Type": kind}
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.post(house.server.url + path, data=body, allow_redirects=False) as response,
    ):
        is_json = "json" in response.headers.get("Content-Type", "")
        return response.status, await response.json(content_type=None) if is_json else None


def code(answer: tuple[int, Json | None]) -> tuple[int, str]:
    status, body = answer
    assert body is not None, answer
    return status, body["code"]


@pytest.mark.parametrize("charset", OTHERS)
@pytest.mark.parametrize("path", ["/login", "/api/files"])
async def test_a_form_in_another_charset_is_refused(house: House, path: str, charset: str) -> None:
    body = part("token", b"a" * 1000) + part("file", b"abc", filename="a") + END
    kind = f"multipart/form-data; boundary=BB; charset={charset}"
    assert code(await send(house, path, body, kind=kind)) == (422, "invalid_input")


@pytest.mark.parametrize("charset", UTF_8)
async def test_utf_8_may_be_named(house: House, charset: str) -> None:
    kind = f"multipart/form-data; boundary=BB{charset}"
    body = part("file", b"abc", filename="é.txt") + END
    status, info = await send(house, "/api/files", body, kind=kind)
    assert info is not None
    assert (status, info["name"]) == (201, "é.txt")
    body = part("token", house.server.token.encode()) + END
    assert (await send(house, "/login", body, kind=kind))[0] == 303


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"token=" + b"x" * 20_000),
        ("application/x-www-form-urlencoded", b"&" * 20_000),
        ("multipart/form-data; boundary=BB", part("token", b"x" * 20_000) + END),
    ],
)
async def test_a_login_has_few_bytes(house: House, kind: str, body: bytes) -> None:
    assert code(await send(house, "/login", body, kind=kind)) == (413, "payload_too_large")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"a=1&" * 100),
        ("multipart/form-data; boundary=BB", part("a", b"1") * 100 + END),
        ("multipart/form-data; boundary=BB", part("a", b"1", filename="a") + END),
        ("multipart/form-data; boundary=BB", b"nonsense"),
        ("multipart/form-data", b"nonsense"),
        ("application/json", b'{"token": "x"}'),
    ],
)
async def test_a_login_that_is_no_login_form_is_invalid(
    house: House, kind: str, body: bytes
) -> None:
    assert code(await send(house, "/login", body, kind=kind)) == (422, "invalid_input")


async def endless(head: bytes) -> AsyncIterator[bytes]:
    """More than any bound, without a length and without an end."""
    yield head
    for _ in range(400):
        yield PIECE
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("path", "kind", "head"),
    [
        (
            "/api/files",
            "multipart/form-data; boundary=BB",
            part("file", b"", filename="a").rstrip() + b"\r\n\r\n",
        ),
        ("/login", "application/x-www-form-urlencoded", b"token="),
    ],
)
async def test_what_does_not_say_its_length_is_refused_as_soon_as_it_is_too_long(
    house: House, path: str, kind: str, head: bytes
) -> None:
    async with asyncio.timeout(20):
        answer = await send(house, path, endless(head), kind=kind)
    assert code(answer)[0] in (413, 422)


async def test_an_upload_is_one_file_and_nothing_else(house: House) -> None:
    kind = "multipart/form-data; boundary=BB"
    file = part("file", b"abc", filename="a")
    assert (await send(house, "/api/files", file + END, kind=kind))[0] == 201
    for more in (part("a", b"1"), part("a", b"1" * 50_000), file):
        answer = await send(house, "/api/files", more + file + END, kind=kind)
        assert code(answer) == (422, "invalid_input")
