"""The home of a workspace: on which node its folder is, and who may therefore start its runs."""

from tenuto.core.run import Mode, Run
from tenuto.core.session import Workspace

SHARED = "shared"
"""The home of a folder that every node has, below its own `--workspaces`."""


def may_start(run: Run, workspace: Workspace, *, node: str, sees: bool) -> bool:
    """Whether the node of this name may start it. Chats run anywhere; agents where the folder is.

    `sees` says of a shared one whether the node has found it.
    """
    return not needs_folder(run) or is_home(workspace, node=node, sees=sees)


def needs_folder(run: Run) -> bool:
    return run.mode is Mode.AGENT


def is_home(workspace: Workspace, *, node: str, sees: bool) -> bool:
    match workspace.home:
        case None:
            return True
        case "shared":
            return sees
        case name:
            return name == node
