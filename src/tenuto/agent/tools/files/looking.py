"""Looks at one file of a workspace, or one link, without following any."""

import hashlib
import os
import stat

from tenuto.agent.tools.files.folder import FILE, Spot, opened_parent
from tenuto.core.file_change import FileState, digest_of
from tenuto.core.value import Value
from tenuto.ports.changes import SeenFile
from tenuto.ports.tool import ToolFailed

PERMISSIONS = 0o7777
KEPT_BYTES = 10_000_000
"""The largest file that is kept."""
READ_BYTES = 500_000_000
"""The largest that is compared."""
CHUNK = 1 << 20

Stamp = tuple[int, int, int, int]
"""Tells whether a file is still the same: inode, time of change, size, mode."""


class Look(Value):
    seen: SeenFile
    stamp: Stamp


def look_at(spot: Spot) -> Look | None:
    """What is there; None: nothing. Raises ToolFailed for what is neither a file nor a link."""
    try:
        with opened_parent(spot) as parent:
            return look_in(parent, spot)
    except (FileNotFoundError, NotADirectoryError):
        return None


def look_in(parent: int, spot: Spot) -> Look:
    found = os.stat(spot.name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(spot.name, dir_fd=parent))
        state = FileState(digest=digest_of(target), size=len(target), mode=0, link=True)
        return Look(seen=SeenFile(state=state, content=target), stamp=stamp_of(found))
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError
    descriptor = os.open(spot.name, FILE, dir_fd=parent)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > READ_BYTES:
            raise ToolFailed(f"{spot.given} is too large, or no file.")
        return Look(seen=_read(descriptor, found.st_mode & PERMISSIONS), stamp=stamp_of(found))
    finally:
        os.close(descriptor)


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


def seen_of(content: bytes, mode: int) -> SeenFile:
    """A file that has these."""
    state = FileState(digest=digest_of(content), size=len(content), mode=mode)
    return SeenFile(state=state, content=content if len(content) <= KEPT_BYTES else None)


def usual_mode() -> int:
    """What a new file may be used for, and by whom, as this process was told."""
    # Read, not asked of the kernel: that would set it for a moment, for every thread.
    try:
        with open("/proc/self/status") as file:
            masks = [line.split()[1] for line in file if line.startswith("Umask:")]
    except OSError:
        masks = []
    return 0o666 & ~int(masks[0] if masks else "022", 8)


def _read(descriptor: int, mode: int) -> SeenFile:
    digest, chunks, size = hashlib.sha256(), [], 0
    while chunk := os.read(descriptor, CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if size <= KEPT_BYTES:
            chunks.append(chunk)
    state = FileState(digest=digest.hexdigest(), size=size, mode=mode)
    return SeenFile(state=state, content=b"".join(chunks) if size <= KEPT_BYTES else None)
