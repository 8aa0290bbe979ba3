"""A session as a file to keep."""

import re
import unicodedata
from typing import Literal
from urllib.parse import quote

import anyio.to_thread
import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call
from tenuto.api.endpoint import Endpoint
from tenuto.api.parameter import Parameter
from tenuto.core.approval import Approval
from tenuto.core.export import markdown
from tenuto.core.message import Message
from tenuto.core.question import Question
from tenuto.core.run import Run
from tenuto.core.session import Session
from tenuto.core.value import Instant, SessionId, Value
from tenuto.ports.query import RunQuery

RUNS_AT_ONCE = 200
LONGEST_NAME = 80
UNNAMED = "conversation"
FORMAT: Parameter[str] = Parameter(
    name="format", kind=Literal["markdown", "json"], usual="markdown", meaning="Of the file."
)
NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|%]+')


class Export(Value):
    """All that there is of a session."""

    exported_at: Instant
    session: Session
    messages: tuple[Message, ...]
    runs: tuple[Run, ...]
    """Oldest first."""
    approvals: tuple[Approval, ...]
    questions: tuple[Question, ...]


async def export(call: Call) -> ASGIApp:
    form = call.ask(FORMAT)
    whole = await _gather(call)
    if form == "json":
        body = msgspec.json.format(msgspec.json.encode(whole), indent=2)
        return _file(body, "application/json", whole.session.title, "json")
    # A long conversation takes a while to write out; others go on meanwhile.
    text = await anyio.to_thread.run_sync(markdown, whole.session, whole.messages, whole.runs)
    return _file(text.encode(), "text/markdown; charset=utf-8", whole.session.title, "md")


async def _gather(call: Call) -> Export:
    session_id = call.session_id
    snapshot = await call.sees.snapshot(session_id)
    return Export(
        exported_at=call.to.clock.now(),
        session=snapshot.session,
        messages=snapshot.messages,
        runs=await _runs(call, session_id),
        approvals=tuple(await call.sees.things(session_id, Approval)),
        questions=tuple(await call.sees.things(session_id, Question)),
    )


async def _runs(call: Call, session_id: SessionId) -> tuple[Run, ...]:
    found: list[Run] = []
    query = RunQuery(session_id=session_id, limit=RUNS_AT_ONCE)
    while True:
        page = await call.sees.runs(query)
        found += page.runs
        if page.next is None:
            return tuple(reversed(found))
        query = RunQuery(session_id=session_id, limit=RUNS_AT_ONCE, cursor=page.next)


def _file(body: bytes, media_type: str, title: str, ending: str) -> Response:
    headers = {"Content-Disposition": _disposition(title, ending), "Cache-Control": "no-store"}
    return Response(body, headers=headers, media_type=media_type)


def _disposition(title: str, ending: str) -> str:
    """A name that every system can store, and one in plain letters for old clients."""
    words = " ".join(NOT_IN_NAMES.sub(" ", title).split())
    name = words[:LONGEST_NAME].strip(" .") or UNNAMED
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    simple = " ".join(letters.split()).strip(" .") or UNNAMED
    spelt = quote(f"{name}.{ending}".encode("utf-8", "replace"), safe="")
    return f"attachment; filename=\"{simple}.{ending}\"; filename*=UTF-8''{spelt}"


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/export",
        handler=export,
        tag="sessions",
        summary="The whole conversation as a file, Markdown or JSON",
        gives=Export,
        media=("text/markdown",),
        query=(FORMAT,),
        codes=("not_found",),
    ),
)
