"""What the server says when it is ready."""

from pathlib import Path

import pytest

from tenuto.banner import banner, base_url
from tenuto.config import EmbeddedSettings, ProviderKind, ProviderSettings, Secret, Settings

DATA = Path("/srv/tenuto")
TOKEN = Secret("a/b")


def test_it_gives_the_address_to_open_and_the_data_folder() -> None:
    first, *others = banner(Settings(data=DATA), "http://127.0.0.1:8383", TOKEN).splitlines()
    assert first.endswith("is ready: http://127.0.0.1:8383/login?token=a%2Fb")
    assert "Data folder: /srv/tenuto" in others


def test_what_no_person_reads_shows_no_token_but_where_it_is() -> None:
    made = banner(Settings(data=DATA), "http://127.0.0.1:8383", None)
    assert made.splitlines()[0].endswith("is ready: http://127.0.0.1:8383")
    assert "Token: in /srv/tenuto/token" in made.splitlines()
    given = Settings(data=DATA, token=Secret("hush"), fixed={"token": "TENUTO_TOKEN"})
    told = banner(given, "http://127.0.0.1:8383", None)
    assert "Token: the one of TENUTO_TOKEN" in told.splitlines()
    assert "hush" not in told


def test_it_says_who_answers() -> None:
    lab = ProviderSettings(name="lab", kind=ProviderKind.OPENAI, base_url="http://x")
    told = [
        banner(Settings(data=DATA, providers=(lab,)), "http://x", TOKEN),
        banner(Settings(data=DATA), "http://x", TOKEN),
        banner(Settings(data=DATA, embedded=EmbeddedSettings(enabled=False)), "http://x", TOKEN),
    ]
    assert "Models: lab" in told[0]
    assert "Models: the embedded one" in told[1]
    assert "Models: none configured" in told[2]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_on_loopback_there_is_no_warning(host: str) -> None:
    assert "WARNING" not in banner(Settings(data=DATA, host=host), "http://x", TOKEN)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "box.example"])
def test_beyond_loopback_there_is_a_warning(host: str) -> None:
    lines = banner(Settings(data=DATA, host=host), "http://x", TOKEN).splitlines()
    assert any(line.startswith(f"WARNING: listening on {host} without TLS") for line in lines)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("fe80::1", "http://[fe80::1]:80"),
        ("box.example", "http://box.example:80"),
    ],
)
def test_the_address_is_one_that_can_be_opened(host: str, url: str) -> None:
    assert base_url(host, 80) == url


@pytest.mark.parametrize(
    ("host", "token", "warned"),
    [
        ("0.0.0.0", "fifteen letters", True),
        ("box.example", "x", True),
        ("0.0.0.0", "sixteen letters!", False),
        ("127.0.0.1", "x", False),
    ],
)
def test_a_token_that_others_could_guess_is_warned_of(host: str, token: str, warned: bool) -> None:
    given = Settings(data=DATA, host=host, token=Secret(token))
    told = banner(given, "http://x", None)
    assert ("WARNING: the token has fewer than 16 characters" in told) is warned
