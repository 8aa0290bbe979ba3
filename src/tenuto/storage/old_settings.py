"""The file in which earlier versions kept what was set: taken over once, then gone."""

import logging
import os
from pathlib import Path

import anyio.to_thread
import msgspec

from tenuto.core.error import InvalidInput, StorageTrouble
from tenuto.ports.preference import SavedSettings

log = logging.getLogger(__name__)

OWNER_ONLY = 0o600
DRAFTS = "[0-9a-f]" * 16
ASIDE = ".old"


class OldSettings:
    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self) -> SavedSettings | None:
        """What the file says; None if there is none. Raises StorageTrouble, and leaves it alone,
        if it makes no sense."""
        return await anyio.to_thread.run_sync(self._read)

    async def remove(self) -> None:
        """It is kept elsewhere now; here, its keys could be read."""
        await anyio.to_thread.run_sync(self._remove)

    async def put_aside(self) -> None:
        """It counts no more, and nobody else has what it says."""
        aside = self._path.with_name(self._path.name + ASIDE)
        await anyio.to_thread.run_sync(os.replace, self._path, aside)
        log.warning("other settings were kept in the database; those of the file are in %s", aside)

    def _read(self) -> SavedSettings | None:
        try:
            # Drafts that a crash left have keys in them, too.
            for draft in self._path.parent.glob(f".{self._path.name}.{DRAFTS}"):
                draft.unlink(missing_ok=True)
            old = msgspec.json.decode(self._path.read_bytes(), type=SavedSettings)
            os.chmod(self._path, OWNER_ONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageTrouble(f"{self._path} cannot be read: {error.strerror}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise StorageTrouble(
                f"{self._path} makes no sense: {error}. Mend it, or delete it to begin anew"
            ) from error
        return old

    def _remove(self) -> None:
        self._path.unlink(missing_ok=True)
        # Only then is it gone on disk too.
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
