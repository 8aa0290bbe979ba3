"""Sessions: conversations, each with one log."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, ModelName, Streams
from tenuto.api.parameter import AFTER, CURSOR, LIMIT, WORKSPACE, Parameter
from tenuto.api.sse import EventStream
from tenuto.api.streams import Viewing
from tenuto.core.cancelling import Waiters
from tenuto.core.message import Message
from tenuto.core.session import DEFAULT_WORKSPACE, Session, SessionChanges
from tenuto.core.value import MessageId, SessionId, Value, WorkspaceId
from tenuto.engine.queue import Released
from tenuto.engine.sessions import NewSession
from tenuto.engine.stops import CancelReceipt, WhichJobs
from tenuto.ports.query import SessionPage, SessionQuery

Title = Annotated[str, Meta(max_length=500)]
ARCHIVED: Parameter[bool] = Parameter(
    name="archived", kind=bool, usual=False, meaning="`true` for archived sessions only."
)
BEFORE: Parameter[MessageId | None] = Parameter(
    name="before", kind=str, usual=None, meaning="Only messages before this one."
)
CHILDREN: Parameter[bool] = Parameter(
    name="children", kind=bool, usual=False, meaning="`true`: sub-agents among the others."
)
PARENT: Parameter[SessionId | None] = Parameter(
    name="parent", kind=str, usual=None, meaning="Only the sub-agents of this session."
)
MOST_MESSAGES: Parameter[int | None] = Parameter(
    name="limit", kind=LIMIT.kind, usual=None, meaning="How many messages, the newest; else all."
)
WORDS: Parameter[str | None] = Parameter(
    name="q", kind=str, usual=None, meaning="Words to look for."
)


class SessionDraft(Value, forbid_unknown_fields=True):
    workspace: WorkspaceId | None = None
    title: Title | None = None
    model: ModelName | None = None
    system: str | None = None


class SessionChange(Value, forbid_unknown_fields=True):
    title: Title | UnsetType = UNSET
    model: ModelName | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    draft: str | UnsetType = UNSET
    system: str | UnsetType | None = UNSET


class CancelBody(Value, forbid_unknown_fields=True):
    queue: Waiters = Waiters.CANCEL
    jobs: bool = False
    """Whether all jobs of the session are stopped too, not only those of the run that ends."""
    """`hold`: the active run alone is stopped, and what waits stays, until it is let go."""


class MessageList(Value):
    """The whole transcript, or the part of it that `limit` and `before` ask for."""

    messages: tuple[Message, ...]
    head: int
    before: MessageId | None = None
    """With `limit`: give this as `before` for the messages before these; null: there are none."""


async def create(call: Call) -> ASGIApp:
    draft = await call.body(SessionDraft)
    new = NewSession(
        workspace=draft.workspace or DEFAULT_WORKSPACE,
        title=(draft.title or "").strip(),
        model=draft.model,
        system=draft.system,
    )
    session = await call.to.engine.sessions.create(new, by=call.who, once=await call.once())
    return answer(session, status=201, headers={"Location": f"/api/sessions/{session.id}"})


async def listing(call: Call) -> ASGIApp:
    query = SessionQuery(
        workspace_id=call.ask(WORKSPACE) or None,
        words=call.ask(WORDS) or None,
        archived=call.ask(ARCHIVED),
        parent=call.ask(PARENT) or None,
        children=call.ask(CHILDREN),
        limit=call.ask(LIMIT),
        cursor=call.ask(CURSOR),
    )
    return answer(await call.sees.sessions(query))


async def read(call: Call) -> ASGIApp:
    return answer(await call.sees.session(call.session_id))


async def change(call: Call) -> ASGIApp:
    wanted = await call.body(SessionChange)
    changes = SessionChanges(**msgspec.structs.asdict(wanted))
    return answer(await call.to.engine.sessions.update(call.session_id, changes, by=call.who))


async def delete(call: Call) -> ASGIApp:
    await call.to.engine.sessions.delete(call.session_id, by=call.who)
    return Response(status_code=204)


async def messages(call: Call) -> ASGIApp:
    most, before = call.ask(MOST_MESSAGES), call.ask(BEFORE) or None
    if most or before:
        page = await call.sees.messages(call.session_id, limit=most or LIMIT.usual, before=before)
        return answer(page)
    snapshot = await call.sees.snapshot(call.session_id)
    return answer(MessageList(messages=snapshot.messages, head=snapshot.session.head))


async def events(call: Call) -> ASGIApp:
    return EventStream(await Viewing(call).session(call.session_id))


async def cancel(call: Call) -> ASGIApp:
    wanted = await call.body(CancelBody)
    receipt = await call.to.engine.stops.cancel_session(
        call.session_id,
        waiters=wanted.queue,
        jobs=WhichJobs.ALL if wanted.jobs else WhichJobs.OWN,
        by=call.who,
    )
    return answer(receipt)


async def release(call: Call) -> ASGIApp:
    return answer(await call.to.engine.queue.release(call.session_id, by=call.who))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/sessions",
        handler=create,
        tag="sessions",
        summary="Begin a conversation",
        takes=SessionDraft,
        gives=Session,
        status=201,
        located=True,
        codes=("not_found", "model_not_found", "idempotency_mismatch"),
    ),
    Endpoint(
        method="GET",
        path="/api/sessions",
        handler=listing,
        tag="sessions",
        summary="Sessions, newest activity first; `q` searches titles and messages",
        gives=SessionPage,
        query=(WORKSPACE, WORDS, ARCHIVED, PARENT, CHILDREN, LIMIT, CURSOR),
    ),
    Endpoint(
        method="GET",
        path="/api/sessions/{id}",
        handler=read,
        tag="sessions",
        summary="One session",
        gives=Session,
        codes=("not_found",),
    ),
    Endpoint(
        method="PATCH",
        path="/api/sessions/{id}",
        handler=change,
        tag="sessions",
        summary="Change a session's settings",
        takes=SessionChange,
        gives=Session,
        codes=("not_found", "model_not_found"),
    ),
    Endpoint(
        method="DELETE",
        path="/api/sessions/{id}",
        handler=delete,
        tag="sessions",
        summary="Stop everything in a session and remove it for good",
        status=204,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/messages",
        handler=messages,
        tag="sessions",
        summary="The transcript, and the cursor it was taken at; `limit` gives the newest only",
        gives=MessageList,
        query=(MOST_MESSAGES, BEFORE),
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/events",
        handler=events,
        tag="sessions",
        summary="The session's log from a cursor on, and then live",
        streams=Streams.ALWAYS,
        query=(AFTER,),
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/cancel",
        handler=cancel,
        tag="sessions",
        summary="Stop the active run, and end or hold every prompt accepted so far",
        takes=CancelBody,
        gives=CancelReceipt,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/release",
        handler=release,
        tag="sessions",
        summary="Let the held prompts go on",
        gives=Released,
        codes=("not_found",),
    ),
)
