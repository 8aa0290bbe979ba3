"""Homes: what this node knows of where folders are, and who says that a run waits for its node."""

import asyncio
import logging
from collections.abc import Callable, Collection

import anyio

from tenuto.core import home, waiting
from tenuto.core.desk import Desk
from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.home import SHARED
from tenuto.core.run import Run
from tenuto.core.session import Workspace
from tenuto.core.value import Instant, SessionId, WorkspaceId
from tenuto.engine.node import Node
from tenuto.ports.query import NodeState
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

ROUND_SECONDS = 1.0
LEAD_SECONDS = 5.0
PATIENCE_SECONDS = 5.0
"""How long a shared folder that the leader does not see may be found by another node."""
TASK = "homes"


class Homes:
    """Only where several nodes share a store: where there is one, every folder is on it."""

    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node
        self._here: dict[WorkspaceId, bool] = {}
        """Whether its folder is on this node."""
        self._workspaces: dict[WorkspaceId, Workspace] = {}
        self._rung: dict[SessionId, None] = {}
        self._wake = asyncio.Event()
        self.on_mine: list[Callable[[SessionId], None]] = []
        """Called with each session that another node was asked about and only this one may run."""

    @property
    def are_many(self) -> bool:
        return self._store.shared

    def may_start(self, run: Run, workspace_id: WorkspaceId) -> bool | None:
        """Whether this node may start it; None: `look_for` it first."""
        if not self.are_many or not home.needs_folder(run):
            return True
        return self._here.get(workspace_id)

    async def refresh(self) -> None:
        workspaces = await self._store.workspaces()
        self._here = {one.id: await self._node.folders.has(one) for one in workspaces}
        self._workspaces = {one.id: one for one in workspaces}

    async def look_for(self, workspace_id: WorkspaceId) -> None:
        await self.refresh()
        self._here.setdefault(workspace_id, False)

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        """Another node was asked about these: a prompt may be for a folder that only we have."""
        if self._is_a_home:
            self._rung.update(dict.fromkeys(session_ids))
            self._wake.set()

    @property
    def _is_a_home(self) -> bool:
        return any(one.home == self._node.name for one in self._workspaces.values())

    async def watch(self) -> None:
        """Go round for ever, and at once when something may wait for this node."""
        while True:
            try:
                await self.begin_rung()
                await self.round()
            except StorageTrouble as trouble:
                log.warning("cannot look where folders are, trying again: %s", trouble)
            except Exception:
                log.exception("a round of the homes failed")
            with anyio.move_on_after(ROUND_SECONDS):
                await self._wake.wait()

    async def begin_rung(self) -> None:
        """Only for speed: what goes unheard here is found by the rescuer's rounds."""
        self._wake.clear()
        rung, self._rung = self._rung, {}
        for session_id in rung:
            try:
                session = await self._store.session(session_id)
            except NotFound:
                continue
            workspace = self._workspaces.get(session.workspace_id)
            if (
                workspace is None
                or workspace.home != self._node.name
                or not (session.queued or session.active_run)
            ):
                continue
            for begin in self.on_mine:
                begin(session_id)

    async def round(self) -> None:
        await self.refresh()
        if not await self._store.lead(TASK, self._node.id, seconds=LEAD_SECONDS):
            return
        away = await self._away()
        if not away:
            return
        for session_id in await self._store.waiting_sessions():
            await self._say(session_id, away)

    async def _away(self) -> dict[WorkspaceId, Instant | None]:
        """Workspaces whose folder nobody has, and since when a prompt must wait to be told so:
        of a shared one only those who see it know."""
        nodes = await self._store.nodes()
        alive = {node.name for node in nodes if node.state is NodeState.ALIVE}
        before = self._node.clock.later(-PATIENCE_SECONDS)
        unseen = [one for one in self._workspaces.values() if not self._here[one.id]]
        return {
            one.id: before if one.home == SHARED else None
            for one in unseen
            if one.home not in alive
        }

    async def _say(self, session_id: SessionId, away: dict[WorkspaceId, Instant | None]) -> None:
        try:
            session = await self._store.session(session_id)
            if session.workspace_id not in away:
                return
            since, moment = away[session.workspace_id], self._node.moment()
            await self._store.commit(
                session_id, lambda desk: waiting.for_home(desk, moment, since=since)
            )
        except NotFound:
            return


class Permit:
    """Whether a run may start here, asked in the middle of the decision to start it."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes
        self.unknown: WorkspaceId | None = None
        """Its workspace is so new that nobody here has looked for its folder."""

    def of(self, desk: Desk) -> Callable[[Run], bool]:
        def may(run: Run) -> bool:
            workspace_id = desk.session.workspace_id
            known = self._homes.may_start(run, workspace_id)
            self.unknown = workspace_id if known is None else None
            return known is True

        return may
