"""Changes to what was said: undo, retry, edit, fork, compact."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, ModelName, PromptInput, Streams
from tenuto.api.routes.runs import accepted
from tenuto.core.run import Run
from tenuto.core.session import Session
from tenuto.core.value import MessageId, Value
from tenuto.engine.inbox import Rewound

BUSY = ("not_found", "session_busy")


class Retry(Value, forbid_unknown_fields=True):
    model: ModelName | None = None
    """None: the session's."""


class Edit(Value, forbid_unknown_fields=True):
    message_id: MessageId
    input: PromptInput
    model: ModelName | None = None
    """None: the session's."""


class Fork(Value, forbid_unknown_fields=True):
    message_id: MessageId | None = None
    """The last message to take along; None: all of them."""


class CompactionDone(Value):
    run: Run
    """The run that did it, as it ended."""
    head: int


async def undo(call: Call) -> ASGIApp:
    return answer(await call.to.engine.inbox.undo(call.session_id, by=call.who))


async def retry(call: Call) -> ASGIApp:
    wanted = await call.body(Retry)
    run = await call.to.engine.inbox.retry(
        call.session_id, model=wanted.model, by=call.who, once=await call.once()
    )
    return await accepted(call, run)


async def edit(call: Call) -> ASGIApp:
    wanted = await call.body(Edit)
    run = await call.to.engine.inbox.edit(
        call.session_id,
        wanted.message_id,
        wanted.input,
        model=wanted.model,
        by=call.who,
        once=await call.once(),
    )
    return await accepted(call, run)


async def fork(call: Call) -> ASGIApp:
    wanted = await call.body(Fork)
    session = await call.to.engine.sessions.fork(
        call.session_id, wanted.message_id, by=call.who, once=await call.once()
    )
    return answer(session, status=201, headers={"Location": f"/api/sessions/{session.id}"})


async def compact(call: Call) -> ASGIApp:
    run = await call.to.engine.inbox.compact(call.session_id, by=call.who, once=await call.once())
    head = (await call.sees.session(call.session_id)).head
    return answer(CompactionDone(run=run, head=head))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/undo",
        handler=undo,
        tag="history",
        summary="Remove the last user message and all after it",
        gives=Rewound,
        codes=(*BUSY, "nothing_to_undo"),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/retry",
        handler=retry,
        tag="history",
        summary="Ask the last prompt again in its place",
        takes=Retry,
        gives=Run,
        streams=Streams.IF_ASKED,
        status=202,
        located=True,
        codes=(
            *BUSY,
            "nothing_to_undo",
            "model_not_found",
            "idempotency_mismatch",
            "shutting_down",
        ),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/edit",
        handler=edit,
        tag="history",
        summary="Ask something else in place of a user message and all after it",
        takes=Edit,
        gives=Run,
        streams=Streams.IF_ASKED,
        status=202,
        located=True,
        codes=(*BUSY, "model_not_found", "idempotency_mismatch", "shutting_down"),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/fork",
        handler=fork,
        tag="history",
        summary="Begin a new session with this one's messages",
        takes=Fork,
        gives=Session,
        status=201,
        located=True,
        codes=(*BUSY, "idempotency_mismatch"),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/compact",
        handler=compact,
        tag="history",
        summary="Put a summary in place of the messages, for the model; answers when it is done",
        gives=CompactionDone,
        codes=(*BUSY, "model_not_found", "idempotency_mismatch", "shutting_down"),
    ),
)
