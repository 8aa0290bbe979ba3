"""A session on the server, by its id. Making a handle asks nothing."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tenuto.client.attached import AttachedRun, attach
from tenuto.client.run import PromptToSend, RunHandle, pages_of_runs, start_run
from tenuto.client.stream import After, Follower, Items, Numbers, Snapshot, is_deleted
from tenuto.client.wire import Again, Request, ServerLink, creation, encode, new_key, set_only
from tenuto.core.approval import Approval
from tenuto.core.job import Job
from tenuto.core.message import Message
from tenuto.core.options import Effort, Options
from tenuto.core.question import Question
from tenuto.core.run import Input, Mode, OnDisconnect, OnInterrupt, Run, WhenBusy
from tenuto.core.session import Session
from tenuto.core.value import MessageId, RunId, SessionId, Value

COMPACT_SECONDS = 600.0


class Messages(Value):
    """A transcript, and the cursor from which its events go on."""

    messages: tuple[Message, ...]
    head: int


class Cancelled(Value):
    """What a cancel covered; `settled` says that all of it has ended."""

    cancelled: tuple[RunId, ...]
    head: int
    settled: bool


class Undone(Value):
    removed: tuple[MessageId, ...]
    head: int


class Compacted(Value):
    """The run that wrote the summary, as it ended."""

    run: Run
    head: int


class SessionHandle:
    def __init__(self, wire: ServerLink, session_id: SessionId) -> None:
        self._wire = wire
        self._path = f"/api/sessions/{session_id}"
        self.id = session_id

    async def get(self) -> Session:
        answer = await self._wire.ask(Request(method="GET", path=self._path))
        return msgspec.json.decode(answer, type=Session)

    async def update(
        self,
        *,
        title: str | UnsetType = UNSET,
        model: str | UnsetType | None = UNSET,
        pinned: bool | UnsetType = UNSET,
        archived: bool | UnsetType = UNSET,
        draft: str | UnsetType = UNSET,
        system: str | UnsetType | None = UNSET,
    ) -> Session:
        changes = {
            "title": title,
            "model": model,
            "pinned": pinned,
            "archived": archived,
            "draft": draft,
            "system": system,
        }
        body = encode(set_only(changes))
        answer = await self._wire.ask(Request(method="PATCH", path=self._path, body=body))
        return msgspec.json.decode(answer, type=Session)

    async def delete(self) -> None:
        """Cancel everything and remove the session for good."""
        await self._wire.ask(Request(method="DELETE", path=self._path))

    async def messages(self) -> Messages:
        answer = await self._wire.ask(Request(method="GET", path=f"{self._path}/messages"))
        return msgspec.json.decode(answer, type=Messages)

    async def prompt(
        self,
        input: Input,
        *,
        model: str | UnsetType = UNSET,
        mode: Mode | UnsetType = UNSET,
        when_busy: WhenBusy | UnsetType = UNSET,
        on_disconnect: OnDisconnect | UnsetType = UNSET,
        effort: Effort | UnsetType = UNSET,
        options: Options | UnsetType = UNSET,
        attended: bool | UnsetType = UNSET,
        on_interrupt: OnInterrupt | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> RunHandle:
        """Have a prompt accepted: when this returns, the server has it on disk, once."""
        prompt = PromptToSend(
            input=input,
            model=model,
            mode=mode,
            when_busy=when_busy,
            on_disconnect=on_disconnect,
            effort=effort,
            options=options,
            attended=attended,
            on_interrupt=on_interrupt,
        )
        return await start_run(self._wire, f"{self._path}/runs", prompt, key=idempotency_key)

    def attach(
        self,
        input: Input,
        *,
        model: str | UnsetType = UNSET,
        mode: Mode | UnsetType = UNSET,
        when_busy: WhenBusy | UnsetType = UNSET,
        on_disconnect: OnDisconnect = OnDisconnect.CANCEL,
        effort: Effort | UnsetType = UNSET,
        options: Options | UnsetType = UNSET,
        attended: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> AbstractAsyncContextManager[AttachedRun]:
        """Prompt and listen on one connection: `async with session.attach("hi") as run`.

        Leaving the block hangs up, which cancels a run that has not ended, unless
        `on_disconnect` says otherwise.
        """
        prompt = PromptToSend(
            input=input,
            model=model,
            mode=mode,
            when_busy=when_busy,
            on_disconnect=on_disconnect,
            effort=effort,
            options=options,
            attended=attended,
        )
        return attach(self._wire, self.id, prompt, key=idempotency_key or new_key())

    def runs(self) -> AsyncIterator[Run]:
        """All runs, newest first."""
        return pages_of_runs(self._wire, f"{self._path}/runs", {})

    def events(self, *, after: After = None) -> Items:
        """Each event once, in order; ends after `session.deleted`.

        With `now`, and whenever the server no longer has what the cursor asks for, a Snapshot
        comes in place of all before it.
        """
        return Follower(
            self._wire,
            f"{self._path}/events",
            after=after,
            numbers=Numbers.ALL,
            snapshot=Snapshot,
            is_last=is_deleted,
        ).follow()

    async def cancel(self) -> Cancelled:
        """Stop the active run and every run accepted so far.

        Not sent twice: a second one could stop what was asked after the first.
        """
        answer = await self._wire.ask(
            Request(method="POST", path=f"{self._path}/cancel", again=Again.IF_UNSENT)
        )
        return msgspec.json.decode(answer, type=Cancelled)

    async def undo(self) -> Undone:
        """Remove the last user message and all after it. Not sent twice."""
        answer = await self._wire.ask(
            Request(method="POST", path=f"{self._path}/undo", again=Again.IF_UNSENT)
        )
        return msgspec.json.decode(answer, type=Undone)

    async def retry(self, *, idempotency_key: str | None = None) -> RunHandle:
        """Ask the last prompt again, in place of its answer."""
        return await start_run(self._wire, f"{self._path}/retry", {}, key=idempotency_key)

    async def edit(
        self, message_id: MessageId, input: Input, *, idempotency_key: str | None = None
    ) -> RunHandle:
        """Ask something else in place of a user message and all after it."""
        body = {"message_id": message_id, "input": input}
        return await start_run(self._wire, f"{self._path}/edit", body, key=idempotency_key)

    async def compact(self, *, idempotency_key: str | None = None) -> Compacted:
        """Have the model's view of the session summarised; the transcript stays whole."""
        request = creation(f"{self._path}/compact", {}, idempotency_key)
        # A model has to read everything first, and nothing is heard of it meanwhile.
        answer = await self._wire.ask(replace(request, silence_seconds=COMPACT_SECONDS))
        return msgspec.json.decode(answer, type=Compacted)

    async def fork(
        self, message_id: MessageId | None = None, *, idempotency_key: str | None = None
    ) -> "SessionHandle":
        """A new session with this one's messages, up to and with `message_id`."""
        body = {} if message_id is None else {"message_id": message_id}
        return await start_session(self._wire, f"{self._path}/fork", body, key=idempotency_key)

    async def approvals(self) -> tuple[Approval, ...]:
        answer = await self._wire.ask(Request(method="GET", path=f"{self._path}/approvals"))
        return msgspec.json.decode(answer, type=_Approvals).approvals

    async def jobs(self) -> tuple[Job, ...]:
        """Its commands in the background, oldest first, ended or not."""
        answer = await self._wire.ask(Request(method="GET", path=f"{self._path}/jobs"))
        return msgspec.json.decode(answer, type=_Jobs).jobs

    async def questions(self) -> tuple[Question, ...]:
        answer = await self._wire.ask(Request(method="GET", path=f"{self._path}/questions"))
        return msgspec.json.decode(answer, type=_Questions).questions


async def start_session(
    wire: ServerLink, path: str, body: Any, *, key: str | None
) -> SessionHandle:
    answer = await wire.ask(creation(path, body, key))
    return SessionHandle(wire, msgspec.json.decode(answer, type=Session).id)


class _Approvals(Value):
    approvals: tuple[Approval, ...]


class _Jobs(Value):
    jobs: tuple[Job, ...]


class _Questions(Value):
    questions: tuple[Question, ...]
