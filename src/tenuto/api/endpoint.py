"""An endpoint: a route that also says what it takes and gives, for OpenAPI."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call

Handler = Callable[[Call], Awaitable[ASGIApp]]
EVENTS = "text/event-stream"
ModelName = Annotated[str, Meta(min_length=1, max_length=500)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    method: str
    path: str
    handler: Handler
    tag: str
    summary: str
    takes: Any = None
    """The type of the JSON body; `bytes` for a file upload; None for no body."""
    gives: Any = None
    """The type of the JSON answer; `EVENTS` for a stream; None for no body."""
    status: int = 200
    query: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    """Error codes besides those of every call."""
