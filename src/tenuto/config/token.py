"""The token that clients must show, made once and kept."""

import secrets

from tenuto.config.kept_file import kept_once
from tenuto.config.secret import Secret
from tenuto.config.settings import Settings

TOKEN_FILE = "token"
TOKEN_BYTES = 32


def ensure_token(settings: Settings) -> Secret:
    """The token of the settings, else the one kept in the data folder, else a new one, kept.

    Only the owner can ever read the file, and servers that start at once agree on one token.
    Raises ConfigError.
    """
    if settings.token:
        return settings.token
    return Secret(kept_once(settings.data / TOKEN_FILE, new_token, what="token"))


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)
