"""A hand: takes one file of a workspace out and puts another in, by its very name."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from tenuto.agent.tools.files.drafts import Drafts
from tenuto.agent.tools.files.errand import Errand, Threads
from tenuto.agent.tools.files.folder import Spot, made, opened_parent
from tenuto.agent.tools.files.looking import look_at, stamp_of
from tenuto.agent.tools.files.replacing import FRESH
from tenuto.agent.tools.files.vault import check_way, vault_at
from tenuto.ports.changes import Grasp, Meanwhile, SeenFile
from tenuto.ports.tool import ToolFailed


class FileHand:
    """Implements `Hand`. A path is what it says: a link on the way is not followed."""

    def __init__(
        self, threads: Threads, data: Path | None = None, drafts: Drafts | None = None
    ) -> None:
        self._threads = threads
        self._data = data
        self._drafts = drafts or Drafts(data)

    async def look(self, folder: Path, path: str) -> Grasp:
        found = await self._threads.run(lambda errand: look_at(self._spot(folder, path)))
        if found is None:
            return Grasp(folder=folder, path=path, seen=None, stamp=None)
        return Grasp(folder=folder, path=path, seen=found.seen, stamp=found.stamp)

    async def put(self, grasp: Grasp, new: SeenFile | None, *, made: Sequence[str] = ()) -> None:
        spot = self._spot(grasp.folder, grasp.path)
        if new is None:
            await self._threads.run(lambda errand: _remove(spot, grasp, made, errand))
        else:
            await self._threads.run(lambda errand: _put(spot, grasp, new, errand, self._drafts))

    def _spot(self, folder: Path, path: str) -> Spot:
        parts = tuple(path.split("/"))
        if any(part in ("", ".", "..") for part in parts) or "\0" in path:
            raise ToolFailed(f"{path} is no path in the workspace.")
        vault, root = vault_at(self._data), os.path.realpath(folder)
        check_way(os.path.join(root, *parts), vault)
        return Spot(root=root, parts=parts, given=path, vault=vault)


def _remove(spot: Spot, grasp: Grasp, folders: Sequence[str], errand: Errand) -> None:
    with opened_parent(spot) as parent:
        _must_be(spot, parent, grasp)
        errand.claim()
        os.unlink(spot.name, dir_fd=parent)
    for way in sorted(folders, key=len, reverse=True):
        above = replace(spot, parts=tuple(way.split("/")))
        # One that somebody uses by now stays.
        with suppress(OSError), opened_parent(above) as parent:
            os.rmdir(above.name, dir_fd=parent)


def _put(spot: Spot, grasp: Grasp, new: SeenFile, errand: Errand, drafts: Drafts) -> None:
    content = new.content
    assert content is not None, "what is put there is known"
    with opened_parent(spot, made) as parent, drafts.beside(spot, parent) as draft:
        if new.state.link:
            os.symlink(os.fsdecode(content), draft, dir_fd=parent)
        else:
            _write(draft, content, new.state.mode, parent)
        drafts.made()
        _must_be(spot, parent, grasp)
        errand.claim()
        os.replace(draft, spot.name, src_dir_fd=parent, dst_dir_fd=parent)


def _write(draft: str, content: bytes, mode: int, parent: int) -> None:
    descriptor = os.open(draft, FRESH, 0o600, dir_fd=parent)
    with open(descriptor, "wb") as file:
        file.write(content)
        os.fchmod(descriptor, mode)
        file.flush()
        os.fsync(descriptor)


def _must_be(spot: Spot, parent: int, grasp: Grasp) -> None:
    """Raises Meanwhile if it is no longer as it was seen."""
    try:
        found = stamp_of(os.stat(spot.name, dir_fd=parent, follow_symlinks=False))
    except FileNotFoundError:
        found = None
    if found != grasp.stamp:
        raise Meanwhile
