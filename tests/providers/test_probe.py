"""Trying a provider: one clear sentence for whatever is wrong."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import web

from tenuto.agent.providers.catalogue import probe as probe_module
from tenuto.agent.providers.catalogue.probe import probe
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderConfig
from tenuto.core.provider import ProviderKind
from tests.support.model_server import ModelServer, answer

pytestmark = pytest.mark.anyio


def lab(url: str, *, key: str = "k-1", **fields: object) -> ProviderConfig:
    known = {"name": "lab", "kind": "openai", "base_url": url, "api_key": key}
    return ProviderConfig(**{**known, **fields})  # type: ignore[arg-type]


async def error_of(config: ProviderConfig) -> str | None:
    tested = await probe(config)
    assert not tested.ok and tested.models == ()
    return tested.error


@pytest.fixture
async def odd() -> AsyncIterator[str]:
    """Answers, but is no model server."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(text="<html>hello</html>", content_type="text/html")

    async def other(_: web.Request) -> web.Response:
        return web.json_response({"hello": "world"})

    async def away(_: web.Request) -> web.Response:
        raise web.HTTPFound("/v1/page/models")

    async def down(_: web.Request) -> web.Response:
        return web.Response(status=503)

    async def busy(_: web.Request) -> web.Response:
        return web.Response(status=429)

    async def none(_: web.Request) -> web.Response:
        return web.json_response({"data": []})

    app = web.Application()
    for handler in (page, other, away, down, busy, none):
        app.router.add_get(f"/{handler.__name__}/models", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
def silent_url() -> Iterator[str]:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        yield f"http://127.0.0.1:{mute.getsockname()[1]}/v1"


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_a_good_provider_tells_its_models(server: ModelServer, kind: str) -> None:
    server.models = ["one", "text-embedding-1", "two"]
    tested = await probe(lab(server.url, kind=kind))
    assert (tested.ok, tested.models, tested.error) == (True, ("one", "two"), None)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_told_from_a_missing_one(server: ModelServer, status: int) -> None:
    server.models_status = status
    assert await error_of(lab(server.url)) == "The key was refused."
    assert await error_of(lab(server.url, key="")) == "It wants a key."


async def test_nobody_there(server: ModelServer) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        assert await error_of(lab(url)) == f"Nothing answers at {url}."


async def test_no_such_host() -> None:
    assert await error_of(lab("http://nowhere.invalid/v1")) in (
        "There is no host nowhere.invalid.",
        "Nothing answers at http://nowhere.invalid/v1.",
    )


async def test_silence_ends(silent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "TEST_SECONDS", 0.2)
    said = await error_of(lab(silent_url))
    assert said == f"{silent_url} did not answer within 0.2 seconds."


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("page", "is not an OpenAI-compatible server"),
        ("other", "is not an OpenAI-compatible server"),
        ("nothing", "is not an OpenAI-compatible server"),
        ("away", "sends visitors elsewhere"),
        ("down", "answered with an error (503)"),
        ("busy", "too many requests"),
        ("none", "lists no models"),
    ],
)
async def test_something_else_answers(odd: str, path: str, words: str) -> None:
    assert words in str(await error_of(lab(f"{odd}/{path}")))


async def test_one_who_speaks_another_protocol() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ready\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as mail:
        url = f"http://127.0.0.1:{mail.sockets[0].getsockname()[1]}/v1"
        assert await error_of(lab(url)) == f"{url} is not an OpenAI-compatible server."


async def test_the_other_wire_is_named_as_such(odd: str) -> None:
    said = await error_of(lab(f"{odd}/page", kind=ProviderKind.ANTHROPIC))
    assert said == f"{odd}/page is not an Anthropic-compatible server."


async def test_one_without_a_list_is_asked_for_one_token_of_a_named_model(
    server: ModelServer,
) -> None:
    server.models_status = 404
    server.script(answer("Hello"))
    tested = await probe(lab(server.url, models=(ModelSetting(name="by-hand"),)))
    assert (tested.ok, tested.models) == (True, ("by-hand",))
    assert (server.exchanges[0].body["model"], server.exchanges[0].body["max_tokens"]) == (
        "by-hand",
        1,
    )
    server.script(lambda exchange: exchange.fail(401, "no"))
    said = await error_of(lab(server.url, models=(ModelSetting(name="by-hand"),)))
    assert "refused the key" in str(said)
