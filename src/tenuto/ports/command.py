"""Commands: `/NAME words` in a prompt, and what the model is told in their place."""

from pathlib import Path
from typing import Protocol

from tenuto.core.value import Value


class Guide(Value):
    """Something in a workspace that tells agents how to work there."""

    kind: str
    """`instructions`, `skill` or `command`."""
    name: str
    """How to call it: `/NAME`; of instructions, the name of their file."""
    about: str
    path: str


class Commands(Protocol):
    async def expand(self, folder: Path, name: str, words: str) -> str | None:
        """What the command means with these words; None: there is no such command."""

    async def guides(self, folder: Path) -> tuple[Guide, ...]:
        """All that is used of the folder."""


class NoCommands:
    """Implements `Commands`: there are none."""

    async def expand(self, folder: Path, name: str, words: str) -> str | None:
        return None

    async def guides(self, folder: Path) -> tuple[Guide, ...]:
        return ()
