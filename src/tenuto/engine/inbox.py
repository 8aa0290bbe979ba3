"""The inbox takes what clients ask of runs. What it has answered is on disk."""

import logging

from msgspec.structs import replace

from tenuto.core import accepting, cancelling, consent, editing
from tenuto.core.accepting import Prompt
from tenuto.core.approval import Approval, Decision
from tenuto.core.desk import Decide, Sight
from tenuto.core.editing import QueueEdit
from tenuto.core.error import (
    InvalidInput,
    ModelNotFound,
    NotFound,
    NothingToUndo,
    Outdated,
    SessionBusy,
    ShuttingDown,
)
from tenuto.core.message import Message, parts_input
from tenuto.core.run import Input, InputFile, InputText, Mode, OnDisconnect, Run, WhenBusy
from tenuto.core.session import Session
from tenuto.core.value import (
    ApprovalId,
    MessageId,
    RunId,
    SessionId,
    Value,
)
from tenuto.engine.endings import Endings
from tenuto.engine.node import Node
from tenuto.ports.model import Model, Models
from tenuto.ports.query import Once
from tenuto.ports.store import Store

log = logging.getLogger(__name__)


class Draft(Value):
    """A prompt as it comes in, before it is checked."""

    input: Input
    model: str | None = None
    """None: the session's, else the server's default."""
    mode: Mode | None = None
    """None: the comparison's for a pane of one, else an agent."""
    when_busy: WhenBusy = WhenBusy.QUEUE
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE


class Undone(Value):
    removed: tuple[MessageId, ...]
    head: int


