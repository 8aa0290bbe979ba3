"""The way to a provider: addresses, certificates and proxies."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from tenuto.agent.providers.connection import dial as route_module
from tenuto.agent.providers.connection.dial import Route
from tenuto.agent.providers.connection.line import BadAddress, UnknownHost, Unreachable, Untrusted
from tests.providers.house import (
    ELSEWHERE,
    WHOLE_ANSWER,
    ServerSide,
    answer_once,
    anyio_backend,  # noqa: F401 (a fixture)
    heard_from,
    house,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:99999/v1", BadAddress),
        ("http:///v1", BadAddress),
        ("ftp://127.0.0.1/v1", BadAddress),
        ("http://a..b/v1", BadAddress),
        ("http://there-is-no-such-host.invalid/v1", UnknownHost),
        ("http://127.0.0.1:1/v1", Unreachable),
    ],
)
async def test_an_address_that_leads_nowhere(url: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        await Route(url).dial(seconds=5)


def test_a_key_cannot_smuggle_in_a_header() -> None:
    route = Route("http://127.0.0.1/v1")
    with pytest.raises(BadAddress):
        route.request("GET", "/models", {"Authorization": "Bearer a\r\nHost: b"})


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://h/v1/", "GET /v1/models?limit=1 HTTP/1.1", "h"),
        ("https://h:443/v1", "GET /v1/models?limit=1 HTTP/1.1", "h"),
        ("http://h:81", "GET /models?limit=1 HTTP/1.1", "h:81"),
        ("http://[::1]:81/a b", "GET /a%20b/models?limit=1 HTTP/1.1", "[::1]:81"),
        ("http://bücher.example", "GET /models?limit=1 HTTP/1.1", "xn--bcher-kva.example"),
    ],
)
def test_a_request_names_its_path_and_host(url: str, line: str, host: str) -> None:
    lines = Route(url).request("GET", "/models?limit=1", {}).decode().split("\r\n")
    assert lines == [line, f"Host: {host}", "", ""]


def test_a_name_and_password_in_the_address_are_shown_to_the_host() -> None:
    lines = Route("http://me:my%20word@h/v1").request("GET", "/models", {}).decode()
    assert "Authorization: Basic bWU6bXkgd29yZA==\r\n" in lines and "me:my" not in lines


@pytest.fixture
def certificates(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for ELSEWHERE that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={ELSEWHERE}"
    extra = ["-addext", f"subjectAltName=IP:{ELSEWHERE}", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command.split(), *extra], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def theirs(certificates: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificates)
    return context


@pytest.fixture
def trusted(certificates: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates[0]))
    monkeypatch.setattr(route_module, "_tls", route_module._tls.__wrapped__)
    return object()


@pytest.mark.usefixtures("trusted")
async def test_a_provider_is_asked_over_tls(theirs: ssl.SSLContext) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.secure(theirs)
        await answer_once(caller)

    async with house(play) as made:
        assert await heard_from(made.url(ELSEWHERE, scheme="https")) == "Hi"


async def test_a_certificate_that_nobody_vouches_for_is_refused(theirs: ssl.SSLContext) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.secure(theirs)
        await answer_once(caller)

    async with house(play) as made:
        with pytest.raises(Untrusted):
            await Route(made.url(ELSEWHERE, scheme="https")).dial(seconds=5)


async def test_a_proxy_is_asked_for_the_whole_address(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    async def play(caller: ServerSide) -> None:
        asked.append(await caller.request())
        await caller.send(WHOLE_ANSWER)

    async with house(play) as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:word@127.0.0.1:{proxy.port}")
        assert await heard_from("http://models.invalid/v1") == "Hi"
    (head,) = asked
    assert head.startswith(b"POST http://models.invalid/v1/chat/completions HTTP/1.1\r\n")
    assert b"\r\nProxy-Authorization: Basic bWU6d29yZA==\r\n" in head


@pytest.mark.usefixtures("trusted")
async def test_a_proxy_only_carries_what_is_said_over_tls(
    theirs: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []

    async def play(caller: ServerSide) -> None:
        asked.append(await caller.request())
        await caller.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await caller.secure(theirs)
        await answer_once(caller)

    async with house(play) as proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        assert await heard_from(f"https://{ELSEWHERE}:4443/v1") == "Hi"
    assert asked == [
        f"CONNECT {ELSEWHERE}:4443 HTTP/1.1\r\nHost: {ELSEWHERE}:4443\r\n\r\n".encode()
    ]


async def test_a_proxy_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(caller: ServerSide) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        await caller.left()

    async with house(play) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(Unreachable, match="the proxy answered 407"):
            await Route(f"https://{ELSEWHERE}/v1").dial(seconds=5)


async def test_a_local_server_is_never_behind_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with house(answer_once) as made:
        assert await heard_from(made.url()) == "Hi"


async def test_a_host_can_be_spared_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", ELSEWHERE)
    async with house(answer_once) as made:
        assert await heard_from(made.url(ELSEWHERE)) == "Hi"


async def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(BadAddress, match="socks5"):
        await Route("https://models.invalid/v1").dial(seconds=5)
