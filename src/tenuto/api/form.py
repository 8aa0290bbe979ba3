"""Forms: read with every bound known before the first byte is looked at."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from tenuto.core.error import InvalidInput, PayloadTooLarge
from tenuto.core.value import Value

MULTIPART = "multipart/form-data"
URLENCODED = "application/x-www-form-urlencoded"
UTF_8 = ("", "utf-8", "utf8")


class FormBounds(Value):
    max_bytes: int
    """Of the whole body, whatever length it says it has."""
    max_fields: int
    max_field_bytes: int
    max_files: int = 0
    kinds: tuple[str, ...] = (MULTIPART, URLENCODED)
    too_large: str = "the form is too large"


def read_form(request: Request, bounds: FormBounds) -> AbstractAsyncContextManager[FormData]:
    """The form, as long as its files are needed. Raises InvalidInput or PayloadTooLarge."""
    _check_kind(request, bounds)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > bounds.max_bytes:
        raise PayloadTooLarge(bounds.too_large)
    return _opened(_Counting(request, bounds), bounds)


@asynccontextmanager
async def _opened(request: Request, bounds: FormBounds) -> AsyncGenerator[FormData, None]:
    try:
        form = await request.form(
            max_files=bounds.max_files,
            max_fields=bounds.max_fields,
            max_part_size=bounds.max_field_bytes,
        )
    except (MultiPartException, HTTPException) as error:
        raise InvalidInput(f"the form cannot be read: {_said(error)}") from None
    try:
        yield form
    finally:
        await form.close()


class _Counting(Request):
    """Counts what comes, and goes no further than the bound."""

    def __init__(self, request: Request, bounds: FormBounds) -> None:
        super().__init__(request.scope, request.receive)
        self._bounds = bounds

    async def stream(self) -> AsyncGenerator[bytes, None]:
        size = 0
        async for chunk in super().stream():
            size += len(chunk)
            if size > self._bounds.max_bytes:
                raise PayloadTooLarge(self._bounds.too_large)
            yield chunk


def _check_kind(request: Request, bounds: FormBounds) -> None:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind.decode("latin-1") not in bounds.kinds:
        raise InvalidInput(f"send the form as {' or '.join(bounds.kinds)}")
    # The parser would decode with whatever is named here, and some codecs take quadratic time.
    if options.get(b"charset", b"").decode("latin-1").strip().lower() not in UTF_8:
        raise InvalidInput("a form must be in UTF-8")


def _said(error: MultiPartException | HTTPException) -> str:
    return error.message if isinstance(error, MultiPartException) else error.detail
