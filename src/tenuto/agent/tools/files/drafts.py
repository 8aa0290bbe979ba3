"""Drafts: whole new files that wait beside the ones they replace, and outlive no server.

Before a draft is made, a note in the server's own folder says where it will be; it goes when the
draft is gone. A server that was killed between leaves both, and the next one to start removes the
draft that the note names. Its name is drawn for this one draft and is in no other place, so nothing
of anyone else's has it. Whoever writes holds a lock on the note: servers may share their folder.
"""

import fcntl
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
from msgspec.structs import replace

from tenuto.agent.tools.files.errand import in_thread
from tenuto.agent.tools.files.folder import Spot, opened_parent
from tenuto.agent.tools.files.vault import Vault, vault_at
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

NOTES = "drafts"
NAME = re.compile(r"\.tenuto-[0-9a-f]{32}")
NOTE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
KNOWN_NOTE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
NOTE_BYTES = 100_000
SWEEP_SECONDS = 10.0
"""A folder that hangs does not keep a server from starting."""


class Drafts:
    def __init__(self, data: Path | None = None, points: Points = NOWHERE) -> None:
        self._data = data
        """The server's own folder; None: it has none, and nothing is noted."""
        self._points = points

    @contextmanager
    def beside(self, spot: Spot, parent: int) -> Iterator[str]:
        """A name for a draft in the folder of the file; if it is not put in place, it goes."""
        name = f".tenuto-{secrets.token_hex(16)}"
        with self._noted(name, spot):
            try:
                yield name
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=parent)
                raise

    def made(self) -> None:
        """The draft is whole, and not in place."""
        self._points.reach(Step.FILE_DRAFTED)

    async def sweep(self) -> None:
        """Remove what servers that are gone have left."""
        with anyio.move_on_after(SWEEP_SECONDS):
            await in_thread(lambda errand: self._sweep())

    @contextmanager
    def _noted(self, name: str, spot: Spot) -> Iterator[None]:
        if self._data is None:
            yield
            return
        folder = self._data / NOTES
        folder.mkdir(mode=0o700, exist_ok=True)
        note = _locked(folder / name)
        try:
            os.write(note, _written(spot))
            os.fsync(note)
            yield
        finally:
            with suppress(FileNotFoundError):
                os.unlink(folder / name)
            os.close(note)

    def _sweep(self) -> None:
        if self._data is None:
            return
        notes, vault = self._data / NOTES, vault_at(self._data)
        for name in filter(NAME.fullmatch, os.listdir(notes) if notes.is_dir() else ()):
            try:
                _settle(notes / name, vault)
            except BlockingIOError:
                log.debug("another server is still at %s", name)
            except (OSError, ToolFailed) as error:
                # It stays for the next start.
                log.warning("a draft that a server left cannot be removed: %s", error)


def _settle(path: Path, vault: Vault) -> None:
    """Remove the draft and then its note. Raises BlockingIOError if its server lives."""
    with _opened(path) as note:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        spot = _read(os.read(note, NOTE_BYTES))
        if spot is not None:
            _remove(path.name, replace(spot, vault=vault))
        os.unlink(path)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, KNOWN_NOTE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        descriptor = os.open(path, NOTE, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        # A server that starts took it for an old one, before it was locked.
        os.close(descriptor)


def _written(spot: Spot) -> bytes:
    return b"".join(os.fsencode(part) + b"\0" for part in (spot.root, *spot.parts))


def _read(note: bytes) -> Spot | None:
    """None: it was not written whole, so there is no draft."""
    if not note.endswith(b"\0"):
        return None
    root, *parts = (os.fsdecode(part) for part in note[:-1].split(b"\0"))
    return Spot(root=root, parts=tuple(parts), given="/".join(parts))


def _remove(name: str, spot: Spot) -> None:
    """By its very name: no link on the way is followed. Raises OSError if the workspace is away."""
    os.stat(spot.root)
    with suppress(FileNotFoundError), opened_parent(spot) as parent:
        os.unlink(name, dir_fd=parent)
