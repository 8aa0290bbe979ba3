"""FileChanges of files: how tools tell of them, and who can put a file back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tenuto.core.file_change import FileState
from tenuto.core.value import RunId, Value


class SeenFile(Value):
    """A file, or a link, as it was found."""

    state: FileState
    content: bytes | None
    """Of a link, where it leads; None: it is too large to be kept, or nobody knows it."""


class Writing(Value):
    """What a tool is about to put in a file's place."""

    path: str
    old: SeenFile | None
    """None: there is no such file."""
    new: SeenFile
    folders: tuple[str, ...] = ()
    """Those that it makes, the outermost first."""


class FoundChange(Value):
    """A change that a look at the folder found."""

    path: str
    old: SeenFile | None
    new: SeenFile | None
    why: str = ""
    """Why it cannot be taken back; empty if it can."""
    folders: tuple[str, ...] = ()


class Deed(Protocol):
    """Puts one file in another's place."""

    async def do(self) -> FileState:
        """Do it, if nobody has changed the file meanwhile; gives what is there then."""

    async def look(self) -> FileState | None:
        """What is there now."""


class FileChanges(Protocol):
    """What one call of a tool does to files: all of it is written down."""

    @property
    def owner(self) -> RunId:
        """Whose changes they are: the run at the root of all that work for it."""

    async def replace(self, writing: Writing, deed: Deed) -> None:
        """Keep what is there, say so, and only then do it."""

    async def found(self, changes: Sequence[FoundChange]) -> None:
        """These were changed by something that the call started."""


class Untold:
    """Implements `FileChanges` where nobody wants to know."""

    owner = RunId("")

    async def replace(self, writing: Writing, deed: Deed) -> None:
        await deed.do()

    async def found(self, changes: Sequence[FoundChange]) -> None:
        return


class Meanwhile(Exception):
    """The file is not as it was seen: nothing was done."""


class Hand(Protocol):
    """Reaches into a workspace's folder, one file at a time, and follows no link."""

    async def look(self, folder: Path, path: str) -> "Grasp":
        """What is at the path. Raises OSError, or ToolFailed for where nobody may look."""

    async def put(self, grasp: "Grasp", new: SeenFile | None, *, made: Sequence[str] = ()) -> None:
        """Put this there, or nothing, if it is still as it was seen; `made` are folders that go
        with it if they are empty then. Raises Meanwhile, OSError or ToolFailed."""


class Grasp(Value):
    """What was found at a path, and enough to know whether it still is."""

    folder: Path
    path: str
    seen: SeenFile | None
    stamp: tuple[int, ...] | None
    """None: there was nothing."""
