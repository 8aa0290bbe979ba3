"""The file of what was set while the server ran: its owner's only, replaced whole."""

import logging
import os
import secrets
from pathlib import Path

import anyio.to_thread
import msgspec

from tenuto.core.error import InvalidInput, StorageTrouble
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.preference import SavedSettings

log = logging.getLogger(__name__)

OWNER_ONLY = 0o600
DRAFT_BYTES = 8
"""Of chance in a draft's name: no file that somebody else put there is called like that."""


class SettingsFile:
    def __init__(self, path: Path, *, points: Points = NOWHERE) -> None:
        self._path = path
        self._points = points

    async def read(self) -> SavedSettings:
        return await anyio.to_thread.run_sync(self._read)

    async def write(self, kept: SavedSettings) -> None:
        try:
            await anyio.to_thread.run_sync(self._write, kept)
        except OSError as error:
            log.error("what was set cannot be kept: %s", error)
            raise StorageTrouble(
                f"the settings cannot be stored now: {error.strerror or 'the disk failed'}"
            ) from error

    def _read(self) -> SavedSettings:
        try:
            self._remove_drafts()
            kept = msgspec.json.decode(self._path.read_bytes(), type=SavedSettings)
            os.chmod(self._path, OWNER_ONLY)
        except FileNotFoundError:
            return SavedSettings()
        except OSError as error:
            raise StorageTrouble(f"{self._path} cannot be read: {error.strerror}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise StorageTrouble(
                f"{self._path} makes no sense: {error}. Mend it, or delete it to begin anew"
            ) from error
        return kept

    def _remove_drafts(self) -> None:
        """A crash may have left some, with keys that nobody would ever remove from them."""
        for draft in self._path.parent.glob(self._draft("[0-9a-f]" * 2 * DRAFT_BYTES).name):
            draft.unlink(missing_ok=True)

    def _draft(self, name: str) -> Path:
        return self._path.with_name(f".{self._path.name}.{name}")

    def _write(self, kept: SavedSettings) -> None:
        draft = self._draft(secrets.token_hex(DRAFT_BYTES))
        body = msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        try:
            with os.fdopen(descriptor, "wb") as file:
                self._points.reach(Step.KEEPING, "an empty draft")
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            self._points.reach(Step.KEEPING, "a whole draft")
            os.replace(draft, self._path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(self._path.parent)
        self._points.reach(Step.KEPT)


def _sync_folder(folder: Path) -> None:
    """Only then is the new name on disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
