"""Sessions, from outside their runs: made, copied, changed, removed."""

import contextlib
import logging
from collections.abc import Callable
from typing import TypedDict

import anyio
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import cancelling, editing
from tenuto.core.cancelling import Covered
from tenuto.core.desk import Change, Desk
from tenuto.core.error import Conflict, Fenced, InvalidInput, NotFound, SessionBusy
from tenuto.core.event import Event, MessageFinished, MessageStarted, PartStarted
from tenuto.core.message import Message
from tenuto.core.principal import Principal
from tenuto.core.run import Reason, Usage
from tenuto.core.session import DEFAULT_WORKSPACE, Session, SessionChanges, TitleSource
from tenuto.core.value import Instant, MessageId, PrincipalId, SessionId, Value, WorkspaceId
from tenuto.engine import families
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.endings import Endings
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.parked import Parked
from tenuto.ports.model import Models
from tenuto.ports.query import Once, SessionQuery
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

UNWIND_SECONDS = 5.0
CHILDREN_AT_ONCE = 100


class NewSession(Value):
    workspace: WorkspaceId = DEFAULT_WORKSPACE
    title: str = ""
    model: str | None = None
    system: str | None = None


class _Told(TypedDict):
    """What the events of a copy have in common."""

    session_id: SessionId
    at: Instant
    by: PrincipalId


