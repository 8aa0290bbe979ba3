"""Workspaces: made, changed, and removed with all that is in them."""

from msgspec.structs import replace

from tenuto.core.error import Forbidden
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.core.value import WorkspaceId
from tenuto.engine.comparisons import ComparisonKeeper
from tenuto.engine.node import Node
from tenuto.engine.sessions import SessionKeeper
from tenuto.ports.query import ComparisonQuery, Once, SessionQuery
from tenuto.ports.store import Store


class WorkspaceKeeper:
    def __init__(
        self, store: Store, sessions: SessionKeeper, comparisons: ComparisonKeeper, node: Node
    ) -> None:
        self._store = store
        self._sessions = sessions
        self._comparisons = comparisons
        self._node = node

    async def create(self, name: str, path: str, *, once: Once | None = None) -> Workspace:
        workspace = Workspace(
            id=WorkspaceId(self._node.ids.new("wsp")),
            name=name,
            path=path,
            created_at=self._node.clock.now(),
        )
        return await self._store.put_workspace(workspace, once=once)

    async def change(
        self, workspace_id: WorkspaceId, *, name: str | None, path: str | None
    ) -> Workspace:
        workspace = await self._store.workspace(workspace_id)
        changed = replace(
            workspace,
            name=workspace.name if name is None else name,
            path=workspace.path if path is None else path,
        )
        return await self._store.put_workspace(changed)

    async def delete(self, workspace_id: WorkspaceId) -> None:
        """Remove a workspace with all its sessions; its folder is left alone."""
        if workspace_id == DEFAULT_WORKSPACE:
            raise Forbidden("the default workspace cannot be deleted")
        await self._store.workspace(workspace_id)
        compared = ComparisonQuery(workspace_id=workspace_id, limit=100)
        while comparisons := (await self._store.comparisons(compared)).comparisons:
            for found in comparisons:
                await self._comparisons.delete(found.comparison.id)
        for archived in (False, True):
            query = SessionQuery(workspace_id=workspace_id, archived=archived, limit=100)
            while sessions := (await self._store.sessions(query)).sessions:
                for session in sessions:
                    await self._sessions.delete(session.id)
        await self._store.delete_workspace(workspace_id)
