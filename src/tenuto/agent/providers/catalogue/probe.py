"""Trying a provider: does it answer, does it take the key, what does it offer."""

import asyncio
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tenuto.agent.providers.catalogue.almanac import Seller
from tenuto.agent.providers.catalogue.setting import ProviderConfig
from tenuto.agent.providers.connection.dial import Route
from tenuto.agent.providers.connection.exchange import WHOLE_BODY_BYTES
from tenuto.agent.providers.connection.foreign import UNREADABLE
from tenuto.agent.providers.connection.line import (
    NetworkTrouble,
    TooSlow,
    UnknownHost,
    Unreachable,
    Untrusted,
)
from tenuto.agent.providers.kinds import KINDS
from tenuto.agent.providers.provider import HttpProvider
from tenuto.ports.model import ModelRequest, ProviderError, TextBlock, UserTurn
from tenuto.ports.provider import Tested

TEST_SECONDS = 10.0
CONNECT_SECONDS = 5.0


async def probe(config: ProviderConfig, seller: Seller | None = None) -> Tested:
    """The provider's models, or in one sentence why there are none."""
    try:
        async with asyncio.timeout(TEST_SECONDS):
            return await _probe(config, seller)
    except _No as no:
        return Tested(ok=False, error=str(no))
    except TimeoutError:
        seconds = f"{TEST_SECONDS:g} seconds"
        return Tested(ok=False, error=f"{config.base_url} did not answer within {seconds}.")


class _No(Exception):
    """The provider cannot be used, and the reason is for people."""


async def _probe(config: ProviderConfig, seller: Seller | None) -> Tested:
    try:
        status, body = await _listing(config)
    except UnknownHost as error:
        raise _No(f"There is no host {urlsplit(config.base_url).hostname}.") from error
    except Untrusted as error:
        raise _No(f"{config.base_url} shows a certificate that is not trusted.") from error
    except (Unreachable, TooSlow) as error:
        raise _No(f"Nothing answers at {config.base_url}.") from error
    except NetworkTrouble as error:
        raise _stranger(config) from error
    if status == 200:
        return _found(config, seller, body)
    if status in (404, 405, 501) and config.models:
        return await _ask(config)
    raise _refusal(config, status)


async def _listing(config: ProviderConfig) -> tuple[int, bytes]:
    wire = KINDS[config.kind].wire(config.base_url)
    route = Route(wire.root(config.base_url.rstrip("/")))
    request = route.request("GET", wire.listing, {**config.headers, **wire.headers(config.api_key)})
    line = await route.dial(seconds=CONNECT_SECONDS)
    try:
        line.ask(request, stall_seconds=TEST_SECONDS)
        status, body = (await line.head()).status, bytearray()
        while status == 200 and (chunk := await line.read()):
            body += chunk
            if len(body) > WHOLE_BODY_BYTES:
                raise _stranger(config)
        return status, bytes(body)
    finally:
        line.close()


def _found(config: ProviderConfig, seller: Seller | None, body: bytes) -> Tested:
    try:
        said: Any = msgspec.json.decode(body)
    except UNREADABLE:
        raise _stranger(config) from None
    data = said.get("data", said.get("models")) if isinstance(said, dict) else said
    if not isinstance(data, list):
        raise _stranger(config)
    models = KINDS[config.kind].describer(config.name, config.models, seller).listed(data)
    if not models:
        raise _No(f"{config.base_url} answers, but lists no models. Name them yourself.")
    return Tested(ok=True, models=tuple(model.name for model in models))


def _refusal(config: ProviderConfig, status: int) -> _No:
    match status:
        case 401 | 403:
            return _No("The key was refused." if config.api_key else "It wants a key.")
        case 429:
            return _No("It says that there were too many requests. Try again later.")
        case _ if 300 <= status < 400:
            return _No(f"{config.base_url} sends visitors elsewhere. Check the address.")
        case 404 | 405 | 501:
            return _stranger(config)
        case _:
            return _No(f"{config.base_url} answered with an error ({status}).")


def _stranger(config: ProviderConfig) -> _No:
    kind = KINDS[config.kind]
    words = f"{config.base_url} is not {kind.brand}."
    hinted = kind.hint and not config.base_url.rstrip("/").endswith("/v1")
    return _No(f"{words} {kind.hint}" if hinted else words)


async def _ask(config: ProviderConfig) -> Tested:
    """One token of the first model: the least that shows that it answers."""
    provider = HttpProvider(config)
    request = ModelRequest(
        model=config.models[0].name,
        system="",
        turns=(UserTurn(blocks=(TextBlock(text="Hi"),)),),
        max_tokens=1,
    )
    try:
        async with aclosing(provider.stream(request)) as answer:
            async for _ in answer:
                break
    except ProviderError as error:
        raise _No(f"{error}.") from error
    finally:
        await provider.close()
    return Tested(ok=True, models=tuple(model.name for model in config.models))
