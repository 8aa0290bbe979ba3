"""Changing a memory store: the same promises as on disk, without the disk."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from tenuto.core.desk import Decide, Sight
from tenuto.core.error import Fenced, SessionBusy
from tenuto.core.event import Event, Stored
from tenuto.core.file import FileInfo
from tenuto.core.message import Message
from tenuto.core.principal import Principal
from tenuto.core.session import Control, Fence, Session, Workspace
from tenuto.core.value import NodeId, SessionId, StreamId, WorkspaceId
from tenuto.ports.query import Once, Page
from tenuto.ports.store import Sink, Together
from tenuto.ports.view import View
from tenuto.storage.appendable import must_be_appendable
from tenuto.storage.memory.comparisons import MemoryComparisons
from tenuto.storage.memory.keeping import MemoryKeeping
from tenuto.storage.memory.library import MemoryLibrary
from tenuto.storage.memory.nodes import MemoryNodes
from tenuto.storage.memory.outputs import MemoryOutputs
from tenuto.storage.memory.session_rows import SessionRows, Tape
from tenuto.storage.memory.upkeep import MemoryUpkeep
from tenuto.storage.memory.usage import MemoryUsage
from tenuto.storage.once import Answer, first
from tenuto.storage.plan import Plan, created, echo, empty_desk, plan, planned_for
from tenuto.storage.store_clock import LeaseClock, StoreClock

T = TypeVar("T")


class MemoryStore(
    MemoryComparisons,
    MemoryLibrary,
    MemoryOutputs,
    MemoryUsage,
    MemoryKeeping,
    MemoryNodes,
    MemoryUpkeep,
):
    """A whole store in one object; or one node's way to it, beside those of others.

    Every change runs between two checkpoints and has none inside: others may come before it
    and after it, never into it.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        clock: LeaseClock | None = None,
        beside: "MemoryStore | None" = None,
    ) -> None:
        """`clock` judges leases. What is committed `beside` another rings there, and here alike."""
        super().__init__()
        self._sink = sink
        self._clock = clock or StoreClock()
        self._sinks = [sink]
        """Of all nodes."""
        if beside is not None:
            self._state, self._clock, self._sinks = beside._state, beside._clock, beside._sinks
            self._sinks.append(sink)

    @property
    def shared(self) -> bool:
        return len(self._sinks) > 1

    def seen_by(self, who: Principal) -> View:
        return self

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        must_be_appendable(events)
        return asyncio.ensure_future(self._append(session_id, fence, events))

    async def _append(self, session_id: SessionId, fence: Fence, events: Sequence[Event]) -> int:
        await checkpoint()
        rows = self._state.by_session.get(session_id)
        if (
            rows is None
            or rows.session.active_run != fence.run_id
            or rows.control.epoch != fence.epoch
        ):
            raise Fenced(f"run {fence.run_id} is no longer this writer's")
        tape = self._state.tape(session_id)
        self._tell(StreamId(session_id), tape.append(events))
        head = tape.head
        await checkpoint()
        return head

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        tape = self._state.tape(stream)
        events = tuple(tape.after(after)[:limit])
        return Page(events=events, head=tape.head, folded=tape.folded)

    async def read_many(
        self, after: Mapping[StreamId, int], *, limit: int
    ) -> Mapping[StreamId, Page]:
        there = [stream for stream in after if stream in self._state.tapes]
        return {
            stream: await self.read(stream, after=after[stream], limit=limit) for stream in there
        }

    async def commit(
        self,
        session_id: SessionId,
        decide: Decide[T],
        *,
        sight: Sight = Sight.CONTROL,
        once: Once | None = None,
        answer: type[T] | None = None,
        dead: NodeId | None = None,
    ) -> tuple[T, int]:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            result: T = known.again(once, answer)
        else:
            self._must_be_dead(dead)
            result = self._commit(session_id, decide, sight, once)
        head = self._state.tape(session_id).head
        await checkpoint()
        return result, head

    async def commit_together(
        self, session_ids: Sequence[SessionId], decide: Together[T], *, new: Session | None = None
    ) -> T:
        await checkpoint()
        there = [one for one in session_ids if one in self._state.by_session]
        desks = {
            one: self._state.rows(one).desk(Sight.CONTROL, head=self._state.tape(one).head)
            for one in there
        }
        if new is not None:
            self._state.must_be_new(new.id)
            desks[new.id] = empty_desk(new)
        joint = decide(desks)
        plans = [planned_for(desks[one], change) for one, change in joint.changes.items()]
        for planned in plans:
            self._state.must_hold(planned.claimed)
        for planned in plans:
            if new is not None and planned.session.id == new.id:
                self._create(new, planned)
            else:
                self._apply(planned)
            self._echo(planned)
        for session_id in joint.changes:
            self._changed(session_id)
        await checkpoint()
        return joint.result

    async def answered(self, once: Once | None, answer: type[T]) -> T | None:
        known = self._known(once)
        if once is None or known is None:
            return None
        result: T = known.again(once, answer)
        return result

    async def create_session(
        self,
        session: Session,
        events: Sequence[Event] = (),
        finished: Sequence[Message] = (),
        *,
        once: Once | None = None,
    ) -> Session:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            return self._again(known, once, Session)
        self._state.workspace(session.workspace_id)
        made = self._create(session, plan(session, Control(), events, finished))
        self._remember(once, session.id, made)
        await checkpoint()
        return made

    async def put_workspace(self, workspace: Workspace, *, once: Once | None = None) -> Workspace:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            return self._again(known, once, Workspace)
        self._state.workspaces[workspace.id] = workspace
        self._state.tapes.setdefault(StreamId(workspace.id), Tape())
        self._remember(once, None, workspace)
        return workspace

    async def change_workspace(
        self, workspace_id: WorkspaceId, change: Callable[[Workspace], Workspace]
    ) -> Workspace:
        await checkpoint()
        changed = change(self._state.workspace(workspace_id))
        self._state.workspaces[workspace_id] = changed
        await checkpoint()
        return changed

    async def delete_workspace(self, workspace_id: WorkspaceId) -> None:
        await checkpoint()
        self._state.workspace(workspace_id)
        sessions = (rows.session.workspace_id for rows in self._state.by_session.values())
        comparisons = (one.workspace_id for one in self._state.comparisons.values())
        if workspace_id in (*sessions, *comparisons):
            raise SessionBusy(f"workspace {workspace_id} still has sessions")
        del self._state.workspaces[workspace_id]
        del self._state.tapes[StreamId(workspace_id)]

    async def put_file(
        self, info: FileInfo, content: bytes, *, once: Once | None = None
    ) -> FileInfo:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            return self._again(known, once, FileInfo)
        self._state.files[info.id] = (info, content)
        self._remember(once, None, info)
        return info

    def _commit(
        self, session_id: SessionId, decide: Decide[T], sight: Sight, once: Once | None
    ) -> T:
        rows = self._state.rows(session_id)
        desk = rows.desk(sight, head=self._state.tape(session_id).head)
        change = decide(desk)
        planned = planned_for(desk, change)
        self._state.must_hold(planned.claimed)
        self._remember(once, session_id, change.result)
        if change.events or change.booked or change.control != desk.control:
            self._apply(planned)
            self._echo(planned)
            self._changed(session_id)
        return change.result

    def _echo(self, planned: Plan) -> None:
        """The session that people look at repeats what its sub-agents ask."""
        session = planned.session
        root = self._state.by_session.get(session.root_id)
        if root is None or not session.parent:
            return
        heard = echo(planned, self._state.session(root), root.control)
        if heard is not None:
            self._apply(heard)

    def _create(self, session: Session, planned: Plan) -> Session:
        beginning = created(planned)
        self._state.must_be_new(session.id)
        self._state.must_hold(beginning.claimed)
        self._state.add(session)
        self._apply(beginning)
        return planned.session

    def _apply(self, planned: Plan) -> None:
        session = planned.session
        rows: SessionRows = self._state.by_session[session.id]
        rows.apply(planned)
        self._state.tape(session.id).extend(planned.stored)
        for file_id in planned.files:
            self._state.uses.setdefault(file_id, set()).add(session.id)
        if planned.deleted_at is not None:
            self._state.remove(session, planned.deleted_at)
        for booking in planned.used:
            self._book(session.workspace_id, booking)
        shared = self._state.tape(session.workspace_id).append(planned.shared)
        self._tell(StreamId(session.id), planned.stored)
        self._tell(StreamId(session.workspace_id), shared)

    def _changed(self, session_id: SessionId) -> None:
        self._sink.changed(session_id)
        for sink in self._others():
            sink.rang_changed((session_id,))

    def _tell(self, stream: StreamId, stored: tuple[Stored, ...]) -> None:
        if not stored:
            return
        self._sink.committed(stream, stored)
        for sink in self._others():
            sink.rang((stream,))

    def _others(self) -> Sequence[Sink]:
        return [sink for sink in self._sinks if sink is not self._sink]

    def _known(self, once: Once | None) -> Answer | None:
        return None if once is None else self._state.answers.get((once.by, once.key))

    def _again(self, known: Answer, once: Once, kind: type[T]) -> T:
        result: T = known.again(once, kind)
        return result

    def _remember(self, once: Once | None, owner: str | None, result: Any) -> None:
        if once is not None:
            self._state.answers[once.by, once.key] = first(once, owner, result)
