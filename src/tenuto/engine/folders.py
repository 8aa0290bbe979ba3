"""The folders of workspaces, as this node can get at them."""

import asyncio
import logging
from collections.abc import Collection
from pathlib import Path
from weakref import WeakValueDictionary

import anyio.to_thread

from tenuto.core.error import InvalidInput
from tenuto.core.home import SHARED, is_home
from tenuto.core.session import Workspace
from tenuto.core.value import WorkspaceId

log = logging.getLogger(__name__)

MARK = ".tenuto-workspace"
"""In each shared folder, with the ids of its workspaces: an empty mount, or another, has none."""
SAY_WHERE = (
    "home: say which node the folder is on, or start every node with --workspaces DIR and give a"
    " folder below it"
)


class Folders:
    """`node` is None where there can be only one: then every folder is here."""

    def __init__(self, node: str | None = None, root: Path | None = None) -> None:
        self._node = node
        self._root = root
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, what: str) -> asyncio.Lock:
        """For those who change files: one at a time of the same run, or in the same folder."""
        return self._locks.setdefault(what, asyncio.Lock())

    async def found(
        self, given: str, home: str | None, *, nodes: Collection[str] = ()
    ) -> tuple[str, str | None]:
        """The path to keep, and the home. Raises InvalidInput for a folder that is not there, or
        a node that is not among the others."""
        if self._node is None:
            if home is not None:
                raise InvalidInput("home: there is only one server, and every folder is on it")
            return await _resolved(given), None
        if home is None:
            home = SHARED if self._root is not None else None
        if home is None:
            raise InvalidInput(SAY_WHERE)
        if home == SHARED:
            return await self._below_root(given), home
        if home == self._node:
            return await _resolved(given), home
        if home not in nodes:
            raise InvalidInput(f"home: there is no node {home!r}")
        if not given.startswith("/"):
            raise InvalidInput("path: give the full path of a folder that is on that node")
        return given, home

    def path(self, workspace: Workspace) -> Path:
        """Where it is on this node, if it is here."""
        if workspace.home == SHARED and self._root is not None:
            return self._root / workspace.path
        return Path(workspace.path)

    async def mark(self, workspace: Workspace) -> None:
        """Make a shared folder known as this workspace's."""
        if workspace.home == SHARED:
            await anyio.to_thread.run_sync(_mark, self.path(workspace), workspace.id)

    async def has(self, workspace: Workspace) -> bool:
        """Whether its folder is on this node."""
        if self._node is None:
            return True
        sees = workspace.home == SHARED and await anyio.to_thread.run_sync(self._sees, workspace)
        return is_home(workspace, node=self._node, sees=sees)

    def _sees(self, workspace: Workspace) -> bool:
        if self._root is None:
            return False
        try:
            return workspace.id in (self.path(workspace) / MARK).read_text().split()
        except (OSError, UnicodeDecodeError):
            return False

    async def _below_root(self, given: str) -> str:
        """Relative, so that it is right on every node, wherever each has its root."""
        if self._root is None:
            raise InvalidInput("home: this node was started without --workspaces DIR")
        root = await _resolved(str(self._root))
        path = await _resolved(str(Path(root) / given))
        if not Path(path).is_relative_to(root) or path == root:
            raise InvalidInput(f"path: {given!r} is not below the folder of shared workspaces")
        return str(Path(path).relative_to(root))


async def _resolved(given: str) -> str:
    """An existing folder on this node, as an absolute path."""

    def resolve() -> str | None:
        try:
            path = Path(given).expanduser().resolve(strict=True)
            # A link may lead to a name that no text can hold.
            str(path).encode()
        except (OSError, RuntimeError, ValueError):
            return None
        return str(path) if path.is_dir() else None

    path = await anyio.to_thread.run_sync(resolve)
    if path is None or not given.strip():
        raise InvalidInput(f"path: there is no folder {given!r} on the server")
    return path


def _mark(folder: Path, workspace_id: WorkspaceId) -> None:
    try:
        with (folder / MARK).open("a+") as file:
            file.seek(0)
            if workspace_id not in file.read().split():
                file.write(f"{workspace_id}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"path: the folder cannot be marked: {error}") from error
