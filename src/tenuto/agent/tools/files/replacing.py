"""Puts a whole new file in a file's place: at every moment there is the old one or the new one."""

import os
import secrets
from contextlib import suppress

from tenuto.agent.tools.files.errand import Errand
from tenuto.agent.tools.files.folder import Spot, made, must_be_regular, opened_file, opened_parent
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

PERMISSIONS = 0o7777
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


State = tuple[int, int, int]
"""Tells whether a file is still the same: inode, time of change, size."""


class Before(Value):
    """A file as it was when it was read."""

    content: bytes
    state: State


def read_before(spot: Spot, *, limit: int) -> Before:
    """The whole file. Raises ToolFailed if it has more bytes than `limit`."""
    with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
        state = state_of(os.fstat(descriptor))
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ToolFailed(f"{spot.given} is larger than {limit:,} bytes: too large to edit.")
    return Before(content=content, state=state)


def put(spot: Spot, content: bytes, errand: Errand, *, only_if: Before | None = None) -> State:
    """Write the file whole, with the mode it had; gives what it is like then. With `only_if`, not
    over someone else's change."""
    errand.step()
    with opened_parent(spot, made) as parent:
        old = _look(spot, parent)
        # The new name is put in place by a rename, which replaces a link and never follows it.
        draft = f".tenuto-{secrets.token_hex(8)}"
        try:
            _write(draft, content, parent, old)
            if only_if is not None and _state_at(spot, parent) != only_if.state:
                raise ToolFailed(f"{spot.given} was changed meanwhile. Read it again.")
            errand.claim()
            state = state_of(os.stat(draft, dir_fd=parent, follow_symlinks=False))
            os.replace(draft, spot.name, src_dir_fd=parent, dst_dir_fd=parent)
            return state
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=parent)
            raise


def _look(spot: Spot, parent: int) -> os.stat_result | None:
    try:
        found = os.stat(spot.name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    must_be_regular(found, spot)
    return found


def _write(draft: str, content: bytes, parent: int, old: os.stat_result | None) -> None:
    descriptor = os.open(draft, FRESH, 0o666, dir_fd=parent)
    with open(descriptor, "wb") as file:
        file.write(content)
        if old is not None:
            os.fchmod(descriptor, old.st_mode & PERMISSIONS)
        file.flush()
        os.fsync(descriptor)


def _state_at(spot: Spot, parent: int) -> State | None:
    found = _look(spot, parent)
    return None if found is None else state_of(found)


def state_of(found: os.stat_result) -> State:
    return found.st_ino, found.st_mtime_ns, found.st_size
