"""Requests: what a run asks people, and waits for, however long it takes. Its time stands meanwhile."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar, cast

import anyio
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import consent, questioning
from tenuto.core.approval import Approval, ApprovalState
from tenuto.core.asking import Stand
from tenuto.core.desk import Change, Decide, Desk, Moment
from tenuto.core.error import StorageTrouble
from tenuto.core.message import ToolPart, ToolState
from tenuto.core.question import AnsweredBy, Inquiry, Question, QuestionState
from tenuto.core.rule import Rule, Subject, granting
from tenuto.core.run import Usage
from tenuto.core.session import Pause
from tenuto.core.starting import Started
from tenuto.core.suggesting import suggestions
from tenuto.core.thing import R, is_open
from tenuto.core.value import ApprovalId, QuestionId
from tenuto.engine.insist import insist
from tenuto.engine.node import Node
from tenuto.engine.recorder import Recorder
from tenuto.ports.store import Store
from tenuto.ports.tool import ReplyKind, UserReply

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
MOST_SECONDS = 1e9
"""Of a run's time that may be left: a number that can be stored."""

T = TypeVar("T")


class Requests:
    def __init__(
        self,
        store: Store,
        node: Node,
        started: Started,
        recorder: Recorder,
        limit: anyio.CancelScope,
        *,
        so_far: Callable[[], tuple[int, Usage]],
    ) -> None:
        self._store = store
        self._node = node
        self._session = started.session
        self._run = started.run
        self._fence = started.fence
        self._recorder = recorder
        self._limit = limit
        self._so_far = so_far
        """Which step the run is at, and what it has used."""
        self._poked = asyncio.Event()
        self._standing = 0
        self._left = 0.0
        """Of the time of the run, while it stands."""
        self.waiting = 0
        """Calls that wait for a person and have not begun: nothing is lost if they are left."""

    def poke(self) -> None:
        """Something about the session changed: there may be an answer."""
        self._poked.set()
        self._poked = asyncio.Event()

    async def permission(
        self, part: ToolPart, subject: Subject, rules: Sequence[Sequence[Rule]]
    ) -> Approval:
        """Ask whether a call may be done; what was allowed for the session whose sub-agent this is
        is allowed here."""
        if self._session.parent:
            root = await self._insist(partial(self._store.session, self._session.root_id))
            rules = (granting(root.grants), *rules)
        approval = Approval(
            id=ApprovalId(self._node.ids.new("apr")),
            session_id=self._session.id,
            root_session_id=self._session.root_id,
            run_id=self._run.id,
            call_id=part.call_id,
            part_id=part.id,
            tool=part.name,
            input=part.input,
            subject=subject,
            suggestions=suggestions(subject),
        )
        waiting = await self._ask(
            part,
            lambda desk, stand, moment: consent.request(
                desk, self._fence, approval, stand, moment, rules
            ),
        )
        if waiting.state is not ToolState.WAITING_APPROVAL:
            return replace(approval, state=ApprovalState.ALLOWED)
        return await self._answer(approval)

    async def permission_asked(self, part: ToolPart) -> Approval | None:
        """What a person says to a call that has asked before, perhaps on another node; None: it
        has not asked."""
        asked = [one for one in await self._asked(Approval) if _is_of(one, part)]
        return await self._answer(asked[-1]) if asked else None

    async def question(self, part: ToolPart, inquiries: Sequence[Inquiry]) -> UserReply:
        """Ask before a call begins; what was asked for it before is not asked again."""
        if not self._run.attended:
            return UserReply(kind=ReplyKind.NOBODY)
        # It may have asked for permission first.
        part = cast("ToolPart", self._recorder.part(part.id))
        if part.state is ToolState.WAITING_APPROVAL:
            asked = [one for one in await self._asked(Question) if one.part_id == part.id]
            if asked:
                return _reply(await self._answer(asked[-1]))
        question = self._made(part, inquiries)
        await self._ask(
            part,
            lambda desk, stand, moment: questioning.ask(desk, self._fence, question, stand, moment),
        )
        return _reply(await self._answer(question))

    async def question_meanwhile(self, part: ToolPart, inquiries: Sequence[Inquiry]) -> UserReply:
        """Ask while a call is under way: it cannot be left, and ends with the server."""
        if not self._run.attended:
            return UserReply(kind=ReplyKind.NOBODY)
        question = self._made(part, inquiries)
        await self._recorder.flush()
        await self._commit(
            lambda desk: questioning.ask_meanwhile(desk, self._fence, question, self._node.moment())
        )
        with self.time_standing():
            return _reply(await self._closed(question))

    def _made(self, part: ToolPart, inquiries: Sequence[Inquiry]) -> Question:
        return Question(
            id=QuestionId(self._node.ids.new("qst")),
            session_id=self._session.id,
            root_session_id=self._session.root_id,
            run_id=self._run.id,
            call_id=part.call_id,
            part_id=part.id,
            questions=tuple(inquiries),
        )

    async def _ask(
        self, part: ToolPart, ask: Callable[[Desk, Stand, Moment], Change[ToolPart]]
    ) -> ToolPart:
        await self._recorder.flush()
        stand = Stand(part=part, message_id=self._recorder.message_id, pause=self._pause())
        moment = self._node.moment()
        waiting = await self._commit(lambda desk: ask(desk, stand, moment))
        if waiting.state is ToolState.WAITING_APPROVAL:
            self._recorder.stored_elsewhere(waiting)
        return waiting

    async def _asked(self, kind: type[R]) -> list[R]:
        things = await self._insist(partial(self._store.things, self._session.id, kind))
        return [one for one in things if one.run_id == self._run.id]

    async def _answer(self, request: R) -> R:
        """The request once it is no longer open; nothing of its call is under way meanwhile."""
        with self.time_standing():
            self.waiting += 1
            try:
                return await self._closed(request)
            finally:
                self.waiting -= 1

    async def _closed(self, request: R) -> R:
        while is_open(request):
            poked = self._poked
            try:
                request = await self._store.thing(type(request), request.id)
            except StorageTrouble as trouble:
                # Nothing is lost by waiting longer, as long as the run is still ours.
                log.warning("cannot look for an answer, trying again: %s", trouble)
            if is_open(request):
                with anyio.move_on_after(POLL_SECONDS):
                    await poked.wait()
        return request

    @contextmanager
    def time_standing(self) -> Iterator[None]:
        """While somebody else is waited for, who has a time of their own."""
        if not self._standing:
            self._left = self._limit.deadline - anyio.current_time()
            self._limit.deadline = float("inf")
        self._standing += 1
        try:
            yield
        finally:
            self._standing -= 1
            if not self._standing:
                self._limit.deadline = anyio.current_time() + self._left

    def _pause(self) -> Pause:
        step, usage = self._so_far()
        left = self._left if self._standing else self._limit.deadline - anyio.current_time()
        return Pause(step=step, usage=usage, seconds=min(max(left, 0.0), MOST_SECONDS))

    async def _commit(self, decide: Decide[T]) -> T:
        result, _ = await self._insist(lambda: self._store.commit(self._session.id, decide))
        return result

    async def _insist(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await insist(ask, clock=self._node.clock)


def _is_of(approval: Approval, part: ToolPart) -> bool:
    """A model may use the id of a call again; older versions wrote down no more than that."""
    if approval.part_id is UNSET:
        return approval.call_id == part.call_id
    return approval.part_id == part.id


def _reply(question: Question) -> UserReply:
    if question.state is not QuestionState.ANSWERED:
        return UserReply(kind=ReplyKind.DISMISSED)
    instead = question.answered_by is AnsweredBy.STEER
    kind = ReplyKind.INSTEAD if instead else ReplyKind.ANSWERED
    return UserReply(kind=kind, answers=question.answers)
