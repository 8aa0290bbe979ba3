"""One server per database: a lock that dies with its process."""

import fcntl
import os
import time
from pathlib import Path

from tenuto.core.error import StorageTrouble

REMAINS_SECONDS = 5.0
"""A server that was killed just as it started a program leaves a child that holds the lock too,
until that program runs."""
LOOK_AGAIN_SECONDS = 0.02


class FileLock:
    """Held from `take` to `release`, or to the end of the process."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(database.name + ".lock")
        self._descriptor: int | None = None

    def take(self) -> None:
        """Raises StorageTrouble that names the process which holds it. May wait for a dead one's."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageTrouble(f"{self._path} cannot be made: {error.strerror}") from error
        try:
            self._lock(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except StorageTrouble:
            os.close(descriptor)
            raise
        except OSError as error:
            os.close(descriptor)
            raise StorageTrouble(f"{self._path} cannot be written: {error.strerror}") from error
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self, descriptor: int) -> None:
        patience = time.monotonic() + REMAINS_SECONDS
        while not _locked(descriptor):
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            if _lives(holder) or time.monotonic() > patience:
                raise StorageTrouble(
                    f"{self._database} is used by another server (process {holder or 'unknown'})."
                    " Stop that one first, or choose another data folder"
                )
            time.sleep(LOOK_AGAIN_SECONDS)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(holder: str) -> bool:
    """Whether there is such a process; when in doubt there is."""
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OSError):
        pass
    return True
