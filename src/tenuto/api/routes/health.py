"""Is it alive, is it ready, how is it doing."""

from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Access, Endpoint
from tenuto.api.errors import answer_to, problem
from tenuto.core.error import StorageTrouble
from tenuto.core.value import Value


class Health(Value):
    status: str


async def alive(call: Call) -> ASGIApp:
    return answer(Health(status="ok"))


async def ready(call: Call) -> ASGIApp:
    if call.to.engine.draining:
        return problem("shutting_down", "the server is stopping")
    try:
        await call.to.check_storage()
    except StorageTrouble as trouble:
        return answer_to(trouble)
    return answer(Health(status="ready"))


async def metrics(call: Call) -> ASGIApp:
    return Response(call.to.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/healthz",
        handler=alive,
        tag="health",
        summary="Whether the server is alive",
        gives=Health,
        access=Access.ANYONE,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        handler=ready,
        tag="health",
        summary="Whether the server would accept a prompt now",
        gives=Health,
        access=Access.ANYONE,
        codes=("shutting_down", "storage_unavailable"),
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        handler=metrics,
        tag="health",
        summary="Counts as Prometheus text",
        gives=bytes,
        media=("text/plain",),
    ),
)
