"""Workspaces: made, changed, and removed with all that is in them."""

from typing import Any

from msgspec.structs import replace

from tenuto.core.error import Forbidden
from tenuto.core.principal import Principal
from tenuto.core.rule import Rule
from tenuto.core.session import DEFAULT_WORKSPACE, Workspace
from tenuto.core.value import WorkspaceId
from tenuto.engine.comparisons import ComparisonKeeper
from tenuto.engine.node import Node
from tenuto.engine.sessions import SessionKeeper
from tenuto.ports.command import Commands, Guide, JoinedCommands
from tenuto.ports.query import ComparisonQuery, Once, SessionQuery
from tenuto.ports.store import Store


class WorkspaceKeeper:
    def __init__(
        self,
        store: Store,
        sessions: SessionKeeper,
        comparisons: ComparisonKeeper,
        node: Node,
        commands: Commands | None = None,
    ) -> None:
        self._commands = commands or JoinedCommands()
        self._store = store
        self._sessions = sessions
        self._comparisons = comparisons
        self._node = node

    async def create(
        self,
        name: str,
        path: str,
        *,
        home: str | None = None,
        by: Principal,
        once: Once | None = None,
    ) -> Workspace:
        """Make one for a folder that is there. Without a home: a shared one, where there are
        several nodes. Raises InvalidInput."""
        path, home = await self._found(path, home)
        workspace = Workspace(
            id=WorkspaceId(self._node.ids.new("wsp")),
            name=name,
            path=path,
            home=home,
            by=by.id,
            created_at=self._node.clock.now(),
        )
        await self._node.folders.mark(workspace)
        return await self._store.put_workspace(workspace, once=once)

    async def change(
        self,
        workspace_id: WorkspaceId,
        *,
        name: str | None = None,
        path: str | None = None,
        home: str | None = None,
        rules: tuple[Rule, ...] | None = None,
        by: Principal,
    ) -> Workspace:
        """What is None stays as it is, or as somebody else makes it at the same moment."""
        now = await self._store.seen_by(by).workspace(workspace_id)
        place: dict[str, Any] = {}
        if path is not None or home is not None:
            there = now.path if path is None else path
            found, where = await self._found(there, home or now.home)
            place = {"path": found, "home": where}
            await self._node.folders.mark(replace(now, **place))
        said = {"name": name, "rules": rules}
        new = place | {field: value for field, value in said.items() if value is not None}
        return await self._store.change_workspace(workspace_id, lambda one: replace(one, **new))

    async def guides(self, workspace_id: WorkspaceId, *, by: Principal) -> tuple[Guide, ...]:
        """What its folder tells agents; nothing if the folder is on another node."""
        workspace = await self._store.seen_by(by).workspace(workspace_id)
        if not await self._node.folders.has(workspace):
            return ()
        return await self._commands.guides(workspace, self._node.folders.path(workspace))

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

    async def _found(self, path: str, home: str | None) -> tuple[str, str | None]:
        nodes = {node.name for node in await self._store.nodes()} if home else ()
        return await self._node.folders.found(path, home, nodes=nodes)
