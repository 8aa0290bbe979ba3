"""The models that can be asked for."""

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.value import Value
from tenuto.ports.model import Model


class ModelList(Value):
    models: tuple[Model, ...]
    default: str | None
    """None: there is no model to ask."""


async def listing(call: Call) -> ASGIApp:
    models, default = await call.to.models.list()
    return answer(ModelList(models=tuple(models), default=default))


async def refresh(call: Call) -> ASGIApp:
    await call.to.providers.refresh()
    return await listing(call)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/models",
        handler=listing,
        tag="models",
        summary="All models, and the default one",
        gives=ModelList,
    ),
    Endpoint(
        method="POST",
        path="/api/models/refresh",
        handler=refresh,
        tag="models",
        summary="Ask every provider for its models again",
        gives=ModelList,
    ),
)
