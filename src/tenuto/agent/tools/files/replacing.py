"""Puts a whole new file in a file's place: at every moment there is the old one or the new one."""

import os

from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.errand import Errand, Threads
from tenuto.agent.tools.files.folder import Spot, made, must_be_regular, opened_file, opened_parent
from tenuto.agent.tools.files.looking import KEPT_BYTES, PERMISSIONS, look_at, seen_of, usual_mode
from tenuto.core.file_change import FileState
from tenuto.core.value import Value
from tenuto.ports.changes import FileChanges, SeenFile, Writing
from tenuto.ports.tool import ToolFailed

UNKNOWN = FileState(digest="", size=0, mode=0)
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


State = tuple[int, int, int]
"""Tells whether a file is still the same: inode, time of change, size."""


class Before(Value):
    """A file as it was when it was read."""

    content: bytes
    state: State
    mode: int
    whole: bool = True
    """False: it is too large to be kept, and this is only its beginning."""

    def seen(self) -> SeenFile:
        if self.whole:
            return seen_of(self.content, self.mode)
        return SeenFile(
            state=FileState(digest="", size=self.state[2], mode=self.mode), content=None
        )


class Put(Value):
    state: State
    mode: int


class FileDeed:
    """Implements `Deed`: one file, whole, in the place of what was read."""

    def __init__(
        self,
        threads: Threads,
        spot: Spot,
        content: bytes,
        *,
        before: Before | None,
        drafts: Drafts,
    ) -> None:
        self._threads = threads
        self._spot = spot
        self._content = content
        self._before = before
        self._drafts = drafts
        self.state: State | None = None
        """Of the new file, once it is there."""

    async def told(self, changes: FileChanges) -> State:
        """Do it, told of before and after; gives what the file is like then."""
        writing = await self._threads.run(lambda errand: self._writing())
        await changes.replace(writing, self)
        assert self.state is not None
        return self.state

    async def do(self) -> FileState:
        was = None if self._before is None else self._before.state
        put_there = await self._threads.run(
            lambda errand: put(self._spot, self._content, errand, was=was, drafts=self._drafts)
        )
        self.state = put_there.state
        return seen_of(self._content, put_there.mode).state

    async def look(self) -> FileState | None:
        try:
            found = await self._threads.run(lambda errand: look_at(self._spot))
        except (OSError, ToolFailed):
            return UNKNOWN
        return None if found is None else found.seen.state

    def _writing(self) -> Writing:
        before = self._before
        mode = usual_mode() if before is None else before.mode
        return Writing(
            path=self._spot.shown,
            old=None if before is None else before.seen(),
            new=seen_of(self._content, mode),
            folders=missing_folders(self._spot),
        )


def missing_folders(spot: Spot) -> tuple[str, ...]:
    """Those on the way to it that are not there, the outermost first."""
    ways = ["/".join(spot.parts[:n]) for n in range(1, len(spot.parts))]
    return tuple(way for way in ways if not os.path.lexists(os.path.join(spot.root, way)))


def read_before(spot: Spot, *, limit: int) -> Before:
    """The whole file. Raises ToolFailed if it has more bytes than `limit`."""
    with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
        found = os.fstat(descriptor)
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ToolFailed(f"{spot.given} is larger than {limit:,} bytes: too large to edit.")
    return Before(content=content, state=state_of(found), mode=found.st_mode & PERMISSIONS)


def found_before(spot: Spot) -> Before | None:
    """What is there, as far as it can be kept; None: nothing."""
    try:
        with opened_file(spot) as descriptor, open(descriptor, "rb", closefd=False) as file:
            found = os.fstat(descriptor)
            content = file.read(KEPT_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Before(
        content=content[:KEPT_BYTES],
        state=state_of(found),
        mode=found.st_mode & PERMISSIONS,
        whole=len(content) <= KEPT_BYTES,
    )


def put(spot: Spot, content: bytes, errand: Errand, *, was: State | None, drafts: Drafts) -> Put:
    """Write the file whole, with the mode it had; gives what it is like then. Not over someone
    else's change: `was` is what it was like, None if there was none."""
    errand.step()
    with opened_parent(spot, made) as parent:
        old = _look(spot, parent)
        # The new name is put in place by a rename, which replaces a link and never follows it.
        with drafts.beside(spot, parent) as draft:
            _write(draft, content, parent, old)
            drafts.made()
            if _state_at(spot, parent) != was:
                raise ToolFailed(f"{spot.given} was changed meanwhile. Read it again.")
            errand.claim()
            found = os.stat(draft, dir_fd=parent, follow_symlinks=False)
            os.replace(draft, spot.name, src_dir_fd=parent, dst_dir_fd=parent)
            return Put(state=state_of(found), mode=found.st_mode & PERMISSIONS)


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
