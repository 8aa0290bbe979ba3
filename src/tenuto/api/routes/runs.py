"""Runs: prompts that were accepted, and all that is done to answer them."""

from typing import Annotated, Literal

from msgspec import Meta
from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint, ModelName, PromptInput, Streams
from tenuto.api.parameter import AFTER, CURSOR, LIMIT, Parameter
from tenuto.api.sse import EventStream
from tenuto.api.streams import Viewing
from tenuto.core.editing import QueueEdit
from tenuto.core.options import Effort, Options, Wish
from tenuto.core.run import Mode, OnDisconnect, OnInterrupt, Run, RunStatus, WhenBusy
from tenuto.core.value import RunId, SessionId, StreamId, Value
from tenuto.engine.checking import Draft
from tenuto.ports.query import RunPage, RunQuery

STATUS: Parameter[RunStatus | None] = Parameter(
    name="status", kind=RunStatus, usual=None, meaning="Only runs with this status."
)


class PromptBody(Value, forbid_unknown_fields=True):
    input: PromptInput
    model: ModelName | None = None
    mode: Literal["agent", "chat"] | None = None
    """None: `agent`; in a pane of a comparison, its mode."""
    when_busy: WhenBusy = WhenBusy.QUEUE
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE
    on_interrupt: OnInterrupt = OnInterrupt.STOP
    """What becomes of it when the server stops or dies in the middle of its run."""
    effort: Effort | None = None
    """How hard to think; None: as the model does by itself."""
    options: Options | None = None
    attended: bool = True
    """False: nobody can be asked, so what would ask is denied."""


class QueuedChange(Value, forbid_unknown_fields=True):
    input: PromptInput | None = None
    position: Annotated[int, Meta(ge=0)] | None = None
    when_busy: Literal["steer"] | None = None
    held: bool | None = None
    """True: to be passed over; False: to go on."""


def _id(call: Call) -> RunId:
    return RunId(call.path("id"))


async def accept(call: Call) -> ASGIApp:
    body = await call.body(PromptBody)
    draft = Draft(
        input=body.input,
        model=body.model,
        mode=None if body.mode is None else Mode(body.mode),
        when_busy=body.when_busy,
        on_disconnect=body.on_disconnect,
        on_interrupt=body.on_interrupt,
        wish=Wish(effort=body.effort, options=body.options, attended=body.attended),
    )
    if call.wants_events():
        call.to.engine.tailer.expect(StreamId(call.session_id))
    run = await call.to.engine.inbox.accept(
        call.session_id, draft, by=call.who, once=await call.once()
    )
    return await accepted(call, run)


async def accepted(call: Call, run: Run) -> ASGIApp:
    """A 202 with the run, or its stream for a client that asked for one."""
    headers = {"Location": f"/api/runs/{run.id}"}
    if not call.wants_events():
        return answer(run, status=202, headers=headers)

    async def cancel() -> None:
        await call.to.engine.stops.cancel_left(run, by=call.who)

    attached = run.on_disconnect is OnDisconnect.CANCEL
    batches = await Viewing(call).accepted(run)
    return EventStream(batches, on_left=cancel if attached else None, headers=headers)


async def of_session(call: Call) -> ASGIApp:
    await call.sees.session(call.session_id)
    return await _page(call, call.session_id)


async def listing(call: Call) -> ASGIApp:
    return await _page(call, None)


async def _page(call: Call, session_id: SessionId | None) -> ASGIApp:
    query = RunQuery(
        session_id=session_id,
        status=call.ask(STATUS),
        limit=call.ask(LIMIT),
        cursor=call.ask(CURSOR),
    )
    return answer(await call.sees.runs(query))


async def read(call: Call) -> ASGIApp:
    return answer(await call.sees.run(_id(call)))


async def events(call: Call) -> ASGIApp:
    return EventStream(await Viewing(call).run(_id(call)))


async def cancel(call: Call) -> ASGIApp:
    return answer(await call.to.engine.stops.cancel_run(_id(call), by=call.who))


async def change(call: Call) -> ASGIApp:
    body = await call.body(QueuedChange)
    edit = QueueEdit(
        input=body.input,
        position=body.position,
        steer=body.when_busy is not None,
        held=body.held,
    )
    return answer(await call.to.engine.queue.change(_id(call), edit, by=call.who))


async def withdraw(call: Call) -> ASGIApp:
    await call.to.engine.queue.withdraw(_id(call), by=call.who)
    return Response(status_code=204)


async def go_on(call: Call) -> ASGIApp:
    run = await call.to.engine.inbox.go_on(_id(call), by=call.who, once=await call.once())
    return await accepted(call, run)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/sessions/{id}/runs",
        handler=accept,
        tag="runs",
        summary="Prompt a session; with `Accept: text/event-stream` the answer is the run's stream",
        takes=PromptBody,
        gives=Run,
        streams=Streams.IF_ASKED,
        status=202,
        located=True,
        codes=(
            "not_found",
            "session_busy",
            "model_not_found",
            "idempotency_mismatch",
            "queue_full",
            "shutting_down",
        ),
    ),
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/runs",
        handler=of_session,
        tag="runs",
        summary="A session's runs, newest first",
        gives=RunPage,
        query=(STATUS, LIMIT, CURSOR),
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/runs",
        handler=listing,
        tag="runs",
        summary="All runs, newest first",
        gives=RunPage,
        query=(STATUS, LIMIT, CURSOR),
    ),
    Endpoint(
        method="GET",
        path="/api/runs/{id}",
        handler=read,
        tag="runs",
        summary="One run",
        gives=Run,
        codes=("not_found",),
    ),
    Endpoint(
        method="GET",
        path="/api/runs/{id}/events",
        handler=events,
        tag="runs",
        summary="One run's events; ends after `run.finished`",
        streams=Streams.ALWAYS,
        query=(AFTER,),
        codes=("not_found",),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{id}/cancel",
        handler=cancel,
        tag="runs",
        summary="Stop one run; answers with the run as it ended",
        gives=Run,
        codes=("not_found",),
    ),
    Endpoint(
        method="PATCH",
        path="/api/runs/{id}",
        handler=change,
        tag="runs",
        summary="Change a queued run",
        takes=QueuedChange,
        gives=Run,
        codes=("not_found", "session_busy"),
    ),
    Endpoint(
        method="DELETE",
        path="/api/runs/{id}",
        handler=withdraw,
        tag="runs",
        summary="Take a queued run back",
        status=204,
        codes=("not_found", "session_busy"),
    ),
    Endpoint(
        method="POST",
        path="/api/runs/{id}/continue",
        handler=go_on,
        tag="runs",
        summary="Go on from the kept partial of the session's last run",
        gives=Run,
        streams=Streams.IF_ASKED,
        status=202,
        located=True,
        codes=(
            "not_found",
            "session_busy",
            "not_last",
            "model_not_found",
            "idempotency_mismatch",
            "shutting_down",
        ),
    ),
)
