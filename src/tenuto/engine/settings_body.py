"""How what was set is written down: plain, but for what is secret, which is encrypted."""

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from tenuto.core.error import InvalidInput, StorageTrouble
from tenuto.core.mcp import McpServer
from tenuto.core.value import Value
from tenuto.ports.preference import Cipher, SavedSettings

log = logging.getLogger(__name__)

Plain = dict[str, Any]

KEY = "key"
ENCRYPTED = "encrypted"
"""What stands in the place of a secret."""


class _Secrets(Value):
    """What is secret in each of a list."""

    of: str
    """The list."""
    fields: tuple[str, ...]
    about: Callable[[Plain], str]
    """What they belong to: whoever changes that in the database gets no use of them."""


def _address(provider: Plain) -> str:
    return f"{provider['name']} {provider['base_url']}"


def _program(server: Plain) -> str:
    words = " ".join((server["command"], *server["args"]))
    return f"mcp {server['name']} {words} {server['url']}"


SECRETS = (
    _Secrets(of="providers", fields=(KEY,), about=_address),
    _Secrets(of="mcp", fields=("env", "headers"), about=_program),
)


def encoded(settings: SavedSettings, cipher: Cipher, *, over: Plain) -> bytes:
    """`over` is what stood before: what a newer version wrote there, and we do not know, stays."""
    ours: Plain = msgspec.to_builtins(settings)
    for secrets in SECRETS:
        known = {one.get("name"): one for one in over.get(secrets.of, ())}
        ours[secrets.of] = [
            _without(known.get(one["name"], {}), *secrets.fields, ENCRYPTED)
            | _encrypted(one, secrets, cipher)
            for one in ours[secrets.of]
        ]
    return msgspec.json.encode(over | ours)


def plain(body: bytes) -> Plain:
    try:
        return msgspec.json.decode(body, type=Plain)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _nonsense(error) from error


def decoded(body: Plain, cipher: Cipher) -> SavedSettings:
    """Raises StorageTrouble for what makes no sense, or was encrypted with another secret."""
    try:
        lists = {
            secrets.of: [_decrypted(one, secrets, cipher) for one in body.get(secrets.of, ())]
            for secrets in SECRETS
        }
        lists["mcp"] = [one for one in lists["mcp"] if _makes_sense(one)]
        return msgspec.convert(body | lists, SavedSettings)
    except (msgspec.ValidationError, InvalidInput, AttributeError, TypeError, KeyError) as error:
        raise _nonsense(error) from error


def _encrypted(one: Plain, secrets: _Secrets, cipher: Cipher) -> Plain:
    held = {name: one[name] for name in secrets.fields if one[name]}
    if not held:
        return one
    # A lone key stands by itself, as it always has.
    text = held[KEY] if KEY in held else msgspec.json.encode(held).decode()
    return _without(one, *secrets.fields) | {
        ENCRYPTED: cipher.encrypt(text, about=secrets.about(one))
    }


def _decrypted(one: Plain, secrets: _Secrets, cipher: Cipher) -> Plain:
    if ENCRYPTED not in one:
        return one
    text = cipher.decrypt(one[ENCRYPTED], about=secrets.about(one))
    return one | ({KEY: text} if KEY in secrets.fields else msgspec.json.decode(text, type=Plain))


def _makes_sense(server: Plain) -> bool:
    """One MCP server that we do not understand must not keep everything else from starting."""
    try:
        msgspec.convert(server, McpServer)
    except (msgspec.ValidationError, InvalidInput) as error:
        log.warning("an MCP server makes no sense and is left out: %s", error)
        return False
    return True


def _without(one: Plain, *names: str) -> Plain:
    return {name: value for name, value in one.items() if name not in names}


def _nonsense(error: Exception) -> StorageTrouble:
    return StorageTrouble(f"the settings that the database keeps make no sense: {error}")
