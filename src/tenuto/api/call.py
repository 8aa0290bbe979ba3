"""A call: one HTTP request, read with care."""

import hashlib
from typing import Any, TypeVar

import msgspec
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response

from tenuto.api.errors import Unreadable
from tenuto.api.form import MULTIPART, FormBounds, read_form
from tenuto.api.parameter import Parameter
from tenuto.api.services import Services
from tenuto.core.error import InvalidInput, PayloadTooLarge, Unauthorized
from tenuto.core.principal import Principal
from tenuto.core.value import SessionId
from tenuto.ports.query import Once
from tenuto.ports.view import View

T = TypeVar("T")

MULTIPART_OVERHEAD = 64 * 1024
LONGEST_KEY = 255
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Call:
    def __init__(self, request: Request, services: Services) -> None:
        self.request = request
        self.to = services
        self._raw: bytes | None = None

    @property
    def who(self) -> Principal:
        """Who asks. Raises Unauthorized for nobody: the call is one that anyone may make."""
        who: Principal | None = self.request.scope["state"]["who"]
        if who is None:
            raise Unauthorized("nobody has said who they are")
        return who

    @property
    def sees(self) -> View:
        """All that they may read."""
        return self.to.seen_by(self.who)

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    @property
    def session_id(self) -> SessionId:
        return SessionId(self.path("id"))

    def ask(self, parameter: Parameter[T]) -> T:
        """What the query says of this. Raises InvalidInput."""
        return parameter.read(self.request.query_params.get(parameter.name))

    def ask_all(self, parameter: Parameter[T]) -> list[T]:
        """All that the query says of this, in its order."""
        return [parameter.read(one) for one in self.request.query_params.getlist(parameter.name)]

    def wants_events(self) -> bool:
        return "text/event-stream" in self.request.headers.get("accept", "")

    async def body(self, kind: type[T]) -> T:
        """The body as JSON of this shape; an empty one counts as `{}`."""
        raw = await self._read(self.to.limits.max_body_bytes)
        try:
            return msgspec.json.decode(raw or b"{}", type=kind)
        except msgspec.ValidationError as error:
            # The shape may be wrong before the end is reached; what is no JSON at all comes first.
            _must_be_json(raw)
            raise InvalidInput(str(error)) from None
        except NOT_JSON as error:
            raise Unreadable(f"the body is not valid JSON: {error}") from None

    async def upload(self) -> tuple[str, str, bytes]:
        """The file of a multipart form: name, media type, content."""
        limit = self.to.limits.max_file_bytes
        too_large = f"a file may have at most {limit} bytes"
        bounds = FormBounds(
            max_bytes=limit + MULTIPART_OVERHEAD,
            max_fields=0,
            max_field_bytes=0,
            max_files=1,
            kinds=(MULTIPART,),
            too_large=too_large,
        )
        async with read_form(self.request, bounds) as form:
            files = [item for item in form.values() if isinstance(item, UploadFile)]
            if not files:
                raise InvalidInput("send one file as multipart/form-data")
            content = await files[0].read(limit + 1)
            name = files[0].filename or "file"
            media_type = files[0].content_type or "application/octet-stream"
        if len(content) > limit:
            raise PayloadTooLarge(too_large)
        return name, media_type, content

    async def once(self, *, of: bytes | None = None) -> Once | None:
        """The client's idempotency key, bound to this path and to what was sent."""
        key = self.request.headers.get("idempotency-key")
        if key is None:
            return None
        if not 1 <= len(key) <= LONGEST_KEY:
            raise InvalidInput(f"an Idempotency-Key has 1 to {LONGEST_KEY} characters")
        sent = of if of is not None else await self._read(self.to.limits.max_body_bytes)
        return Once(
            by=self.who.id,
            key=f"{self.request.url.path} {key}",
            digest=hashlib.sha256(_canonical(sent)).hexdigest(),
            at=self.to.clock.now(),
        )

    async def _read(self, limit: int) -> bytes:
        if self._raw is None:
            chunks: list[bytes] = []
            size = 0
            async for chunk in self.request.stream():
                size += len(chunk)
                if size > limit:
                    raise PayloadTooLarge(f"a body may have at most {limit} bytes")
                chunks.append(chunk)
            self._raw = b"".join(chunks)
        return self._raw


def answer(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def _must_be_json(raw: bytes) -> None:
    try:
        msgspec.json.decode(raw)
    except NOT_JSON as error:
        raise Unreadable(f"the body is not valid JSON: {error}") from None


def _canonical(sent: bytes) -> bytes:
    """The same JSON written differently is the same request."""
    try:
        return msgspec.json.encode(msgspec.json.decode(sent), order="deterministic")
    except NOT_JSON:
        return sent
