"""One server per database: a lock that dies with its process."""

import fcntl
import os
from pathlib import Path

from tenuto.core.error import StorageTrouble


class FolderLock:
    """Held from `take` to `release`, or to the end of the process."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(database.name + ".lock")
        self._descriptor: int | None = None

    def take(self) -> None:
        """Raises StorageTrouble that names the process which holds it."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageTrouble(f"{self._path} cannot be made: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise StorageTrouble(
                f"{self._database} is used by another server (process {holder or 'unknown'})."
                " Stop that one first, or choose another data folder"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise StorageTrouble(f"{self._path} cannot be written: {error.strerror}") from error
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
