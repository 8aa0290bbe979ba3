"""Commands: `/NAME words` in a prompt, and what the model is told in their place."""

from pathlib import Path
from typing import Protocol

from tenuto.core.session import Workspace
from tenuto.core.value import Value


class Guide(Value):
    """Something in a workspace that tells agents how to work there."""

    kind: str
    """`instructions`, `skill` or `command`."""
    name: str
    """How to call it: `/NAME`; of instructions, the name of their file."""
    about: str
    path: str
    """Empty: it is no file."""


class Commands(Protocol):
    async def expand(self, workspace: Workspace, folder: Path, name: str, words: str) -> str | None:
        """What the command means with these words; None: there is no such command. Raises
        InvalidInput if there is, but it cannot be had."""

    async def guides(self, workspace: Workspace, folder: Path) -> tuple[Guide, ...]:
        """All that is used of the workspace."""


class JoinedCommands:
    """Implements `Commands`: those of several; of one name, the first."""

    def __init__(self, *sources: Commands) -> None:
        self._sources = sources

    async def expand(self, workspace: Workspace, folder: Path, name: str, words: str) -> str | None:
        for source in self._sources:
            meaning = await source.expand(workspace, folder, name, words)
            if meaning is not None:
                return meaning
        return None

    async def guides(self, workspace: Workspace, folder: Path) -> tuple[Guide, ...]:
        found = [await source.guides(workspace, folder) for source in self._sources]
        return tuple(guide for guides in found for guide in guides)
