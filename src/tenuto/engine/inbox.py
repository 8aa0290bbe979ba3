"""The inbox takes what clients ask of runs. What it has answered is on disk."""

import logging

from msgspec.structs import replace

from tenuto.core import accepting, editing
from tenuto.core.accepting import Prompt
from tenuto.core.desk import Sight
from tenuto.core.error import (
    InDoubt,
    InvalidInput,
    ModelNotFound,
    NotFound,
    NothingToUndo,
    Outdated,
    ShuttingDown,
)
from tenuto.core.message import Message, parts_input
from tenuto.core.principal import Principal
from tenuto.core.run import Input, Mode, OnDisconnect, Run
from tenuto.core.value import MessageId, RunId, SessionId, Value
from tenuto.engine.checking import Checking, Draft
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.endings import Endings
from tenuto.engine.node import Node
from tenuto.ports.query import Once
from tenuto.ports.store import Store

log = logging.getLogger(__name__)


class Rewound(Value):
    removed: tuple[MessageId, ...]
    head: int


class Inbox:
    def __init__(
        self,
        store: Store,
        checking: Checking,
        endings: Endings,
        coordinator: Coordinator,
        node: Node,
    ) -> None:
        self._store = store
        self._checking = checking
        self._endings = endings
        self._coordinator = coordinator
        self._node = node
        self._closed = False

    def close(self) -> None:
        """Take no new prompts: the server is stopping."""
        self._closed = True

    async def accept(
        self, session_id: SessionId, draft: Draft, *, by: Principal, once: Once | None = None
    ) -> Run:
        """Check the prompt, store it, and only then answer."""
        self._must_be_open()
        try:
            prompt = await self._checking.prompt(session_id, draft, by=by)
        except (InvalidInput, ModelNotFound):
            # It may be a repetition: what was accepted stays so, though its model has gone since.
            if known := await self._store.answered(once, Run):
                return known
            raise
        self._coordinator.expect(session_id)
        stored = None
        try:
            run, _ = await self._store.commit(
                session_id,
                lambda desk: accepting.accept(desk, prompt, self._node.moment(by=by)),
                once=once,
                answer=Run,
            )
            stored = run.id
        except InDoubt:
            if prompt.on_disconnect is OnDisconnect.CANCEL:
                self._coordinator.nobody_waits_for(prompt.run_id)
            raise
        finally:
            if stored != prompt.run_id:
                # Refused, or a repetition.
                self._coordinator.expect_no_more(session_id)
        log.info("run accepted", extra={"run_id": run.id, "session_id": session_id})
        return run

    async def prepared(self, session_id: SessionId, draft: Draft, *, by: Principal) -> Prompt:
        """The prompt that this becomes, checked; nothing is stored."""
        self._must_be_open()
        return await self._checking.prompt(session_id, draft, by=by)

    async def last_again(
        self,
        session_id: SessionId,
        on_disconnect: OnDisconnect,
        *,
        model: str | None = None,
        by: Principal,
    ) -> tuple[MessageId, Prompt]:
        """The last user message and the prompt that asks it again."""
        self._must_be_open()
        try:
            message = await self._store.seen_by(by).user_message(session_id, None)
        except NotFound:
            raise NothingToUndo(f"session {session_id} has no message to ask again") from None
        draft = replace(
            await self._asked_as(message),
            input=parts_input(message),
            model=model,
            on_disconnect=on_disconnect,
        )
        return message.id, await self._checking.prompt(session_id, draft, by=by)

    async def retry(
        self,
        session_id: SessionId,
        *,
        model: str | None,
        on_disconnect: OnDisconnect = OnDisconnect.CONTINUE,
        by: Principal,
        once: Once | None = None,
    ) -> Run:
        """Remove the last user message and all after it, and ask the same again."""
        self._must_be_open()
        await self._store.seen_by(by).session(session_id)
        if known := await self._store.answered(once, Run):
            return known
        while True:
            try:
                return await self._ask_last_again(session_id, model, on_disconnect, by, once)
            except Outdated:
                # Someone undid or asked something meanwhile; now another message is the last.
                log.info("retrying a retry", extra={"session_id": session_id})

    async def edit(
        self,
        session_id: SessionId,
        message_id: MessageId,
        given: Input,
        *,
        model: str | None,
        by: Principal,
        once: Once | None = None,
    ) -> Run:
        """Remove a user message and all after it, and ask something else in its place."""
        if known := await self._store.answered(once, Run):
            return known
        message = await self._store.seen_by(by).user_message(session_id, message_id)
        draft = replace(await self._asked_as(message), input=given, model=model)
        return await self._again(session_id, message_id, draft, by, once)

    async def go_on(self, run_id: RunId, *, by: Principal, once: Once | None = None) -> Run:
        """Go on from the kept partial of the session's last run."""
        self._must_be_open()
        before = await self._store.seen_by(by).run(run_id)
        if known := await self._store.answered(once, Run):
            return known
        mode = Mode.AGENT if before.mode is Mode.COMPACT else before.mode
        pane = (await self._store.session(before.session_id)).comparison
        model = None if pane else before.model
        draft = Draft(
            input="", model=model, mode=mode, on_interrupt=before.on_interrupt, wish=before.wish
        )
        prompt = await self._checking.unsaid(before.session_id, draft, by=by)
        run, _ = await self._store.commit(
            before.session_id,
            lambda desk: editing.go_on(desk, run_id, prompt, self._node.moment(by=by)),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def compact(
        self, session_id: SessionId, *, by: Principal, once: Once | None = None
    ) -> Run:
        """Accept a run that summarises the session for the model; wait for its ending."""
        self._must_be_open()
        if known := await self._store.answered(once, Run):
            return await self._endings.of(known.id, seconds=None)
        draft = Draft(input="", mode=Mode.COMPACT)
        prompt = await self._checking.unsaid(session_id, draft, by=by)
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.compact(desk, prompt, self._node.moment(by=by)),
            once=once,
            answer=Run,
        )
        return await self._endings.of(run.id, seconds=None)

    async def undo(self, session_id: SessionId, *, by: Principal) -> Rewound:
        await self._store.seen_by(by).session(session_id)
        removed, head = await self._store.commit(
            session_id,
            lambda desk: editing.undo(desk, self._node.moment(by=by)),
            sight=Sight.HISTORY,
        )
        return Rewound(removed=removed, head=head)

    async def _ask_last_again(
        self,
        session_id: SessionId,
        model: str | None,
        on_disconnect: OnDisconnect,
        by: Principal,
        once: Once | None,
    ) -> Run:
        message_id, prompt = await self.last_again(session_id, on_disconnect, model=model, by=by)
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.ask_again(desk, message_id, prompt, self._node.moment(by=by)),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def _again(
        self,
        session_id: SessionId,
        message_id: MessageId,
        draft: Draft,
        by: Principal,
        once: Once | None,
    ) -> Run:
        self._must_be_open()
        prompt = await self._checking.prompt(session_id, draft, by=by)
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.run_again(desk, message_id, prompt, self._node.moment(by=by)),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def _asked_as(self, message: Message) -> Draft:
        """How this message was asked; a fork's messages have no run to tell."""
        if message.run_id is None:
            return Draft(input="", mode=Mode.AGENT)
        run = await self._store.run(message.run_id)
        return Draft(input="", mode=run.mode, wish=run.wish)

    def _must_be_open(self) -> None:
        if self._closed:
            raise ShuttingDown("the server is stopping; send the prompt again in a moment")
