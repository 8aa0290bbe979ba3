"""Secrets at rest: encrypted with a key that is not in the database."""

import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from tenuto.core.error import StorageTrouble

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FORM = "1"
NONCE_BYTES = 12
MARK_CHARACTERS = 8
ANOTHER_SECRET = (
    "the keys of providers were encrypted with another secret. Start with the TENUTO_SECRET that they"
    " were kept with, or without one in the data folder that they were kept in; on several nodes,"
    " give all of them the same TENUTO_SECRET"
)


class AesCipher:
    """Implements `Cipher` with AES-256-GCM.

    The key is asked for, and the library loaded, only when there is something to encrypt or decrypt.
    """

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._ask_for_key = key

    def encrypt(self, text: str, *, about: str) -> str:
        nonce = os.urandom(NONCE_BYTES)
        hidden = self._cipher.encrypt(nonce, text.encode(), about.encode())
        return ":".join((FORM, self._mark, base64.urlsafe_b64encode(nonce + hidden).decode()))

    def decrypt(self, encrypted: str, *, about: str) -> str:
        from cryptography.exceptions import InvalidTag

        form, _, rest = encrypted.partition(":")
        mark, _, text = rest.partition(":")
        if form != FORM:
            raise StorageTrouble("the keys of providers were encrypted by a newer Tenuto")
        if mark != self._mark:
            raise StorageTrouble(ANOTHER_SECRET)
        try:
            raw = base64.urlsafe_b64decode(text)
            nonce, hidden = raw[:NONCE_BYTES], raw[NONCE_BYTES:]
            return self._cipher.decrypt(nonce, hidden, about.encode()).decode()
        except (binascii.Error, InvalidTag, ValueError) as error:
            raise StorageTrouble(
                f"the key of {about} was changed in the database, and is not used"
            ) from error

    @cached_property
    def _key(self) -> bytes:
        return self._ask_for_key()

    @cached_property
    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)

    @cached_property
    def _mark(self) -> str:
        """Tells which key it was, and nothing about it."""
        return hashlib.sha256(b"tenuto mark" + self._key).hexdigest()[:MARK_CHARACTERS]
