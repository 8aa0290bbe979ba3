"""Moving everything to another database, with the folders of workspaces told where they are now."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from tenuto.core.error import StorageTrouble
from tenuto.core.home import SHARED
from tenuto.core.session import Workspace
from tenuto.ports.query import NodeState
from tenuto.ports.store import Store
from tenuto.storage.moving import MARK, Chest, chest_of, move

Say = Callable[[str], None]


async def migrate(
    source: str, target: str, *, home: str | None, workspaces: Path | None, say: Say
) -> None:
    """Raises StorageTrouble, with a sentence; then it may be called again.

    `home` is the node that has the folders, for a database that nodes share; `workspaces` is where
    shared folders are, for one that they do not.
    """
    old, new = chest_of(source), chest_of(target)
    for chest in (old, new):
        await _must_rest(chest)
    async with new.store() as store:
        mark = await store.kept(MARK)
        is_whole = mark is not None and not mark.body
    if not is_whole:
        await move(old, new, name=source, said=say)
    async with new.store() as store:
        await _settle(store, home, workspaces, say)


async def _must_rest(chest: Chest) -> None:
    async with chest.store() as store:
        working = [n.name for n in await store.nodes() if n.state is not NodeState.GONE]
    if working:
        raise StorageTrouble(f"stop every server on the databases first: {', '.join(working)}")


async def _settle(store: Store, home: str | None, root: Path | None, say: Say) -> None:
    """A path means something else where there are several nodes."""
    for workspace in await store.workspaces():
        moved = _at_home(workspace, home) if store.shared else _alone(workspace, root)
        if moved != workspace:
            await store.put_workspace(moved)
            say(f"workspace {moved.name}: {moved.path}{f' on {moved.home}' if moved.home else ''}")


def _at_home(workspace: Workspace, home: str | None) -> Workspace:
    if workspace.home is not None:
        return workspace
    if home is None:
        raise StorageTrouble("say with --home which node has the folders of workspaces")
    return replace(workspace, home=home)


def _alone(workspace: Workspace, root: Path | None) -> Workspace:
    if workspace.home != SHARED:
        return replace(workspace, home=None)
    if root is None:
        raise StorageTrouble("say with --workspaces where the shared folders are")
    return replace(workspace, home=None, path=str(root.resolve() / workspace.path))
