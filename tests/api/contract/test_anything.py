"""Anything at all in any field of a request: an answer that blames the client, and a server as before."""

import base64
import json
import re
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple
from urllib.parse import quote_from_bytes

import anyio.to_thread
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.contract.house import House
from tests.support.model_server import answer

pytestmark = [pytest.mark.anyio, pytest.mark.guarantee("E1")]

HEADERS = [
    "Accept",
    "Accept-Encoding",
    "Authorization",
    "Connection",
    "Content-Type",
    "Cookie",
    "Expect",
    "Host",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "Origin",
    "Range",
    "Referer",
    "Sec-Fetch-Site",
    "Upgrade",
    "X-Forwarded-For",
    "X",
]
QUERIES = [
    "after",
    "archived",
    "before",
    "cursor",
    "days",
    "format",
    "limit",
    "messages",
    "next",
    "q",
    "session",
    "status",
    "token",
]
PAGES = [("GET", path) for path in ("/", "/login", "/docs", "/s/{id}", "/settings/{id}", "/{id}")]
MANY = settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

anything = st.binary(max_size=60) | st.text(max_size=60).map(
    lambda text: text.encode("utf-8", "surrogatepass")
)
in_a_line = anything.map(lambda value: re.sub(rb"[\x00-\x08\x0a-\x1f\x7f]", b"", value))
"""Without what no parser of HTTP lets through to the server's own code."""
numbers = st.integers() | st.floats() | st.sampled_from([2**31, 2**53, 2**63, 2**64, -(2**63) - 1])
cursors = st.tuples((numbers | st.text(max_size=9)).map(str), st.text(max_size=9)).map(
    lambda place: base64.urlsafe_b64encode(json.dumps(place).encode())
)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)


class Known(NamedTuple):
    """What the server has, so that not everything is `not_found`."""

    house: House
    calls: list[tuple[str, str]]
    fields: dict[tuple[str, str], list[str]]
    ids: list[str]


@pytest.fixture(scope="module")
async def known(shared_house: House) -> AsyncIterator[Known]:
    document = await shared_house.api.get_unchecked("/openapi.json")
    calls = [(m.upper(), path) for path, calls in document["paths"].items() for m in calls]
    session_id = await shared_house.session()
    shared_house.model.script(answer("Hello."))
    run = await shared_house.ended((await shared_house.prompt(session_id))["id"])
    comparison = {"models": ["openai/test-model"] * 2}
    made = (await shared_house.api.post("/api/comparisons", comparison)).body["id"]
    yield Known(
        house=shared_house,
        calls=calls + PAGES,
        fields={call: _fields(document, call) for call in calls},
        ids=[session_id, run["id"], made, "default"],
    )
    assert '"level":"error"' not in shared_house.server.log()
    for path in ("/healthz", "/readyz"):
        assert (await shared_house.api.call("GET", path)).status == 200


def _fields(document: dict[str, Any], call: tuple[str, str]) -> list[str]:
    """The names that the body of this call may have."""
    body = document["paths"][call[1]][call[0].lower()].get("requestBody", {})
    schema = body.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rsplit("/", 1)[-1]
    return list(document["components"]["schemas"].get(name, {}).get("properties", {}))


def status_of(
    house: House, method: str, target: bytes, headers: list[tuple[str, bytes]], body: bytes = b""
) -> int:
    """The status of the answer; what comes behind it is left unread."""
    lines = [
        b"%b %b HTTP/1.1" % (method.encode(), target),
        b"Host: localhost",
        b"Authorization: Bearer " + house.server.token.encode(),
        *(name.encode() + b": " + value for name, value in headers),
        b"Content-Length: %d" % len(body),
    ]
    with socket.create_connection(("127.0.0.1", house.server.port), timeout=20) as line:
        line.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        with line.makefile("rb") as said:
            while (first := said.readline()).startswith(b"HTTP/1.1 100") or first == b"\r\n":
                pass
    return int(first.split()[1])


