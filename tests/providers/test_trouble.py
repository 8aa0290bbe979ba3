"""What goes wrong with a provider is told in our words, with a way on, and without its key."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tenuto.agent.providers.catalogue.setting import ProviderLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.line import NetworkTrouble
from tenuto.agent.providers.provider import HttpProvider
from tenuto.core.run import Reason
from tenuto.ports.model import ProviderError, TextPiece
from tests.providers.asking import REQUEST, Hearing, begin, texts
from tests.providers.conftest import KEY
from tests.providers.made import chat
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.anyio


async def trouble(hearing: Hearing) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await hearing.all()
    return caught.value


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "had too many requests (429); wait a little, or use another model"),
        (500, "answered 500"),
        (502, "answered 502"),
        (503, "is overloaded (503); try again later, or use another model"),
        (504, "answered 504"),
        (529, "is overloaded (529); try again later, or use another model"),
    ],
)
async def test_a_passing_trouble_may_be_tried_again(
    server: ModelServer, provider: HttpProvider, status: int, words: str
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.fail(status, "too much at once")
    error = await trouble(hearing)
    assert error.reason is Reason.PROVIDER_ERROR
    assert error.retry_after == 0.5
    assert str(error) == f"house {words}: too much at once"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, 0.5),
    ],
)
async def test_the_provider_says_how_long_to_wait(
    server: ModelServer, provider: HttpProvider, headers: dict[str, str], seconds: float
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.fail(429, "slow down", headers=headers)
    assert (await trouble(hearing)).retry_after == seconds


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_that_is_refused_is_not_tried_again(
    server: ModelServer, provider: HttpProvider, status: int
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.fail(status, "no such parameter")
    error = await trouble(hearing)
    assert (error.reason, error.retry_after) == (Reason.PROVIDER_ERROR, None)
    assert "no such parameter" in str(error)


async def test_no_money_left_is_not_tried_again(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.fail(429, "You exceeded your quota", code="insufficient_quota")
    assert (await trouble(hearing)).retry_after is None


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (404, 'model "nope" not found, try pulling it first', ""),
        (404, "The model `nope` does not exist", "model_not_found"),
        (400, "nope", "model_not_found"),
    ],
)
async def test_an_unknown_model_is_told_as_such(
    server: ModelServer, provider: HttpProvider, status: int, message: str, code: str
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.fail(status, message, code=code)
    error = await trouble(hearing)
    assert (error.reason, error.retry_after) == (Reason.MODEL_NOT_FOUND, None)
    assert message in str(error)


async def test_a_wrong_address_is_not_taken_for_an_unknown_model(server: ModelServer) -> None:
    provider = chat("house", server.url + "/wrong", KEY)
    error = await trouble(Hearing(provider.stream(REQUEST)))
    await provider.close()
    assert error.reason is Reason.PROVIDER_ERROR
    assert "base URL" in str(error)


@pytest.mark.failure(49)
@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_the_key_is_never_shown(
    server: ModelServer, provider: HttpProvider, status: int
) -> None:
    hearing, exchange = await begin(provider, server)
    assert exchange.headers["Authorization"] == f"Bearer {KEY}"
    await exchange.fail(status, f"Incorrect API key provided: {KEY}, or sk-proj-abcd****cdef.")
    error = await trouble(hearing)
    assert error.reason is Reason.PROVIDER_ERROR
    assert KEY not in str(error) and "cdef" not in str(error)
    if status in (401, 403):
        assert "refused the key" in str(error)
        assert error.retry_after is None


@pytest.mark.failure(49)
async def test_the_key_is_never_shown_by_an_error_in_the_stream(
    server: ModelServer, provider: HttpProvider
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.chunk({"error": {"message": f"key {KEY} is over its limit"}})
    assert KEY not in str(await trouble(hearing))


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"message": "overloaded", "type": "overloaded_error"}, 0.5),
        ({"message": "bad gateway", "code": 502}, 0.5),
        ({"message": "no such thing", "type": "invalid_request_error"}, None),
        ("just words", None),
    ],
)
async def test_an_error_inside_the_stream_ends_it_after_what_came(
    server: ModelServer, provider: HttpProvider, error: Any, seconds: float | None
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.text("Half")
    await exchange.chunk({"error": error})
    raised = await trouble(hearing)
    assert (raised.reason, raised.retry_after) == (Reason.PROVIDER_ERROR, seconds)
    assert texts(hearing.pieces) == "Half"


@pytest.mark.failure(5)
@pytest.mark.parametrize("how", ["dropped", "closed", "ended"])
async def test_an_answer_that_breaks_off_is_an_error(
    server: ModelServer, provider: HttpProvider, how: str
) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.text("Half")
    await hearing.until(TextPiece(text="Half"))
    await exchange.raw(b'data: {"choices":[{"del')
    match how:
        case "dropped":
            await exchange.drop()
        case "closed":
            await exchange.break_off()
        case _:
            await exchange.end()
    error = await trouble(hearing)
    assert (error.reason, error.retry_after) == (Reason.PROVIDER_ERROR, 0.5)
    assert "before the answer was finished" in str(error)
    assert texts(hearing.pieces) == "Half"


@pytest.mark.failure(28)
@pytest.mark.parametrize("moment", ["before the headers", "after the headers", "after a piece"])
async def test_a_provider_that_falls_silent_has_stalled(server: ModelServer, moment: str) -> None:
    provider = chat("house", server.url, limits=ProviderLimits(stall_seconds=0.3))
    hearing, exchange = await begin(provider, server)
    if moment == "after the headers":
        await exchange.begin()
    if moment == "after a piece":
        await exchange.text("Half")
    error = await trouble(hearing)
    await provider.close()
    assert error.reason is Reason.PROVIDER_STALLED
    await exchange.closed(timeout=2)


@pytest.mark.failure(58)
async def test_any_byte_starts_the_stall_limit_anew(server: ModelServer) -> None:
    provider = chat("house", server.url, limits=ProviderLimits(stall_seconds=2.0))
    hearing, exchange = await begin(provider, server)
    for _ in range(25):
        await asyncio.sleep(0.1)
        await exchange.raw(b": still loading\n\n")
    await exchange.say("Here I am")
    assert texts(await hearing.all()) == "Here I am"
    await provider.close()


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


async def test_a_server_that_is_not_there_may_be_tried_again(dead_port: int) -> None:
    provider = chat("house", f"http://127.0.0.1:{dead_port}/v1")
    error = await trouble(Hearing(provider.stream(REQUEST)))
    await provider.close()
    assert (error.reason, error.retry_after) == (Reason.PROVIDER_ERROR, 0.5)
    assert str(error) == "house could not be reached"


async def test_connecting_has_a_limit() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        # Fill the queue of a server that accepts nobody, so that the next one waits.
        queued = [socket.socket() for _ in range(8)]
        for one in queued:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        limits = ProviderLimits(connect_seconds=0.2, stall_seconds=5)
        provider = chat("house", f"http://127.0.0.1:{port}/v1", limits=limits)
        error = await trouble(Hearing(provider.stream(REQUEST)))
        await provider.close()
        for one in queued:
            one.close()
    assert (error.reason, error.retry_after) == (Reason.PROVIDER_ERROR, 0.5)
    assert "reached within the limit" in str(error)


async def test_a_web_page_is_no_answer(server: ModelServer, provider: HttpProvider) -> None:
    hearing, exchange = await begin(provider, server)
    await exchange.answer(b"<html></html>", headers={"Content-Type": "text/html"})
    assert "base URL" in str(await trouble(hearing))


def _kinds() -> list[type[BaseException]]:
    known = [NetworkTrouble]
    for kind in known:
        known += kind.__subclasses__()
    return [*known, TimeoutError]


@pytest.mark.parametrize("kind", _kinds(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_network_has_words(kind: type[BaseException]) -> None:
    error = Border("house", secret="").failed(kind.__new__(kind))
    assert error.reason in (Reason.PROVIDER_ERROR, Reason.PROVIDER_STALLED)
    assert str(error).startswith("house ")
