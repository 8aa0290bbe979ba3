"""Changes: what a run did to files, and taking it back."""

from typing import Annotated

from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.file_change import FileChange
from tenuto.core.value import RunId, Value
from tenuto.engine.changes import Reverted, Way


class ChangeList(Value):
    changes: tuple[FileChange, ...]


class Revert(Value, forbid_unknown_fields=True):
    paths: Annotated[list[str], Meta(min_length=1, max_length=10_000)] | None = None
    """None: all that the run changed."""
    redo: bool = False
    """True: put back what a revert took away."""


async def listing(call: Call) -> ASGIApp:
    changes = await call.to.engine.changes.of_run(RunId(call.path("id")), by=call.who)
    return answer(ChangeList(changes=changes))


async def revert(call: Call) -> ASGIApp:
    wanted = await call.body(Revert)
    way = Way.FORTH if wanted.redo else Way.BACK
    run_id = RunId(call.path("id"))
    return answer(await call.to.engine.changes.revert(run_id, wanted.paths, way, by=call.who))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/runs/{id}/changes",
        handler=listing,
        tag="changes",
        summary="What a run did to files",
        gives=ChangeList,
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{id}/revert",
        handler=revert,
        tag="changes",
        summary="Put files back as they were before a run, where nobody changed them since",
        takes=Revert,
        gives=Reverted,
        codes=("not_found", "session_busy", "invalid_input"),
    ),
)
