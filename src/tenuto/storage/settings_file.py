"""The file of what was set while the server ran: its owner's only, replaced whole."""

import logging
import os
import secrets
from pathlib import Path

import anyio.to_thread
import msgspec

from tenuto.core.error import InvalidInput, StorageTrouble
from tenuto.ports.preference import Kept

log = logging.getLogger(__name__)

OWNER_ONLY = 0o600


class SettingsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self) -> Kept:
        return await anyio.to_thread.run_sync(self._read)

    async def write(self, kept: Kept) -> None:
        try:
            await anyio.to_thread.run_sync(self._write, kept)
        except OSError as error:
            log.error("what was set cannot be kept: %s", error)
            raise StorageTrouble(
                f"the settings cannot be stored now: {error.strerror or 'the disk failed'}"
            ) from error

    def _read(self) -> Kept:
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=Kept)
            os.chmod(self._path, OWNER_ONLY)
        except FileNotFoundError:
            return Kept()
        except OSError as error:
            raise StorageTrouble(f"{self._path} cannot be read: {error.strerror}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise StorageTrouble(
                f"{self._path} makes no sense: {error}. Mend it, or delete it to begin anew"
            ) from error
        return kept

    def _write(self, kept: Kept) -> None:
        draft = self._path.with_name(f".{self._path.name}.{secrets.token_hex(8)}")
        body = msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self._path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(self._path.parent)


def _sync_folder(folder: Path) -> None:
    """Only then is the new name on disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