def mostly(usual: list[bytes], odd: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Odd once in a while: where everything is odd, nothing but the first oddity is ever seen."""
    return st.sampled_from(range(6)).flatmap(lambda n: odd if n == 5 else st.sampled_from(usual))


def target(draw: Callable[..., Any], known: Known, path: str) -> bytes:
    """An address with anything in its fields, escaped as it should be or not at all."""
    escaped = anything.map(lambda value: quote_from_bytes(value, safe="").encode())
    # A space would end it, and what follows would be another mistake.
    plain = in_a_line.map(lambda value: re.sub(rb"[ \t#\x80-\xff]", b"", value))
    ids = [id.encode() for id in known.ids]
    field = mostly(ids, escaped | plain)
    filled = re.sub(rb"{\w+}", lambda _: draw(field) or b"x", path.encode())
    names = st.sampled_from(QUERIES).map(str.encode) | escaped
    pairs = draw(st.lists(st.tuples(names, cursors | field | escaped), max_size=3))
    return filled + b"?" * bool(pairs) + b"&".join(b"%b=%b" % pair for pair in pairs)


async def test_in_the_address_and_the_headers(known: Known) -> None:
    @MANY
    @given(data=st.data())
    def attempt(data: st.DataObject) -> None:
        method, path = data.draw(st.sampled_from(known.calls))
        headers = data.draw(st.lists(st.tuples(st.sampled_from(HEADERS), in_a_line), max_size=4))
        status = status_of(known.house, method, target(data.draw, known, path), headers)
        assert 200 <= status < 500

    await anyio.to_thread.run_sync(attempt)


async def test_in_a_body(known: Known) -> None:
    # Those of providers could reach out to wherever they say.
    calls = [c for c, fields in known.fields.items() if fields and "providers" not in c[1]]

    @MANY
    @given(data=st.data())
    def attempt(data: st.DataObject) -> None:
        method, path = call = data.draw(st.sampled_from(calls))
        shape = st.dictionaries(st.sampled_from(known.fields[call]), json_values) | json_values
        body = data.draw(shape.map(lambda value: json.dumps(value).encode()) | anything)
        path = path.replace("{id}", data.draw(st.sampled_from(known.ids)))
        assert 200 <= status_of(known.house, method, path.encode(), [], body) < 500

    await anyio.to_thread.run_sync(attempt)


KINDS = [b"multipart/form-data", b"multipart/form-data", b"application/x-www-form-urlencoded"]
CODECS = [b"utf-8", b"utf-16", b"utf-7", b"punycode", b"undefined", b"idna", b"hex"]
PARTS = [b'form-data; name="file"; filename="a"', b'form-data; name="token"']


@st.composite
def forms(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A content type and a body that is nearly a form."""
    kind = draw(st.sampled_from(KINDS))
    boundary = draw(mostly([b"B"], in_a_line))
    charset = draw(mostly(CODECS, in_a_line))
    body = b""
    for _ in range(draw(st.integers(1, 3))):
        about = draw(mostly(PARTS, anything))
        more = draw(mostly([b"", b"Content-Type: text/plain\r\n"], anything))
        body += b"--B\r\nContent-Disposition: %b\r\n%b\r\n" % (about, more)
        body += draw(anything) + b"\r\n"
    said = b"%b; boundary=%b; charset=%b" % (kind, boundary, charset)
    return said, body + draw(mostly([b"--B--\r\n"], anything))


async def test_in_a_form(known: Known) -> None:
    @MANY
    @given(path=st.sampled_from([b"/login", b"/api/files"]), form=forms())
    def attempt(path: bytes, form: tuple[bytes, bytes]) -> None:
        kind, body = form
        status = status_of(known.house, "POST", path, [("Content-Type", kind)], body)
        assert 200 <= status < 500

    await anyio.to_thread.run_sync(attempt)
