"""Whether the database file is still the one that was opened."""

import os
from pathlib import Path


class Identity:
    """SQLite goes on with a file that has no name any more, and all of it is gone at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: os.stat_result | None = None

    def remember(self) -> None:
        self._known = self._path.stat()

    def complaint(self) -> str | None:
        """What is wrong with the file, in a sentence; None if nothing is. Blocks."""
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return "the database file was taken away. Put it back, or restart the server"
        except OSError:
            return "the database file cannot be looked at"
        known = self._known
        if known is None:
            return None
        if not os.path.samestat(known, now):
            return "the database file was replaced by another one. Restart the server"
        if now.st_size < known.st_size:
            return "the database file was cut short. Restart the server with a backup"
        self._known = now
        return None
