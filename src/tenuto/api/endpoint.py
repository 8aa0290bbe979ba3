"""An endpoint: a route that also says what it takes and gives, for OpenAPI."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

from msgspec import Meta
from starlette.types import ASGIApp

from tenuto.api.call import Call
from tenuto.api.parameter import Parameter
from tenuto.core.run import InputFile, InputText

Handler = Callable[[Call], Awaitable[ASGIApp]]
EVENTS = "text/event-stream"
ModelName = Annotated[str, Meta(min_length=1, max_length=500)]
SaysSomething = Annotated[str, Meta(min_length=1, pattern=r"\S")]
PromptInput = SaysSomething | Annotated[list[InputText | InputFile], Meta(min_length=1)]


class Streams(Enum):
    """When the answer is a stream of events."""

    NEVER = "never"
    IF_ASKED = "if asked"
    """With `Accept: text/event-stream`; then the status is 200."""
    ALWAYS = "always"


class Access(Enum):
    TOKEN = "token"
    ANYONE = "anyone"


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
    """The type of the JSON answer; `bytes` for one that is not JSON; None for no body."""
    media: tuple[str, ...] = ()
    """The media types of an answer that is not JSON, or not always."""
    streams: Streams = Streams.NEVER
    status: int = 200
    located: bool = False
    """Whether the answer says in `Location` where to find what it made."""
    query: tuple[Parameter[Any], ...] = ()
    access: Access = Access.TOKEN
    codes: tuple[str, ...] = ()
    """Error codes besides those of every call."""
