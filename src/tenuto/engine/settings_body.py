"""How what was set is written down: plain, but for the keys of providers, which are encrypted."""

from typing import Any

import msgspec

from tenuto.core.error import InvalidInput, StorageTrouble
from tenuto.ports.preference import Cipher, SavedSettings

Plain = dict[str, Any]

KEY = "key"
ENCRYPTED = "encrypted"
"""What stands in the place of a key."""


def encoded(settings: SavedSettings, cipher: Cipher, *, over: Plain) -> bytes:
    """`over` is what stood before: what a newer version wrote there, and we do not know, stays."""
    known = {one.get("name"): one for one in over.get("providers", ())}
    ours: Plain = msgspec.to_builtins(settings)
    ours["providers"] = [
        _without(known.get(one["name"], {}), KEY, ENCRYPTED) | _encrypted(one, cipher)
        for one in ours["providers"]
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
        providers = [_decrypted(one, cipher) for one in body.get("providers", ())]
        return msgspec.convert(body | {"providers": providers}, SavedSettings)
    except (msgspec.ValidationError, InvalidInput, AttributeError, TypeError, KeyError) as error:
        raise _nonsense(error) from error


def _encrypted(provider: Plain, cipher: Cipher) -> Plain:
    if not provider[KEY]:
        return provider
    return _without(provider, KEY) | {
        ENCRYPTED: cipher.encrypt(provider[KEY], about=_about(provider))
    }


def _decrypted(provider: Plain, cipher: Cipher) -> Plain:
    if ENCRYPTED not in provider:
        return provider
    return provider | {KEY: cipher.decrypt(provider[ENCRYPTED], about=_about(provider))}


def _about(provider: Plain) -> str:
    """A key belongs to an address: whoever changes one in the database gets no use of the other."""
    return f"{provider['name']} {provider['base_url']}"


def _without(provider: Plain, *names: str) -> Plain:
    return {name: value for name, value in provider.items() if name not in names}


def _nonsense(error: Exception) -> StorageTrouble:
    return StorageTrouble(f"the settings that the database keeps make no sense: {error}")
