"""Changes: what runs did to files, and taking it back where nobody else has changed them since."""

import logging
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import changing
from tenuto.core.error import InvalidInput, SessionBusy
from tenuto.core.file_change import ChangeKind, ChangeState, FileChange, same
from tenuto.core.home import SHARED
from tenuto.core.principal import Principal
from tenuto.core.session import Workspace
from tenuto.core.value import RunId, Value
from tenuto.engine.keeping_bytes import ByteKeeper
from tenuto.engine.node import Node
from tenuto.engine.protect import finish
from tenuto.ports.changes import Grasp, Hand, Meanwhile, SeenFile
from tenuto.ports.points import Step
from tenuto.ports.store import Store
from tenuto.ports.tool import ToolFailed

log = logging.getLogger(__name__)

SINCE = "It was changed since."
GONE = "What was there is no longer kept."
STILL_THERE = "It was not taken back, so there is nothing to put there again."
FINISH_SECONDS = 10.0


class Way(StrEnum):
    BACK = "back"
    """To what was there before the run."""
    FORTH = "forth"
    """To what the run had made, after that was taken back."""


class RevertConflict(Value):
    path: str
    why: str


class Reverted(Value):
    reverted: tuple[str, ...]
    conflicts: tuple[RevertConflict, ...]
    """Not touched."""


class RunFolder(Value):
    path: Path
    made: tuple[str, ...]
    """Folders in it that the run made: they go when they are empty."""


class ChangeKeeper:
    def __init__(self, store: Store, hand: Hand, node: Node) -> None:
        self._store = store
        self._hand = hand
        self._node = node

    async def of_run(self, run_id: RunId, *, by: Principal) -> tuple[FileChange, ...]:
        """What the run did to files; what it put back itself is not told."""
        sees = self._store.seen_by(by)
        await sees.run(run_id)
        return tuple(change for change in await sees.changes(run_id) if not change.is_nothing)

    async def revert(
        self, run_id: RunId, paths: Sequence[str] | None, way: Way, *, by: Principal
    ) -> Reverted:
        """Take back what the run did to these files, or to all, each only where it is as the run
        left it."""
        run = await self._store.seen_by(by).run(run_id)
        if not run.ended:
            raise SessionBusy(f"run {run_id} is still at work")
        known = await self.of_run(run_id, by=by)
        changes = _chosen(known, paths, way)
        session = await self._store.session(run.session_id)
        workspace = await self._store.workspace(session.workspace_id)
        if not await self._node.folders.has(workspace):
            why = _elsewhere(workspace)
            return Reverted(
                reverted=(),
                conflicts=tuple(RevertConflict(path=one.path, why=why) for one in changes),
            )
        folder = self._node.folders.path(workspace)
        async with self._node.folders.lock(str(folder)):
            # A folder that the run made for one file may hold another that it made later.
            made = {one for change in known for one in change.folders}
            task = self._all(RunFolder(path=folder, made=tuple(made)), changes, way, by)
            return await finish(task, seconds=FINISH_SECONDS)

    async def _all(
        self, where: "RunFolder", changes: Sequence[FileChange], way: Way, by: Principal
    ) -> Reverted:
        reverted, conflicts = [], []
        for change in sorted(changes, key=partial(_turn, way)):
            why = await _One(self._store, self._hand, self._node, change, way, by).revert(where)
            if why:
                conflicts.append(RevertConflict(path=change.path, why=why))
            else:
                reverted.append(change.path)
        return Reverted(reverted=tuple(sorted(reverted)), conflicts=tuple(conflicts))


class _One:
    """One change, being taken back or put there again."""

    def __init__(
        self,
        store: Store,
        hand: Hand,
        node: Node,
        change: FileChange,
        way: Way,
        by: Principal,
    ) -> None:
        self._store = store
        self._hand = hand
        self._node = node
        self._change = change
        self._way = way
        self._by = by
        self._bytes = ByteKeeper(store, node, change.session_id)

    async def revert(self, where: RunFolder) -> str:
        """Why it was not done; empty if it was, or there was nothing to do."""
        change = self._change
        if change.state is ChangeState.NOT_REVERTIBLE:
            return change.why
        if self._way is Way.FORTH and change.state is not ChangeState.REVERTED:
            return STILL_THERE
        try:
            grasp = await self._hand.look(where.path, change.path)
            return await self._moved(grasp, where.made)
        except (Meanwhile, IsADirectoryError, NotADirectoryError):
            return await self._conflict(SINCE)
        except ToolFailed as failure:
            return await self._conflict(str(failure))
        except OSError as error:
            return await self._conflict(error.strerror or "It could not be written.")

    async def _moved(self, grasp: Grasp, made: Sequence[str]) -> str:
        change, found = self._change, None if grasp.seen is None else grasp.seen.state
        goal = change.before if self._way is Way.BACK else change.after
        if same(found, goal):
            if self._done(change) != change:
                await self._tell(self._done(change))
            return ""
        if not (change.is_left(found) if self._way is Way.BACK else same(found, change.before)):
            return await self._conflict(SINCE)
        content = await self._bytes.read(goal)
        if goal is not None and content is None:
            return await self._conflict(GONE, ChangeState.NOT_REVERTIBLE)
        kept = await self._bytes.keep(change.path, grasp.seen, by=self._by.id)
        self._node.points.reach(Step.FILE_KEPT, "revert")
        if self._way is Way.BACK:
            change = replace(change, after=kept)
        await self._commit_changing(replace(change, next=goal))
        self._node.points.reach(Step.FILE_CHANGING, "revert")
        new = None if goal is None else SeenFile(state=goal, content=content)
        await self._hand.put(grasp, new, made=made if goal is None else ())
        self._node.points.reach(Step.FILE_CHANGED, "revert")
        await self._tell(self._done(change))
        return ""

    def _done(self, change: FileChange) -> FileChange:
        state = ChangeState.REVERTED if self._way is Way.BACK else ChangeState.REVERTIBLE
        return replace(change, state=state, why="", next=UNSET)

    async def _conflict(self, why: str, state: ChangeState = ChangeState.CONFLICT) -> str:
        told = replace(self._change, state=state, why=why)
        if told != self._change and self._change.state is not ChangeState.REVERTED:
            await self._tell(told)
        return why

    async def _commit_changing(self, change: FileChange) -> None:
        moment = self._node.moment(by=self._by)
        await self._store.commit(
            change.session_id, partial(changing.reverting, change=change, moment=moment)
        )

    async def _tell(self, change: FileChange) -> None:
        moment = self._node.moment(by=self._by)
        await self._store.commit(
            change.session_id, partial(changing.reverted, change=change, moment=moment)
        )


def _chosen(
    changes: Sequence[FileChange], paths: Sequence[str] | None, way: Way
) -> Sequence[FileChange]:
    if paths is None:
        taken = way is Way.FORTH
        return [one for one in changes if (one.state is ChangeState.REVERTED) is taken]
    known = {change.path: change for change in changes}
    unknown = next((path for path in paths if path not in known), None)
    if unknown is not None:
        raise InvalidInput(f"paths: the run did not change {unknown!r}")
    return [known[path] for path in dict.fromkeys(paths)]


def _turn(way: Way, change: FileChange) -> tuple[bool, str]:
    """What goes away goes first: a folder may have to come in its place."""
    goes = ChangeKind.CREATED if way is Way.BACK else ChangeKind.DELETED
    return change.kind is not goes, change.path


def _elsewhere(workspace: Workspace) -> str:
    if workspace.home == SHARED:
        return "The workspace's folder is not there on the node that was asked."
    return f"The workspace's folder is on node {workspace.home}: ask that node."
