"""A line of text that is made once and kept in the data folder, for its owner only."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from tenuto.config.mistake import ConfigError

OWNER_ONLY = 0o600
FOLDER_OWNER_ONLY = 0o700


def kept_once(path: Path, make: Callable[[], str], *, what: str) -> str:
    """What the file says; else what is made now, kept. Processes that ask at once agree.

    Raises ConfigError.
    """
    try:
        path.parent.mkdir(mode=FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        if not path.exists():
            _write_once(path, make())
        os.chmod(path, OWNER_ONLY)
        kept = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            [f"data: the {what} in {path} cannot be kept or read: {error}"]
        ) from error
    if not kept:
        raise ConfigError([f"data: {path} is empty; delete it and a new {what} is made"])
    return kept


def _write_once(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole or not at all, and the first one wins.
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()
