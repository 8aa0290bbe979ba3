"""The server in a few words."""

from starlette.types import ASGIApp

from tenuto import __version__
from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.sandbox import Sandboxing
from tenuto.core.value import Instant, Value
from tenuto.ports.provider import Embedded


class About(Value):
    name: str
    version: str
    embedded: Embedded
    sandbox: Sandboxing
    started_at: Instant


async def read(call: Call) -> ASGIApp:
    about = About(
        name="Tenuto",
        version=__version__,
        embedded=call.to.providers.embedded(),
        sandbox=call.to.sandbox,
        started_at=call.to.started_at,
    )
    return answer(about)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/about",
        handler=read,
        tag="health",
        summary="Name, version, and whether the embedded model is ready, and what sandbox holds",
        gives=About,
    ),
)
