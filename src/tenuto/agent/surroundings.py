"""What is around an agent: the machine, the folder, and what the people who own it ask of agents."""

import os
import platform
import shutil
from collections.abc import Sequence
from pathlib import Path

from tenuto.agent.tools.files.folder import locate, opened_file, opened_folder
from tenuto.agent.tools.files.vault import Vault
from tenuto.core.text import whole
from tenuto.core.value import Instant, Value
from tenuto.ports.tool import ToolFailed

NAMES = ("AGENTS.md", "CLAUDE.md")
"""Where people write down what agents should know; the first that is there counts."""
INSTRUCTION_BYTES = 32_000
LISTED = 60
HEAD_BYTES = 400


class Instruction(Value):
    """A file that tells agents how to work here."""

    path: str
    text: str
    cut: bool = False
    """Only its beginning is told."""


class Surroundings(Value):
    folder: str
    system: str
    shell: str
    today: str
    branch: str | None
    """Of git; None: it is no repository."""
    names: tuple[str, ...]
    """What is in the folder, the first few; folders end with a slash."""
    more: int
    instructions: tuple[Instruction, ...]
    skills: tuple[tuple[str, str], ...] = ()
    """Their names, and what they are for."""


def look_around(folder: Path, now: Instant, vault: Vault) -> Surroundings:
    """As it is now. Blocks. What cannot be read is not told; nothing is executed."""
    names = _names(folder, vault)
    return Surroundings(
        folder=whole(str(folder)),
        system=f"{platform.system()} {platform.machine()}",
        shell=os.path.basename(shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin") or "sh"),
        today=now[:10],
        branch=_branch(folder, vault),
        names=tuple(names[:LISTED]),
        more=max(0, len(names) - LISTED),
        instructions=instructions_in(folder, "", vault),
    )


def instructions_in(folder: Path, base: str, vault: Vault) -> tuple[Instruction, ...]:
    """What the folder at `base` asks of agents; `base` is empty or ends with a slash."""
    for name in NAMES:
        content = read_in(folder, base + name, vault, INSTRUCTION_BYTES + 1)
        if content is not None and content.strip():
            cut = len(content) > INSTRUCTION_BYTES
            text = content[:INSTRUCTION_BYTES].decode("utf-8", "replace").strip()
            return (Instruction(path=base + name, text=text, cut=cut),)
    return ()


def _names(folder: Path, vault: Vault) -> Sequence[str]:
    try:
        with (
            opened_folder(locate(folder, ".", vault)) as descriptor,
            os.scandir(descriptor) as found,
        ):
            entries = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in found)
    except (OSError, ToolFailed):
        return ()
    return [
        whole(f"{name}/" if is_folder else name) for name, is_folder in entries if name != ".git"
    ]


def _branch(folder: Path, vault: Vault) -> str | None:
    # Read, not asked of git: a repository's own settings can make git run anything.
    head = read_in(folder, ".git/HEAD", vault, HEAD_BYTES)
    if head is None:
        return None
    text = whole(head.decode("utf-8", "replace")).strip()
    return text.removeprefix("ref: refs/heads/") if text.startswith("ref: ") else text[:12]


def read_in(folder: Path, path: str, vault: Vault, limit: int) -> bytes | None:
    """The beginning of a file of the folder; None: it cannot be read."""
    try:
        with opened_file(locate(folder, path, vault)) as descriptor:
            return os.read(descriptor, limit)
    except (OSError, ToolFailed):
        return None
