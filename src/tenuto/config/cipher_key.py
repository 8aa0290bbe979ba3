"""What the keys of providers are encrypted with, wherever they are kept."""

import base64
import hashlib
import secrets

from tenuto.config.kept_file import kept_once
from tenuto.config.settings import Settings

KEY_FILE = "secret"
KEY_BYTES = 32
SALT = b"tenuto: keys of providers"
"""Not of chance: nodes that are given the same secret must come to the same key by themselves."""


def cipher_key(settings: Settings) -> bytes:
    """Made of `TENUTO_SECRET`; else a key that is made once and kept in the data folder.

    Raises ConfigError.
    """
    if settings.secret is not None:
        text = settings.secret.reveal()
    else:
        text = kept_once(settings.data / KEY_FILE, _new_key, what="key")
    # Slow on purpose: whoever has the database may try many secrets. A key that was made is a
    # secret like any other, so that it can be given to more nodes when there are some.
    return hashlib.scrypt(text.encode(), salt=SALT, n=2**14, r=8, p=1, dklen=KEY_BYTES)


def _new_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()
