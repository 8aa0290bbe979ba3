"""Files of a workspace's folder, and never one outside it.

A path is resolved first, links and all, and refused if it ends outside. Then it is opened from
the folder downwards, one name at a time, without following any link: a resolved path has none,
so a link that someone puts in its place between the check and the use makes the open fail
instead of leading out. What was opened is asked once more what it is (`fstat`), so a file that
is swapped for a pipe or a device after the first look is not read either. Every folder on the way
is compared with the vault, before and again on the way down.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tenuto.agent.tools.files.vault import Vault, check_way, identity
from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
PATH_BYTES = 4096
"""The kernel's own limit for a path."""
LEVELS = 200
"""Deeper than any real tree, and few enough to walk in no time."""


class Spot(Value):
    """A place inside a workspace, by names that are no links."""

    root: str
    parts: tuple[str, ...]
    given: str
    """The path as the model wrote it: errors name this one."""
    vault: Vault = Vault()

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def shown(self) -> str:
        return "/".join(self.parts) or "."


Enter = Callable[[Spot, str, int], int]
"""How to get from a folder into the one of this name below it."""


def locate(folder: Path, given: str, vault: Vault) -> Spot:
    """Find a path in the workspace. Raises ToolFailed if it leads out."""
    _must_be_a_name(given)
    try:
        root = os.path.realpath(folder)
        target = os.path.realpath(os.path.join(root, given))
    except RecursionError as error:
        raise ToolFailed("The path leads through too many links.") from error
    if os.path.commonpath((root, target)) != root:
        raise ToolFailed(f"{given} is outside the workspace. Use a path inside it.")
    parts = Path(target).relative_to(root).parts
    if len(parts) > LEVELS:
        raise ToolFailed(f"The path is too deep: it may have {LEVELS} levels.")
    check_way(target, vault)
    return Spot(root=root, parts=parts, given=given, vault=vault)


@contextmanager
def opened_folder(spot: Spot) -> Iterator[int]:
    """A descriptor of the folder itself."""
    descriptor = _descend(spot, spot.parts, _enter)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_parent(spot: Spot, enter: Enter | None = None) -> Iterator[int]:
    """A descriptor of the folder that holds a file."""
    if not spot.parts:
        raise ToolFailed(f"{spot.given} is a folder, not a file.")
    descriptor = _descend(spot, spot.parts[:-1], enter or _enter)
    try:
        spot.vault.check_file_in(identity(os.fstat(descriptor)))
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


def made(spot: Spot, name: str, above: int) -> int:
    """Enter the folder of this name; make it first if it is missing."""
    try:
        return _enter(spot, name, above)
    except FileNotFoundError:
        spot.vault.check_file_in(identity(os.fstat(above)))
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
        return _enter(spot, name, above)


def must_be_regular(found: os.stat_result, spot: Spot) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ToolFailed(f"{spot.given} is a folder, not a file. list_files shows what is in it.")
    if stat.S_ISLNK(found.st_mode):
        raise ToolFailed(f"{spot.given} became a link while it was being opened.")
    if not stat.S_ISREG(found.st_mode):
        raise ToolFailed(f"{spot.given} is not a regular file.")


def _descend(spot: Spot, parts: tuple[str, ...], enter: Enter) -> int:
    descriptor = os.open(spot.root, FOLDER)
    for part in parts:
        above = descriptor
        try:
            descriptor = enter(spot, part, above)
        finally:
            os.close(above)
    return descriptor


def _enter(spot: Spot, name: str, above: int) -> int:
    descriptor = os.open(name, FOLDER, dir_fd=above)
    try:
        spot.vault.check(identity(os.fstat(above)), identity(os.fstat(descriptor)))
    except ToolFailed:
        os.close(descriptor)
        raise
    return descriptor


def _must_be_a_name(given: str) -> None:
    if not given:
        raise ToolFailed("The path is empty. Use . for the workspace's folder.")
    try:
        name = os.fsencode(given)
    except UnicodeEncodeError:
        name = b"\0"
    if b"\0" in name:
        raise ToolFailed("The path has characters that no file name can have.")
    if len(name) > PATH_BYTES:
        raise ToolFailed(f"The path is too long: it may have {PATH_BYTES:,} bytes.")
