"""The token that clients must show, made once and kept."""

import os
import secrets
from pathlib import Path

from tenuto.config.mistake import ConfigError
from tenuto.config.secret import Secret
from tenuto.config.settings import Settings

TOKEN_FILE = "token"
TOKEN_BYTES = 32
OWNER_ONLY = 0o600
FOLDER_OWNER_ONLY = 0o700


def ensure_token(settings: Settings) -> Secret:
    """The token of the settings, else the one kept in the data folder, else a new one, kept.

    Only the owner can ever read the file, and servers that start at once agree on one token.
    Raises ConfigError.
    """
    return settings.token or _kept(settings)


def _kept(settings: Settings) -> Secret:
    path = settings.data / TOKEN_FILE
    try:
        settings.data.mkdir(mode=FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(TOKEN_BYTES))
        os.chmod(path, OWNER_ONLY)
        kept = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"data: the token in {path} cannot be kept or read: {error}"]) from error
    if not kept:
        raise ConfigError([f"data: {path} is empty; delete it and a new token is made"])
    return Secret(kept)


def _write_once(path: Path, token: str) -> None:
    draft = path.with_name(f"{TOKEN_FILE}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole or not at all, and the first one wins.
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
