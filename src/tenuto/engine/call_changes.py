"""What a call of a tool does to files: kept before it is done, and written down after."""

import asyncio
from collections.abc import Sequence
from functools import partial

import anyio.to_thread
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import changing
from tenuto.core.desk import Decide
from tenuto.core.diff import compared
from tenuto.core.error import NotFound
from tenuto.core.file_change import FileChange, FileStep, change_id, folded, same
from tenuto.core.run import Run
from tenuto.core.session import Fence
from tenuto.core.text import whole
from tenuto.core.value import CallId, RunId, SessionId, Value
from tenuto.engine.insist import insist
from tenuto.engine.keeping_bytes import ByteKeeper
from tenuto.engine.node import Node
from tenuto.engine.protect import finish
from tenuto.ports.changes import Deed, FoundChange, SeenFile, Writing
from tenuto.ports.points import Step
from tenuto.ports.store import Store

DIFF_CHARACTERS = 10_000
"""Of one change: each later one of the same file tells all of it again."""
MOST_DIFFS = 200_000
"""Characters of all diffs that one look at the folder gives."""
MOST_CHANGES = 1_000
"""Of one look; what is beyond is not written down."""
AT_ONCE = 8
TELL_SECONDS = 2.0
"""After a stop."""
TOO_LARGE = "It was too large to be kept."
ODD_NAME = "Its name is no text."


class Owner(Value):
    """Whose changes they are: of a sub-agent's run, those of the run that it works for."""

    session_id: SessionId
    run_id: RunId


class CallChanges:
    """Implements `FileChanges`. They are of the run: several of one path become one."""

    def __init__(
        self,
        store: Store,
        node: Node,
        *,
        run: Run,
        owner: Owner,
        fence: Fence | None,
        call_id: CallId,
        tool: str,
    ) -> None:
        self._store = store
        self._node = node
        self._run = run
        self._session_id = owner.session_id
        self._owner = owner.run_id
        self._fence = fence
        self._call_id = call_id
        self._tool = tool
        self._bytes = ByteKeeper(store, node, owner.session_id)
        self._room = asyncio.Semaphore(AT_ONCE)

    @property
    def owner(self) -> RunId:
        return self._owner

    async def replace(self, writing: Writing, deed: Deed) -> None:
        async with self._node.folders.lock(self._owner):
            await self._replace(writing, deed)

    async def found(self, changes: Sequence[FoundChange]) -> None:
        async with self._node.folders.lock(self._owner):
            await self._found(changes)

    async def _replace(self, writing: Writing, deed: Deed) -> None:
        points = self._node.points
        known, step = await self._step(
            FoundChange(
                path=writing.path, old=writing.old, new=writing.new, folders=writing.folders
            )
        )
        points.reach(Step.FILE_KEPT, self._tool)
        begun = known or folded(None, replace(step, after=step.before), self._new(step.path))
        await self._commit(
            partial(
                changing.changing,
                fence=self._fence,
                change=replace(begun, next=step.after),
                moment=self._node.moment(),
            )
        )
        points.reach(Step.FILE_CHANGING, self._tool)
        try:
            left = await deed.do()
        except BaseException:
            await finish(self._settle(deed, known, step, begun), seconds=TELL_SECONDS)
            raise
        points.reach(Step.FILE_CHANGED, self._tool)
        step = await self._compared(known, replace(step, after=left), writing.old, writing.new)
        await finish(self._tell([self._folded(known, step)]), seconds=TELL_SECONDS)

    async def _found(self, changes: Sequence[FoundChange]) -> None:
        some = changes[:MOST_CHANGES]
        steps = await asyncio.gather(*(self._step(change) for change in some))
        if not steps:
            return
        self._node.points.reach(Step.FILE_KEPT, self._tool)
        told, room = [], MOST_DIFFS
        for change, (known, step) in zip(some, steps, strict=True):
            if room > 0:
                step = await self._compared(known, step, change.old, change.new)
                room -= len(step.diff)
            told.append(self._folded(known, step))
        await self._tell(told)

    async def _step(self, change: FoundChange) -> tuple[FileChange | None, FileStep]:
        """What the run did to the path before, and what is done now; the old bytes are kept."""
        path = whole(change.path)
        old, new = change.old, change.new
        async with self._room:
            known = await self._known(path)
            before = None if old is None else old.state
            # What the run itself put there needs not be kept.
            if known is None or not known.is_left(before):
                before = await self._bytes.keep(path, old, by=self._run.by)
        lost = TOO_LARGE if old is not None and old.content is None else ""
        step = FileStep(
            call_id=self._call_id,
            tool=self._tool,
            path=path,
            before=before,
            after=None if new is None else new.state,
            why=change.why or (ODD_NAME if path != change.path else lost if known is None else ""),
            folders=change.folders,
        )
        return known, step

    async def _compared(
        self,
        known: FileChange | None,
        step: FileStep,
        old: SeenFile | None,
        new: SeenFile | None,
    ) -> FileStep:
        """With what the run did to the file so far, to be seen."""
        before = None if known is None else known.before
        first = b"" if old is None else old.content
        if known is not None:
            first = b"" if before is None else await self._bytes.read(before)
        last = b"" if new is None else new.content
        shown = await anyio.to_thread.run_sync(
            partial(compared, step.path, first, last, limit=DIFF_CHARACTERS)
        )
        if shown is None:
            return step
        return replace(step, added=shown.added, removed=shown.removed, diff=shown.diff)

    async def _known(self, path: str) -> FileChange | None:
        thing_id = change_id(self._owner, path)
        ask = partial(self._store.thing, FileChange, thing_id)
        try:
            return await insist(ask, clock=self._node.clock)
        except NotFound:
            return None

    def _folded(self, known: FileChange | None, step: FileStep) -> FileChange:
        return folded(known, step, self._new(step.path))

    def _new(self, path: str) -> FileChange:
        return FileChange(
            id=change_id(self._owner, path),
            session_id=self._session_id,
            run_id=self._owner,
            call_id=self._call_id,
            path=path,
            tool=self._tool,
            by=self._run.by,
        )

    async def _settle(
        self, deed: Deed, known: FileChange | None, step: FileStep, begun: FileChange
    ) -> None:
        """It failed, or was stopped: whether it was done is seen in the folder."""
        done = same(await deed.look(), step.after)
        await self._tell([self._folded(known, step) if done else replace(begun, next=UNSET)])

    async def _tell(self, changes: Sequence[FileChange]) -> None:
        await self._commit(
            partial(
                changing.changed,
                fence=self._fence,
                changes=tuple(changes),
                moment=self._node.moment(),
            )
        )

    async def _commit(self, decide: Decide[None]) -> None:
        await insist(partial(self._store.commit, self._session_id, decide), clock=self._node.clock)
