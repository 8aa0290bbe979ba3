"""The workspace that is always there."""

from pathlib import Path

from tenuto.clock import SystemClock
from tenuto.config import Settings
from tenuto.core.error import NotFound
from tenuto.core.home import SHARED
from tenuto.core.principal import OWNER
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.ports.query import Once
from tenuto.ports.store import Store
from tenuto.wiring import translate

FOLDER = "workspace"
"""In the data folder of the server, or of the node that made it."""
SHARED_FOLDER = "default"


async def ensure_default_workspace(settings: Settings, store: Store, node: str) -> None:
    """Of nodes that start at once, one makes it."""
    try:
        await store.workspace(DEFAULT_WORKSPACE)
    except NotFound:
        now = SystemClock().now()
        path, home = _place(settings, node)
        made = Workspace(id=DEFAULT_WORKSPACE, name="Default", path=path, home=home, created_at=now)
        once = Once(by=OWNER.id, key="the default workspace", digest="", at=now)
        made = await store.put_workspace(made, once=once)
        await translate.folders(settings, node).mark(made)


def _place(settings: Settings, node: str) -> tuple[str, str | None]:
    if settings.is_shared and settings.workspaces is not None:
        _made(settings.workspaces / SHARED_FOLDER)
        return SHARED_FOLDER, SHARED
    folder = _made(settings.data.resolve() / FOLDER)
    return str(folder), node if settings.is_shared else None


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder
