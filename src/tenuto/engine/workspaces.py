"""Workspaces: made, changed, and removed with all that is in them."""

from msgspec.structs import replace

from tenuto.core.error import Forbidden
from tenuto.core.principal import Principal
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

    async def create(
        self, name: str, path: str, *, by: Principal, once: Once | None = None
    ) -> Workspace:
        workspace = Workspace(
            id=WorkspaceId(self._node.ids.new("wsp")),
            name=name,
            path=path,
            by=by.id,
            created_at=self._node.clock.now(),
        )
        return await self._store.put_workspace(workspace, once=once)

    async def change(
        self, workspace_id: WorkspaceId, *, name: str | None, path: str | None, by: Principal
    ) -> Workspace:
        workspace = await self._store.seen_by(by).workspace(workspace_id)
        changed = replace(
            workspace,
            name=workspace.name if name is None else name,
            path=workspace.path if path is None else path,
        )
        return await self._store.put_workspace(changed)

    async def delete(self, workspace_id: WorkspaceId, *, by: Principal) -> None:
        """Remove a workspace with all its sessions; its folder is left alone."""
        sees = self._store.seen_by(by)
        if workspace_id == DEFAULT_WORKSPACE:
            raise Forbidden("the default workspace cannot be deleted")
        await sees.workspace(workspace_id)
        compared = ComparisonQuery(workspace_id=workspace_id, limit=100)
        while comparisons := (await sees.comparisons(compared)).comparisons:
            for found in comparisons:
                await self._comparisons.delete(found.comparison.id, by=by)
        for archived in (False, True):
            query = SessionQuery(workspace_id=workspace_id, archived=archived, limit=100)
            while sessions := (await sees.sessions(query)).sessions:
                for session in sessions:
                    await self._sessions.delete(session.id, by=by)
        await self._store.delete_workspace(workspace_id)
