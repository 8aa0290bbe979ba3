"""The queue: prompts that wait can still be changed, moved and taken back."""

from msgspec.structs import replace

from tenuto.core import cancelling, editing
from tenuto.core.desk import Change, Decide, Desk
from tenuto.core.editing import QueueEdit
from tenuto.core.error import NotFound, SessionBusy
from tenuto.core.principal import Principal
from tenuto.core.run import Run
from tenuto.core.value import RunId, SessionId, Value
from tenuto.engine.checking import Checking
from tenuto.engine.node import Node
from tenuto.ports.store import Store


class Released(Value):
    released: tuple[RunId, ...]
    head: int


class Queue:
    def __init__(self, store: Store, checking: Checking, node: Node) -> None:
        self._store = store
        self._checking = checking
        self._node = node

    async def withdraw(self, run_id: RunId, *, by: Principal) -> None:
        """Take a queued prompt back."""
        await self._while_queued(
            run_id, lambda desk: cancelling.withdraw(desk, run_id, self._node.moment(by=by)), by
        )

    async def change(self, run_id: RunId, edit: QueueEdit, *, by: Principal) -> Run:
        run = await self._queued(run_id, by)
        if edit.input is not None:
            given = await self._checking.input(edit.input, by=by)
            meaning = await self._checking.meaning(run.session_id, given, run.mode)
            edit = replace(edit, input=given, expanded=meaning)

        def decide(desk: Desk) -> Change[Run]:
            return editing.change_queued(desk, run_id, edit, self._node.moment(by=by))

        return await self._while_queued(run_id, decide, by)

    async def release(self, session_id: SessionId, *, by: Principal) -> Released:
        """Let all go on that is held."""
        await self._store.seen_by(by).session(session_id)
        released, head = await self._store.commit(
            session_id, lambda desk: cancelling.release(desk, self._node.moment(by=by))
        )
        return Released(released=released, head=head)

    async def _while_queued(self, run_id: RunId, decide: Decide[Run], by: Principal) -> Run:
        run = await self._queued(run_id, by)
        try:
            changed, _ = await self._store.commit(run.session_id, decide)
        except NotFound:
            # It has ended since we looked, and says so itself; or its session is gone.
            await self._queued(run_id, by)
            raise
        return changed

    async def _queued(self, run_id: RunId, by: Principal) -> Run:
        run = await self._store.seen_by(by).run(run_id)
        if run.ended:
            raise SessionBusy(f"run {run_id} has already ended {run.status}")
        return run
