"""One stream of many logs."""

from starlette.types import ASGIApp

from tenuto.api.call import Call
from tenuto.api.endpoint import EVENTS, Endpoint
from tenuto.api.many import ManyLogs
from tenuto.api.sse import Batches
from tenuto.api.streams import Place, Viewing
from tenuto.core.error import InvalidInput, NotFound
from tenuto.core.value import SessionId, StreamId, WorkspaceId

MOST_LOGS = 200
MOST_MESSAGES = 1_000


async def events(call: Call) -> ASGIApp:
    query = call.request.query_params
    asked = [(kind, one) for kind in ("session", "workspace") for one in query.getlist(kind)]
    if not 1 <= len(asked) <= MOST_LOGS:
        raise InvalidInput(f"name 1 to {MOST_LOGS} logs as `session=ID:CURSOR`")
    most = _most_messages(call)
    logs: dict[StreamId, Batches | None] = {}
    for kind, one in asked:
        id, colon, cursor = one.rpartition(":")
        if not colon:
            id, cursor = one, ""
        if not id.isascii() or not id.isprintable():
            raise InvalidInput(f"{id!r} is not an id")
        place = Place(cursor=cursor if colon else None, most_messages=most)
        logs[StreamId(id)] = await _opened(Viewing(call, place=place), kind, id)
    return ManyLogs(logs, call.to.engine.tailer)


async def _opened(viewing: Viewing, kind: str, id: str) -> Batches | None:
    """The stream; None if there is nothing to follow, which is no reason to refuse the others."""
    try:
        if kind == "session":
            return await viewing.session(SessionId(id))
        return await viewing.workspace(WorkspaceId(id))
    except NotFound:
        return None


def _most_messages(call: Call) -> int | None:
    given = call.query("messages")
    if given is None:
        return None
    if not given.isdecimal() or len(given) > 4 or not 1 <= int(given) <= MOST_MESSAGES:
        raise InvalidInput(f"messages must be a number from 1 to {MOST_MESSAGES}")
    return int(given)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/events",
        handler=events,
        tag="events",
        summary="Many logs in one stream, each from its own cursor on",
        gives=EVENTS,
        query=("session", "workspace", "messages"),
    ),
)
