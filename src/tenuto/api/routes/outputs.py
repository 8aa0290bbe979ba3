"""Outputs: what a tool printed, whole."""

from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call
from tenuto.api.endpoint import Endpoint
from tenuto.core.output import joined

TEXT = "text/plain; charset=utf-8"
HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox"}
"""Whatever is in it, it is no page of ours."""


async def whole(call: Call) -> ASGIApp:
    await call.sees.session(call.session_id)
    return text_of(joined(await call.sees.output(call.session_id, call.path("call_id"))))


def text_of(text: str) -> Response:
    return Response(text.encode(), headers=HEADERS, media_type=TEXT)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/sessions/{id}/outputs/{call_id}",
        handler=whole,
        tag="sessions",
        summary="The whole output of a tool call that was too long for the transcript",
        gives=bytes,
        media=("text/plain",),
        codes=("not_found",),
    ),
)