class SessionKeeper:
    def __init__(
        self,
        store: Store,
        models: Models,
        coordinator: Coordinator,
        endings: Endings,
        node: Node,
        jobs: JobKeeper,
    ) -> None:
        self._jobs = jobs
        self._store = store
        self._models = models
        self._coordinator = coordinator
        self._endings = endings
        self._node = node

    async def create(self, new: NewSession, *, by: Principal, once: Once | None = None) -> Session:
        if known := await self._store.answered(once, Session):
            return known
        await self._store.seen_by(by).workspace(new.workspace)
        if new.model is not None:
            await self._models.find(new.model)
        now = self._node.clock.now()
        session = Session(
            id=SessionId(self._node.ids.new("ses")),
            workspace_id=new.workspace,
            by=by.id,
            title=new.title,
            title_source=TitleSource.USER if new.title else TitleSource.PROVISIONAL,
            model=new.model,
            system=new.system,
            created_at=now,
            updated_at=now,
        )
        return await self._store.create_session(session, once=once)

    async def fork(
        self,
        session_id: SessionId,
        message_id: MessageId | None,
        *,
        by: Principal,
        once: Once | None = None,
    ) -> Session:
        """A new session that begins with this one's messages, up to `message_id`."""
        if known := await self._store.answered(once, Session):
            return known
        source = await self._store.seen_by(by).snapshot(session_id)
        if any(not run.ended and not run.held for run in source.runs):
            raise SessionBusy(f"session {session_id} is working")
        pane = source.session.comparison
        if pane is not None and pane.blind and not pane.voted:
            raise Conflict("vote first: a blind pane cannot be copied before its model is known")
        messages = _up_to(source.messages, message_id)
        now = self._node.clock.now()
        fork = replace(
            source.session,
            id=SessionId(self._node.ids.new("ses")),
            by=by.id,
            title=f"{source.session.title} (fork)".strip(),
            title_source=TitleSource.AUTO if source.session.title else TitleSource.PROVISIONAL,
            pinned=False,
            archived=False,
            draft="",
            created_at=now,
            updated_at=now,
            head=0,
            usage=Usage(),
            grants=(),
            comparison=None,
            parent=UNSET,
        )
        copies = tuple(self._copy(message, fork.id) for message in messages)
        events = [event for copy in copies for event in _said(copy, now, by)]
        try:
            return await self._store.create_session(fork, events, copies, once=once)
        except InvalidInput:
            # Its files went with the session, if that was deleted since we read it.
            await self._store.session(session_id)
            raise

    async def update(
        self, session_id: SessionId, changes: SessionChanges, *, by: Principal
    ) -> Session:
        sees = self._store.seen_by(by)
        await sees.session(session_id)
        if isinstance(changes.model, str):
            await self._models.find(changes.model)
        moment = self._node.moment(by=by)
        await self._store.commit(session_id, lambda desk: editing.update(desk, changes, moment))
        return await sees.session(session_id)

    async def delete(self, session_id: SessionId, *, by: Principal) -> None:
        """End everything, fence every writer, remove the session and its sub-agents; wait until
        nothing of it runs."""
        await self._store.seen_by(by).session(session_id)
        if (await self._store.control(session_id)).children:
            # Nothing may begin another one while these go.
            await self._end_elsewhere(session_id, _any, by)
        # They first: what a crash leaves is the session, and that can be deleted again.
        await self._delete_children(session_id, by)
        await self.delete_if(session_id, check=_any, by=by)
        await self._delete_children(session_id, by)

    async def _delete_children(self, session_id: SessionId, by: Principal) -> None:
        query = SessionQuery(parent=session_id, limit=CHILDREN_AT_ONCE)
        while children := (await self._store.sessions(query)).sessions:
            for child in children:
                with contextlib.suppress(NotFound):
                    await self.delete_if(child.id, check=_any, by=by)

    async def delete_if(
        self, session_id: SessionId, *, check: Callable[[Desk], None], by: Principal
    ) -> None:
        """Delete it, unless `check` raises at what it sees of it then."""
        if self._store.shared and self._coordinator.usage(session_id) is None:
            await self._end_elsewhere(session_id, check, by)
        while True:
            try:
                await self._remove_once(session_id, check, by)
                break
            except Fenced:
                # The next run has begun since we stopped the last one.
                continue
        log.info("session deleted", extra={"session_id": session_id})
        with anyio.move_on_after(UNWIND_SECONDS):
            await self._coordinator.until_gone(session_id)

    async def _end_elsewhere(
        self, session_id: SessionId, check: Callable[[Desk], None], by: Principal
    ) -> None:
        """Let the node that works on it end it, with what it used; but not for ever."""

        def cancel(desk: Desk) -> Change[Covered]:
            check(desk)
            return cancelling.cancel_session(desk, Reason.DELETED, self._node.moment(by=by))

        moment = self._node.moment(by=by)
        covered, _ = await families.cover(self._store, session_id, cancel, Reason.DELETED, moment)
        if covered.parked is not None:
            await Parked(self._store, self._node).end(session_id, covered.parked)
        if covered.active is not None:
            await self._endings.of(covered.active, seconds=UNWIND_SECONDS)

    async def _remove_once(
        self, session_id: SessionId, check: Callable[[Desk], None], by: Principal
    ) -> None:
        def shut(desk: Desk) -> Change[int]:
            check(desk)
            return editing.shut(desk, self._node.moment(by=by))

        used = self._coordinator.usage(session_id)
        # First nobody may write, then we look at what is open: it must end as the log has it.
        epoch, _ = await self._store.commit(session_id, shut)
        # Now that no run can start another.
        await self._jobs.stop_those(session_id, lambda job: True, by=by)
        message = await self._store.open_message(session_id)
        moment = self._node.moment(by=by)

        def decide(desk: Desk) -> Change[None]:
            check(desk)
            if desk.control.epoch != epoch:
                raise Fenced(f"session {session_id} has another writer")
            return editing.delete(desk, message, moment, used=used)

        await self._store.commit(session_id, decide)

    def _copy(self, message: Message, session_id: SessionId) -> Message:
        return replace(
            message, id=MessageId(self._node.ids.new("msg")), session_id=session_id, run_id=None
        )


def _any(desk: Desk) -> None:
    """Whatever it is."""


def _said(message: Message, now: Instant, by: Principal) -> list[Event]:
    """The events whose fold is this message."""
    told: _Told = {"session_id": message.session_id, "at": now, "by": by.id}
    if message.role == "user":
        return [MessageStarted(**told, message=message)]
    empty = replace(message, parts=(), finish_reason=None)
    reason = message.finish_reason or "end_turn"
    return [
        MessageStarted(**told, message=empty),
        *(PartStarted(**told, message_id=message.id, part=part) for part in message.parts),
        MessageFinished(**told, message_id=message.id, finish_reason=reason),
    ]


def _up_to(messages: tuple[Message, ...], message_id: MessageId | None) -> tuple[Message, ...]:
    if message_id is None:
        return messages
    for n, message in enumerate(messages):
        if message.id == message_id:
            return messages[: n + 1]
    raise NotFound(f"there is no message {message_id}")
