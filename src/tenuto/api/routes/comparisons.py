"""Comparisons: the same prompts to several models, and a vote between them."""

from typing import Annotated, Literal

from msgspec import Meta
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, ModelName
from tenuto.api.parameter import CURSOR, LIMIT, WORKSPACE
from tenuto.core.comparison import ShownComparison, Winner
from tenuto.core.run import Mode
from tenuto.core.session import DEFAULT_WORKSPACE, Session
from tenuto.core.value import ComparisonId, Value, WorkspaceId
from tenuto.engine.comparisons import ComparisonList, NewComparison, Scoreboard
from tenuto.ports.query import ComparisonQuery


class ComparisonDraft(Value, forbid_unknown_fields=True):
    models: Annotated[tuple[ModelName, ...], Meta(min_length=2, max_length=8)]
    blind: bool = True
    workspace: WorkspaceId | None = None
    mode: Literal["agent", "chat"] = "chat"


class Ballot(Value, forbid_unknown_fields=True):
    winner: Winner


class Choice(Value, forbid_unknown_fields=True):
    index: Annotated[int, Meta(ge=0, le=7)]


def _id(call: Call) -> ComparisonId:
    return ComparisonId(call.path("id"))


async def create(call: Call) -> ASGIApp:
    draft = await call.body(ComparisonDraft)
    new = NewComparison(
        models=draft.models,
        blind=draft.blind,
        workspace=draft.workspace or DEFAULT_WORKSPACE,
        mode=Mode(draft.mode),
    )
    made = await call.to.engine.comparisons.create(new, by=call.who, once=await call.once())
    return answer(made, status=201, headers={"Location": f"/api/comparisons/{made.id}"})


async def listing(call: Call) -> ASGIApp:
    query = ComparisonQuery(
        workspace_id=call.ask(WORKSPACE) or None,
        limit=call.ask(LIMIT),
        cursor=call.ask(CURSOR),
    )
    return answer(await call.to.engine.comparisons.list(query, by=call.who))


async def scoreboard(call: Call) -> ASGIApp:
    return answer(await call.to.engine.comparisons.scoreboard(by=call.who))


async def read(call: Call) -> ASGIApp:
    return answer(await call.to.engine.comparisons.read(_id(call), by=call.who))


async def vote(call: Call) -> ASGIApp:
    ballot = await call.body(Ballot)
    voted = await call.to.engine.comparisons.vote(
        _id(call), ballot.winner, by=call.who, once=await call.once()
    )
    return answer(voted)


async def keep(call: Call) -> ASGIApp:
    choice = await call.body(Choice)
    return answer(await call.to.engine.comparisons.keep(_id(call), choice.index, by=call.who))


async def delete(call: Call) -> ASGIApp:
    await call.to.engine.comparisons.delete(_id(call), by=call.who)
    return Response(status_code=204)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/comparisons",
        handler=create,
        tag="comparisons",
        summary="Lay two to eight models side by side, each in a session of its own",
        takes=ComparisonDraft,
        gives=ShownComparison,
        status=201,
        located=True,
        codes=("not_found", "model_not_found", "idempotency_mismatch"),
    ),
    Endpoint(
        method="GET",
        path="/api/comparisons",
        handler=listing,
        tag="comparisons",
        summary="Comparisons, newest first",
        gives=ComparisonList,
        query=(WORKSPACE, LIMIT, CURSOR),
    ),
    # Before the one with an id in its place.
    Endpoint(
        method="GET",
        path="/api/comparisons/scoreboard",
        handler=scoreboard,
        tag="comparisons",
        summary="How the models stand after all votes, each with a rating and its interval",
        gives=Scoreboard,
    ),
    Endpoint(
        method="GET",
        path="/api/comparisons/{id}",
        handler=read,
        tag="comparisons",
        summary="One comparison; a blind one shows no model before its vote",
        gives=ShownComparison,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/comparisons/{id}/vote",
        handler=vote,
        tag="comparisons",
        summary="Vote, once: for a pane by its index, for a `tie`, or for `none`",
        takes=Ballot,
        gives=ShownComparison,
        codes=("not_found", "already_answered", "idempotency_mismatch"),
    ),
    Endpoint(
        method="POST",
        path="/api/comparisons/{id}/keep",
        handler=keep,
        tag="comparisons",
        summary="Make a pane's session one of its own; of a blind comparison after its vote",
        takes=Choice,
        gives=Session,
        codes=("not_found", "session_busy"),
    ),
    Endpoint(
        method="DELETE",
        path="/api/comparisons/{id}",
        handler=delete,
        tag="comparisons",
        summary="Remove a comparison, its vote, and its panes but for those that were kept",
        status=204,
        codes=("not_found",),
    ),
)
