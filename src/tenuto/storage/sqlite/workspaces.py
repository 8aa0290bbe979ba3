"""Workspaces in a SQLite file."""

from collections.abc import Callable, Sequence

from tenuto.core.error import SessionBusy
from tenuto.core.session import Workspace
from tenuto.core.value import WorkspaceId
from tenuto.ports.query import Once
from tenuto.storage.assemble import decode
from tenuto.storage.missing import no_such
from tenuto.storage.sqlite.desks import at_most_once, remember
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.file.writer import Written
from tenuto.storage.statements import encode


class SqliteWorkspaces:
    _db: Database

    async def workspaces(self) -> Sequence[Workspace]:
        rows = await self._db.read(lambda tx: tx.rows("workspaces"))
        return tuple(decode(body, Workspace) for (body,) in rows)

    async def workspace(self, workspace_id: WorkspaceId) -> Workspace:
        return await self._db.read(lambda tx: decode(_workspace(tx, workspace_id)[0], Workspace))

    async def put_workspace(self, workspace: Workspace, *, once: Once | None = None) -> Workspace:
        return await self._db.write(
            lambda tx: at_most_once(
                tx, once, Workspace, lambda: _put_workspace(tx, workspace, once)
            )
        )

    async def change_workspace(
        self, workspace_id: WorkspaceId, change: Callable[[Workspace], Workspace]
    ) -> Workspace:
        def write(tx: Transaction) -> Written[Workspace]:
            now = decode(_workspace(tx, workspace_id)[0], Workspace)
            return _put_workspace(tx, change(now), None)

        return await self._db.write(write)

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        await self._db.write(lambda tx: _delete_workspace(tx, workspace_id))


def _workspace(tx: Transaction, workspace_id: WorkspaceId) -> Row:
    row = tx.row("workspace", id=workspace_id)
    if row is None:
        raise no_such("workspace", workspace_id)
    return row


def _put_workspace(tx: Transaction, workspace: Workspace, once: Once | None) -> Written[Workspace]:
    tx.run(
        "put_workspace",
        id=workspace.id,
        created_at=workspace.created_at,
        body=encode(workspace),
    )
    tx.run("keep_log", stream=workspace.id)
    remember(tx, once, None, workspace)
    return Written(result=workspace)


def _delete_workspace(tx: Transaction, workspace_id: WorkspaceId) -> Written[None]:
    _workspace(tx, workspace_id)
    if tx.row("workspace_has_sessions", id=workspace_id) is not None:
        raise SessionBusy(f"workspace {workspace_id} still has sessions")
    tx.run("delete_workspace", id=workspace_id)
    tx.run("delete_events", stream=workspace_id)
    tx.run("delete_log", stream=workspace_id)
    return Written(result=None)
