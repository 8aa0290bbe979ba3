"""The notary signs what a model thought, and knows its own signature again."""

import base64
import hashlib
import hmac
import json
from typing import Any

_KEY = b"only this server has it"


def sign(model: str, text: str) -> str:
    """A signature of these words by this model, as long as the true ones are."""
    made = hmac.new(_KEY, f"{model}\0{text}".encode(), hashlib.sha512).digest()
    return base64.b64encode(made * 4).decode()


def signed(model: str, text: str, signature: Any) -> bool:
    """Whether this model thought exactly this."""
    return isinstance(signature, str) and hmac.compare_digest(
        sign(model, text).encode(), signature.encode("utf-8", "replace")
    )


def encrypt(model: str, **content: str | None) -> str:
    """What only this server and this model can read. (It is signed; nobody here needs it hidden.)"""
    plain = json.dumps(content)
    return base64.b64encode(f"{sign(model, plain)} {plain}".encode()).decode()


def decrypt(model: str, given: Any) -> dict[str, Any] | None:
    """None if this model did not make it, or it was altered."""
    try:
        signature, plain = base64.b64decode(given, validate=True).decode().split(" ", 1)
    except (ValueError, TypeError):
        return None
    if not signed(model, plain, signature):
        return None
    opened: dict[str, Any] = json.loads(plain)
    return opened
