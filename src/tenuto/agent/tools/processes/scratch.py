"""Scratch folders: where the commands of a session may write besides their workspace."""

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

CACHES = {
    "XDG_CACHE_HOME": "cache",
    "npm_config_cache": "cache/npm",
    "YARN_CACHE_FOLDER": "cache/yarn",
    "GOCACHE": "cache/go",
    "GOMODCACHE": "cache/gomod",
    "CARGO_HOME": "cache/cargo",
    "GRADLE_USER_HOME": "cache/gradle",
    "COMPOSER_HOME": "cache/composer",
    "DENO_DIR": "cache/deno",
}
"""What installers would else write below the home folder; pip and uv go by the first."""
IDLE_SECONDS = 3600.0
"""One that nobody came back to for so long goes."""
NAME_CHARACTERS = 8
"""Short: the path of a socket in it has a limit of its own."""


class Scratch:
    """All of them, in one folder that is this node's; what an earlier process left there goes."""

    def __init__(self, root: Path | None) -> None:
        """Without a root there is one in the system's temporary folder, made when needed."""
        self._root = root
        self._begun = False
        self._left_at: dict[str, float] = {}
        self._holders: Counter[str] = Counter()
        self._lock = threading.Lock()

    def hold(self, owner: str) -> Path:
        """The owner's folder, which stays until it is let go of as often as it was held. Blocks."""
        name = _name(owner)
        with self._lock:
            root = self._begin()
            self._holders[name] += 1
            self._sweep(root)
            folder = root / name
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def let_go(self, owner: str) -> None:
        name = _name(owner)
        with self._lock:
            self._holders[name] -= 1
            self._left_at[name] = time.monotonic()

    def sweep(self) -> bool:
        """Remove those that nobody came back to; whether others are left. Blocks."""
        with self._lock:
            if self._begun and self._root is not None:
                self._sweep(self._root)
            return bool(self._left_at)

    def clear(self) -> None:
        """Remove them all. Blocks."""
        with self._lock:
            if self._begun and self._root is not None:
                shutil.rmtree(self._root, ignore_errors=True)
            self._begun = False

    def _begin(self) -> Path:
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="tenuto-"))
        elif not self._begun:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._begun = True
        return Path(os.path.realpath(self._root))

    def _sweep(self, root: Path) -> None:
        old = time.monotonic() - IDLE_SECONDS
        for name in [name for name, at in self._left_at.items() if at <= old]:
            if not self._holders[name]:
                del self._left_at[name]
                shutil.rmtree(root / name, ignore_errors=True)


def leading_to(folder: Path) -> dict[str, str]:
    """The variables that lead commands to a scratch folder."""
    led = {name: str(folder / inner) for name, inner in CACHES.items()}
    return led | dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder))


def _name(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()[:NAME_CHARACTERS]
