"""The vault: the server's own folder, with its database, token and keys. No file tool goes there."""

import os
from itertools import pairwise
from pathlib import Path

from tenuto.core.value import Value
from tenuto.ports.tool import ToolFailed

OPEN = "workspace"
Identity = tuple[int, int]


class Vault(Value):
    """What stays closed, by device and inode: no link and no second name leads round it."""

    folder: Identity | None = None
    """None: there is nothing to keep."""
    opening: Identity | None = None
    """The one folder in it that is a workspace's; None: there is none."""

    def check(self, above: Identity, below: Identity | None) -> None:
        """Raises ToolFailed if the step from one folder into the next is into the vault.

        None is what is not there: whether it is, is not told either.
        """
        if above == self.folder and (below is None or below != self.opening):
            raise refusal()

    def check_file_in(self, folder: Identity) -> None:
        """Raises ToolFailed if this is the vault itself: none of its files is a tool's to touch."""
        if folder == self.folder:
            raise refusal()


def vault_at(data: Path | None) -> Vault:
    if data is None:
        return Vault()
    return Vault(folder=_identity_at(str(data)), opening=_identity_at(str(data / OPEN)))


def check_way(target: str, vault: Vault) -> None:
    """Raises ToolFailed if a real path, from the root of all, leads into the vault."""
    way = [str(folder) for folder in (*reversed(Path(target).parents), Path(target))]
    for above, below in pairwise(map(_identity_at, way)):
        if above is not None:
            vault.check(above, below)


def identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def refusal() -> ToolFailed:
    return ToolFailed("That is in the server's own data folder, which tools may not look into.")


def _identity_at(path: str) -> Identity | None:
    try:
        return identity(os.stat(path))
    except OSError:
        return None
