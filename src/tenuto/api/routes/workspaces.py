"""Workspaces: a folder and settings that sessions share."""

from typing import Annotated

from msgspec import Meta
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, SaysSomething, Streams
from tenuto.api.parameter import AFTER
from tenuto.api.sse import EventStream
from tenuto.api.streams import Viewing
from tenuto.core.permission import Permission
from tenuto.core.rule import Rule
from tenuto.core.session import Workspace
from tenuto.core.value import Value, WorkspaceId
from tenuto.ports.command import Guide

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Folder = Annotated[SaysSomething, Meta(max_length=4096)]
Home = Annotated[str, Meta(min_length=1, max_length=63)]


class RuleDraft(Value, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(min_length=1, max_length=200)]
    pattern: Annotated[str, Meta(min_length=1, max_length=2_000)] | None = None
    decision: Permission


class NewWorkspace(Value, forbid_unknown_fields=True):
    name: Name
    path: Folder
    home: Home | None = None
    """None: shared, where there are several nodes."""


class WorkspaceChange(Value, forbid_unknown_fields=True):
    name: Name | None = None
    path: Folder | None = None
    home: Home | None = None
    rules: Annotated[tuple[RuleDraft, ...], Meta(max_length=500)] | None = None
    """All of them, in their order; None: as they are."""


class GuideList(Value):
    instructions: tuple[Guide, ...]


class WorkspaceList(Value):
    workspaces: tuple[Workspace, ...]


def _id(call: Call) -> WorkspaceId:
    return WorkspaceId(call.path("id"))


async def create(call: Call) -> ASGIApp:
    new = await call.body(NewWorkspace)
    once = await call.once()
    workspace = await call.sees.answered(once, Workspace)
    if workspace is None:
        workspace = await call.to.engine.workspaces.create(
            new.name, new.path, home=new.home, by=call.who, once=once
        )
    return answer(workspace, status=201, headers={"Location": f"/api/workspaces/{workspace.id}"})


async def listing(call: Call) -> ASGIApp:
    return answer(WorkspaceList(workspaces=tuple(await call.sees.workspaces())))


async def read(call: Call) -> ASGIApp:
    return answer(await call.sees.workspace(_id(call)))


async def change(call: Call) -> ASGIApp:
    wanted = await call.body(WorkspaceChange)
    workspace = await call.to.engine.workspaces.change(
        _id(call),
        name=wanted.name,
        path=wanted.path,
        home=wanted.home,
        rules=None if wanted.rules is None else tuple(_rule(one) for one in wanted.rules),
        by=call.who,
    )
    return answer(workspace)


def _rule(draft: RuleDraft) -> Rule:
    return Rule(tool=draft.tool, pattern=draft.pattern, decision=draft.decision)


async def instructions(call: Call) -> ASGIApp:
    guides = await call.to.engine.workspaces.guides(_id(call), by=call.who)
    return answer(GuideList(instructions=guides))


async def delete(call: Call) -> ASGIApp:
    await call.to.engine.workspaces.delete(_id(call), by=call.who)
    return Response(status_code=204)


async def events(call: Call) -> ASGIApp:
    return EventStream(await Viewing(call).workspace(_id(call)))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/workspaces",
        handler=create,
        tag="workspaces",
        summary="Make a workspace for an existing folder",
        takes=NewWorkspace,
        gives=Workspace,
        status=201,
        located=True,
        codes=("idempotency_mismatch",),
    ),
    Endpoint(
        method="GET",
        path="/api/workspaces",
        handler=listing,
        tag="workspaces",
        summary="All workspaces",
        gives=WorkspaceList,
    ),
    Endpoint(
        method="GET",
        path="/api/workspaces/{id}",
        handler=read,
        tag="workspaces",
        summary="One workspace",
        gives=Workspace,
        codes=("not_found",),
    ),
    Endpoint(
        method="PATCH",
        path="/api/workspaces/{id}",
        handler=change,
        tag="workspaces",
        summary="Rename a workspace or give it another folder",
        takes=WorkspaceChange,
        gives=Workspace,
        codes=("not_found",),
    ),
    Endpoint(
        method="DELETE",
        path="/api/workspaces/{id}",
        handler=delete,
        tag="workspaces",
        summary="Remove a workspace and its sessions; its folder stays",
        status=204,
        codes=("not_found", "forbidden"),
    ),
    Endpoint(
        method="GET",
        path="/api/workspaces/{id}/instructions",
        handler=instructions,
        tag="workspaces",
        summary="What its folder tells agents: instructions, skills and commands",
        gives=GuideList,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/workspaces/{id}/events",
        handler=events,
        tag="workspaces",
        summary="What happens to the sessions and runs of a workspace",
        streams=Streams.ALWAYS,
        query=(AFTER,),
        codes=("not_found",),
    ),
)
