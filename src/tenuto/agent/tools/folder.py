"""Files of a workspace's folder, and never one outside it.

A path is resolved first, links and all, and refused if it ends outside. Then it is opened from
the folder downwards, one name at a time, without following any link: a resolved path has none,
so a link that someone puts in its place between the check and the use makes the open fail
instead of leading out. What was opened is asked once more what it is (`fstat`), so a file that
is swapped for a pipe or a device after the first look is not read either.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Spot(Value):
    """A place inside a workspace, by names that are no links."""

    root: str
    parts: tuple[str, ...]
    given: str
    """The path as the model wrote it: errors name this one."""

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def shown(self) -> str:
        return "/".join(self.parts) or "."


def locate(folder: Path, given: str) -> Spot:
    """Find a path in the workspace. Raises ToolFailed if it leads out."""
    _must_be_a_name(given)
    root = os.path.realpath(folder)
    target = os.path.realpath(os.path.join(root, given))
    if os.path.commonpath((root, target)) != root:
        raise ToolFailed(f"{given} is outside the workspace. Use a path inside it.")
    parts = Path(target).relative_to(root).parts
    return Spot(root=root, parts=parts, given=given)


@contextmanager
def opened_folder(spot: Spot) -> Iterator[int]:
    """A descriptor of the folder itself."""
    descriptor = _descend(spot.root, spot.parts)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_parent(spot: Spot) -> Iterator[int]:
    """A descriptor of the folder that holds a file."""
    if not spot.parts:
        raise ToolFailed(f"{spot.given} is a folder, not a file.")
    descriptor = _descend(spot.root, spot.parts[:-1])
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_file(spot: Spot) -> Iterator[int]:
    """A descriptor of a regular file, for reading; anything else is refused, and nothing waits."""
    with opened_parent(spot) as parent:
        # Looking first spares devices that act on being opened.
        must_be_regular(os.stat(spot.name, dir_fd=parent, follow_symlinks=False), spot)
        descriptor = os.open(spot.name, FILE, dir_fd=parent)
    try:
        must_be_regular(os.fstat(descriptor), spot)
        yield descriptor
    finally:
        os.close(descriptor)


def make_parents(spot: Spot) -> None:
    """Make the folders above a file where they are missing."""
    for depth in range(1, len(spot.parts)):
        above = _descend(spot.root, spot.parts[: depth - 1])
        try:
            with suppress(FileExistsError):
                os.mkdir(spot.parts[depth - 1], dir_fd=above)
        finally:
            os.close(above)


def must_be_regular(found: os.stat_result, spot: Spot) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ToolFailed(f"{spot.given} is a folder, not a file. list_files shows what is in it.")
    if stat.S_ISLNK(found.st_mode):
        raise ToolFailed(f"{spot.given} became a link while it was being opened.")
    if not stat.S_ISREG(found.st_mode):
        raise ToolFailed(f"{spot.given} is not a regular file.")


def _descend(root: str, parts: tuple[str, ...]) -> int:
    descriptor = os.open(root, FOLDER)
    for part in parts:
        above = descriptor
        try:
            descriptor = os.open(part, FOLDER, dir_fd=above)
        finally:
            os.close(above)
    return descriptor


def _must_be_a_name(given: str) -> None:
    if not given:
        raise ToolFailed("The path is empty. Use . for the workspace's folder.")
    try:
        whole = "\0" not in given and bool(os.fsencode(given))
    except UnicodeEncodeError:
        whole = False
    if not whole:
        raise ToolFailed("The path has characters that no file name can have.")