class Inbox:
    def __init__(
        self,
        store: Store,
        models: Models,
        endings: Endings,
        node: Node,
    ) -> None:
        self._store = store
        self._models = models
        self._endings = endings
        self._node = node
        self._closed = False

    def close(self) -> None:
        """Take no new prompts: the server is stopping."""
        self._closed = True

    async def accept(self, session_id: SessionId, draft: Draft, *, once: Once | None = None) -> Run:
        """Check the prompt, store it, and only then answer."""
        self._must_be_open()
        try:
            prompt = await self._checked_prompt(session_id, draft)
        except (InvalidInput, ModelNotFound):
            # It may be a repetition: what was accepted stays so, though its model has gone since.
            if known := await self._store.answered(once, Run):
                return known
            raise
        run, _ = await self._store.commit(
            session_id,
            lambda desk: accepting.accept(desk, prompt, self._node.moment()),
            once=once,
            answer=Run,
        )
        log.info("run accepted", extra={"run_id": run.id, "session_id": session_id})
        return run

    async def prepared(self, session_id: SessionId, draft: Draft) -> Prompt:
        """The prompt that this becomes, checked; nothing is stored."""
        self._must_be_open()
        return await self._checked_prompt(session_id, draft)

    async def last_again(
        self,
        session_id: SessionId,
        on_disconnect: OnDisconnect,
        *,
        model: str | None = None,
    ) -> tuple[MessageId, Prompt]:
        """The last user message and the prompt that asks it again."""
        self._must_be_open()
        try:
            message = await self._store.user_message(session_id, None)
        except NotFound:
            raise NothingToUndo(f"session {session_id} has no message to ask again") from None
        draft = Draft(
            input=parts_input(message),
            model=model,
            mode=await self._mode_of(message),
            on_disconnect=on_disconnect,
        )
        return message.id, await self._checked_prompt(session_id, draft)

    async def retry(
        self,
        session_id: SessionId,
        *,
        model: str | None,
        on_disconnect: OnDisconnect = OnDisconnect.CONTINUE,
        once: Once | None = None,
    ) -> Run:
        """Remove the last user message and all after it, and ask the same again."""
        self._must_be_open()
        await self._store.session(session_id)
        if known := await self._store.answered(once, Run):
            return known
        while True:
            try:
                return await self._ask_last_again(session_id, model, on_disconnect, once)
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
        once: Once | None = None,
    ) -> Run:
        """Remove a user message and all after it, and ask something else in its place."""
        if known := await self._store.answered(once, Run):
            return known
        message = await self._store.user_message(session_id, message_id)
        draft = Draft(input=given, model=model, mode=await self._mode_of(message))
        return await self._again(session_id, message_id, draft, once)

    async def go_on(self, run_id: RunId, *, once: Once | None = None) -> Run:
        """Go on from the kept partial of the session's last run."""
        self._must_be_open()
        before = await self._store.run(run_id)
        if known := await self._store.answered(once, Run):
            return known
        mode = Mode.AGENT if before.mode is Mode.COMPACT else before.mode
        pane = (await self._store.session(before.session_id)).comparison
        draft = Draft(input="", model=None if pane else before.model, mode=mode)
        prompt = await self._prompt(before.session_id, draft)
        run, _ = await self._store.commit(
            before.session_id,
            lambda desk: editing.go_on(desk, run_id, prompt, self._node.moment()),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def compact(self, session_id: SessionId, *, once: Once | None = None) -> Run:
        """Accept a run that summarises the session for the model; wait for its ending."""
        self._must_be_open()
        if known := await self._store.answered(once, Run):
            return await self._endings.of(known.id, seconds=None)
        prompt = await self._prompt(session_id, Draft(input="", mode=Mode.COMPACT))
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.compact(desk, prompt, self._node.moment()),
            once=once,
            answer=Run,
        )
        return await self._endings.of(run.id, seconds=None)

    async def undo(self, session_id: SessionId) -> Undone:
        removed, head = await self._store.commit(
            session_id, lambda desk: editing.undo(desk, self._node.moment()), sight=Sight.HISTORY
        )
        return Undone(removed=removed, head=head)

    async def withdraw(self, run_id: RunId) -> None:
        """Take a queued prompt back."""
        await self._while_queued(
            run_id, lambda desk: cancelling.withdraw(desk, run_id, self._node.moment())
        )

    async def change_queued(self, run_id: RunId, edit: QueueEdit) -> Run:
        await self._queued(run_id)
        if edit.input is not None:
            edit = replace(edit, input=await self._checked(edit.input))
        return await self._while_queued(
            run_id, lambda desk: editing.change_queued(desk, run_id, edit, self._node.moment())
        )

    async def answer(
        self, approval_id: ApprovalId, decision: Decision, note: str | None
    ) -> Approval:
        approval = await self._store.approval(approval_id)
        answered, _ = await self._store.commit(
            approval.session_id,
            lambda desk: consent.answer(desk, approval_id, decision, note, self._node.moment()),
        )
        return answered

    async def revoke(self, session_id: SessionId, tool: str) -> None:
        """Ask about a tool again that was allowed for the whole session."""
        await self._store.commit(
            session_id, lambda desk: consent.revoke(desk, tool, self._node.moment())
        )

    async def _ask_last_again(
        self,
        session_id: SessionId,
        model: str | None,
        on_disconnect: OnDisconnect,
        once: Once | None,
    ) -> Run:
        message_id, prompt = await self.last_again(session_id, on_disconnect, model=model)
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.ask_again(desk, message_id, prompt, self._node.moment()),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def _again(
        self, session_id: SessionId, message_id: MessageId, draft: Draft, once: Once | None
    ) -> Run:
        self._must_be_open()
        prompt = await self._checked_prompt(session_id, draft)
        run, _ = await self._store.commit(
            session_id,
            lambda desk: editing.run_again(desk, message_id, prompt, self._node.moment()),
            sight=Sight.HISTORY,
            once=once,
            answer=Run,
        )
        return run

    async def _mode_of(self, message: Message) -> Mode:
        """How this message was asked; a fork's messages have no run to tell."""
        if message.run_id is None:
            return Mode.AGENT
        return (await self._store.run(message.run_id)).mode

    async def _checked_prompt(self, session_id: SessionId, draft: Draft) -> Prompt:
        prompt = await self._prompt(session_id, draft)
        return replace(prompt, input=await self._checked(draft.input))

    async def _prompt(self, session_id: SessionId, draft: Draft) -> Prompt:
        session = await self._store.session(session_id)
        default = session.comparison.mode if session.comparison else Mode.AGENT
        return Prompt(
            run_id=RunId(self._node.ids.new("run")),
            input=draft.input,
            model=(await self._model(session, draft.model)).id,
            mode=draft.mode or default,
            when_busy=draft.when_busy,
            on_disconnect=draft.on_disconnect,
        )

    async def _model(self, session: Session, wanted: str | None) -> Model:
        if session.comparison is None:
            return await self._models.find(wanted or session.model)
        if wanted is not None:
            # Not even its own: whoever may ask for one after the other finds out which it is.
            raise InvalidInput(editing.KEEPS_ITS_MODEL)
        if session.model is not None:
            return await self._models.find(session.model)
        veil = (await self._store.control(session.id)).veil
        if veil is None:
            # The vote came between our two looks.
            return await self._models.find((await self._store.session(session.id)).model)
        try:
            return await self._models.find(veil.model)
        except ModelNotFound:
            raise ModelNotFound("the model of this pane cannot be asked now") from None

    async def _checked(self, given: Input) -> Input:
        """The input with its files described by us; a prompt must say or show something."""
        if isinstance(given, str):
            _must_say_something(given)
            return given
        if not any(isinstance(i, InputFile) or i.text.strip() for i in given):
            raise InvalidInput("input must not be empty")
        checked: list[InputText | InputFile] = []
        for item in given:
            if isinstance(item, InputText):
                _must_be_text(item.text)
                checked.append(item)
                continue
            try:
                info = await self._store.file(item.file_id)
            except NotFound:
                raise InvalidInput(f"there is no file {item.file_id}") from None
            checked.append(
                InputFile(
                    file_id=info.id, name=info.name, media_type=info.media_type, size=info.size
                )
            )
        return checked

    async def _while_queued(self, run_id: RunId, decide: Decide[Run]) -> Run:
        run = await self._queued(run_id)
        try:
            changed, _ = await self._store.commit(run.session_id, decide)
        except NotFound:
            # It has ended since we looked, and says so itself; or its session is gone.
            await self._queued(run_id)
            raise
        return changed

    async def _queued(self, run_id: RunId) -> Run:
        run = await self._store.run(run_id)
        if run.ended:
            raise SessionBusy(f"run {run_id} has already ended {run.status}")
        return run

    def _must_be_open(self) -> None:
        if self._closed:
            raise ShuttingDown("the server is stopping; send the prompt again in a moment")


def _must_say_something(text: str) -> None:
    if not text.strip():
        raise InvalidInput("input must not be empty")
    _must_be_text(text)


def _must_be_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("input is not valid Unicode text") from None
