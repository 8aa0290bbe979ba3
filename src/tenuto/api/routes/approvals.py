"""Approvals: tool calls that wait for a person's word."""

from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.approval import Approval, Word
from tenuto.core.value import ApprovalId, Value


class ApprovalList(Value):
    approvals: tuple[Approval, ...]


async def listing(call: Call) -> ASGIApp:
    await call.sees.session(call.session_id)
    approvals = await call.sees.things(call.session_id, Approval)
    return answer(ApprovalList(approvals=tuple(approvals)))


async def decide(call: Call) -> ASGIApp:
    word = await call.body(Word)
    approval = await call.to.engine.answers.answer(ApprovalId(call.path("id")), word, by=call.who)
    return answer(approval)


async def revoke(call: Call) -> ASGIApp:
    await call.to.engine.answers.revoke(call.session_id, call.path("tool"), by=call.who)
    return Response(status_code=204)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/approvals",
        handler=listing,
        tag="approvals",
        summary="A session's approvals, oldest first",
        gives=ApprovalList,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/approvals/{id}",
        handler=decide,
        tag="approvals",
        summary="Answer an approval; the first answer wins",
        takes=Word,
        gives=Approval,
        codes=("not_found", "already_answered", "invalid_input"),
    ),
    Endpoint(
        method="DELETE",
        path="/api/sessions/{id}/grants/{tool}",
        handler=revoke,
        tag="approvals",
        summary="Ask again about a tool that was allowed for the whole session",
        status=204,
        codes=("not_found",),
    ),
)
