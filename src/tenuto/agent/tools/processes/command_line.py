"""What a person would type into a shell, made ready to be run."""

import os
import shutil
from pathlib import Path

from tenuto.agent.tools.files.folder import locate, opened_folder
from tenuto.agent.tools.files.vault import vault_at
from tenuto.agent.tools.processes.environment import without_secrets
from tenuto.agent.tools.processes.tree import Command
from tenuto.agent.tools.settings import ToolSettings
from tenuto.ports.tool import ToolFailed

COMMAND_BYTES = 120_000
"""The kernel takes no argument over 128 KiB."""


def must_be_a_command(line: str) -> None:
    """Raises ToolFailed for what no shell could run."""
    try:
        size = len(os.fsencode(line))
    except UnicodeEncodeError as error:
        raise ToolFailed("The command has half of a character in it.") from error
    if "\0" in line:
        raise ToolFailed("The command has a zero byte in it.")
    if not line.strip():
        raise ToolFailed("The command is empty.")
    if size > COMMAND_BYTES:
        raise ToolFailed("The command is too long. Write it to a file with write_file and run it.")


def folder_of(workspace: Path, cwd: str, data: Path | None) -> str:
    """Where to run it. Blocks. Raises ToolFailed and OSError."""
    spot = locate(workspace, cwd, vault_at(data))
    with opened_folder(spot):
        return os.path.join(spot.root, *spot.parts)


def in_shell(line: str, folder: str, *, seconds: float, settings: ToolSettings) -> Command:
    return Command(
        arguments=(_shell(), "-c", line),
        folder=folder,
        environment={**without_secrets(os.environ), "PWD": folder},
        seconds=seconds,
        patience=settings.patience,
    )


def _shell() -> str:
    return shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin") or "/bin/sh"
