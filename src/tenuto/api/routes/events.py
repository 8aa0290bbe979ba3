"""One stream of many logs."""

from typing import Annotated

from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call
from tenuto.api.endpoint import Endpoint, Streams
from tenuto.api.many import ManyLogs
from tenuto.api.parameter import Parameter
from tenuto.api.sse import Batches
from tenuto.api.streams import Beginning, Viewing
from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.value import SessionId, StreamId, WorkspaceId

MOST_LOGS = 200
SESSION: Parameter[str] = Parameter(
    name="session",
    kind=str,
    usual="",
    meaning="`ID:CURSOR` of a session, any number of times; the cursor is as `after`.",
    repeats=MOST_LOGS,
)
WORKSPACE: Parameter[str] = Parameter(
    name="workspace", kind=str, usual="", meaning="The same for workspaces.", repeats=MOST_LOGS
)
MESSAGES: Parameter[int | None] = Parameter(
    name="messages",
    kind=Annotated[int, Meta(ge=1, le=1_000)],
    usual=None,
    meaning="How many messages a snapshot may have, 1 to 1000.",
)


async def events(call: Call) -> ASGIApp:
    asked = [(kind, one) for kind in (SESSION, WORKSPACE) for one in call.ask_all(kind)]
    if not 1 <= len(asked) <= MOST_LOGS:
        raise InvalidInput(f"name 1 to {MOST_LOGS} logs as `session=ID:CURSOR`")
    most = call.ask(MESSAGES)
    logs: dict[StreamId, Batches | None] = {}
    for kind, one in asked:
        id, colon, cursor = one.rpartition(":")
        if not colon:
            id, cursor = one, ""
        if not id.isascii() or not id.isprintable():
            raise InvalidInput(f"{id!r} is not an id")
        place = Beginning(cursor=cursor if colon else None, most_messages=most)
        logs[StreamId(id)] = await _opened(Viewing(call, place=place), kind, id)
    return ManyLogs(logs, call.to.engine.tailer)


async def _opened(viewing: Viewing, kind: Parameter[str], id: str) -> Batches | None:
    """The stream; None if there is nothing to follow, which is no reason to refuse the others."""
    try:
        if kind is SESSION:
            return await viewing.session(SessionId(id))
        return await viewing.workspace(WorkspaceId(id))
    except NotFound:
        return None


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/events",
        handler=events,
        tag="events",
        summary="Many logs in one stream, each from its own cursor on",
        streams=Streams.ALWAYS,
        query=(SESSION, WORKSPACE, MESSAGES),
    ),
)
