"""The one place that knows which error is which HTTP status."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from tenuto.core.error import TenutoError

log = logging.getLogger(__name__)

STATUS = {
    "invalid_input": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "session_busy": 409,
    "already_answered": 409,
    "idempotency_mismatch": 409,
    "payload_too_large": 413,
    "model_not_found": 422,
    "nothing_to_undo": 409,
    "not_last": 409,
    "queue_full": 429,
    "rate_limited": 429,
    "shutting_down": 503,
    "storage_unavailable": 503,
    "internal": 500,
}
RETRY_AFTER = {
    "shutting_down": "5",
    "storage_unavailable": "5",
    "queue_full": "5",
    "rate_limited": "60",
}


class Unreadable(TenutoError):
    """The body is not JSON at all."""

    code = "invalid_input"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An error as `application/problem+json`."""

    type: str
    title: str
    status: int
    code: str
    detail: str


def answer_to(error: Exception) -> Response:
    """What a client is told of an error; of a bug, nothing but that it was one."""
    if isinstance(error, TenutoError):
        status = 400 if isinstance(error, Unreadable) else STATUS[error.code]
        if status != HTTPStatus.INTERNAL_SERVER_ERROR:
            return problem(error.code, str(error), status=status)
    if isinstance(error, HTTPException) and error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
        return problem(
            "not_found", "there is no such call", status=error.status_code, headers=error.headers
        )
    log.error("a request failed", exc_info=error)
    return problem("internal", "The server made a mistake. Its log says more.")


def problem(
    code: str, detail: str, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    status = status or STATUS[code]
    body = Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=detail,
    )
    sent = dict(headers or {})
    if code in RETRY_AFTER:
        sent["Retry-After"] = RETRY_AFTER[code]
    if status == HTTPStatus.UNAUTHORIZED:
        sent["WWW-Authenticate"] = "Bearer"
    return Response(msgspec.json.encode(body), status, sent, media_type="application/problem+json")
