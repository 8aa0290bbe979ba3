"""Workspaces: a folder and settings that sessions share."""

from pathlib import Path
from typing import Annotated

import anyio.to_thread
from msgspec import Meta
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, SaysSomething, Streams
from tenuto.api.parameter import AFTER
from tenuto.api.sse import EventStream
from tenuto.api.streams import Viewing
from tenuto.core.error import InvalidInput
from tenuto.core.session import Workspace
from tenuto.core.value import Value, WorkspaceId

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Folder = Annotated[SaysSomething, Meta(max_length=4096)]


class NewWorkspace(Value, forbid_unknown_fields=True):
    name: Name
    path: Folder


class WorkspaceChange(Value, forbid_unknown_fields=True):
    name: Name | None = None
    path: Folder | None = None


class WorkspaceList(Value):
    workspaces: tuple[Workspace, ...]


def _id(call: Call) -> WorkspaceId:
    return WorkspaceId(call.path("id"))


async def create(call: Call) -> ASGIApp:
    new = await call.body(NewWorkspace)
    once = await call.once()
    workspace = await call.sees.answered(once, Workspace)
    if workspace is None:
        path = await _folder(new.path)
        keeper = call.to.engine.workspaces
        workspace = await keeper.create(new.name, path, by=call.who, once=once)
    return answer(workspace, status=201, headers={"Location": f"/api/workspaces/{workspace.id}"})


async def listing(call: Call) -> ASGIApp:
    return answer(WorkspaceList(workspaces=tuple(await call.sees.workspaces())))


async def read(call: Call) -> ASGIApp:
    return answer(await call.sees.workspace(_id(call)))


async def change(call: Call) -> ASGIApp:
    wanted = await call.body(WorkspaceChange)
    path = None if wanted.path is None else await _folder(wanted.path)
    workspace = await call.to.engine.workspaces.change(
        _id(call), name=wanted.name, path=path, by=call.who
    )
    return answer(workspace)


async def delete(call: Call) -> ASGIApp:
    await call.to.engine.workspaces.delete(_id(call), by=call.who)
    return Response(status_code=204)


async def events(call: Call) -> ASGIApp:
    return EventStream(await Viewing(call).workspace(_id(call)))


async def _folder(given: str) -> str:
    """An existing folder on the server, as an absolute path."""

    def resolve() -> str | None:
        try:
            path = Path(given).expanduser().resolve(strict=True)
            # A link may lead to a name that no text can hold.
            str(path).encode()
        except (OSError, RuntimeError, ValueError):
            return None
        return str(path) if path.is_dir() else None

    path = await anyio.to_thread.run_sync(resolve)
    if path is None or not given.strip():
        raise InvalidInput(f"path: there is no folder {given!r} on the server")
    return path


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
        path="/api/workspaces/{id}/events",
        handler=events,
        tag="workspaces",
        summary="What happens to the sessions and runs of a workspace",
        streams=Streams.ALWAYS,
        query=(AFTER,),
        codes=("not_found",),
    ),
)
