"""Files that prompts can carry."""

import hashlib
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.file import FileInfo
from tenuto.core.value import FileId

LONGEST_NAME = 255
SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""What a browser may show by itself; all else is only saved. SVG can hold scripts."""


async def upload(call: Call) -> ASGIApp:
    name, media_type, content = await call.upload()
    # The boundary of a form differs each time; the file is what was sent.
    sent = f"{name}\0{media_type}\0{hashlib.sha256(content).hexdigest()}".encode()
    stored = await call.to.engine.files.put(
        content,
        name=plain_name(name),
        media_type=media_type[:LONGEST_NAME],
        by=call.who,
        once=await call.once(of=sent),
    )
    return answer(stored, status=201)


async def content(call: Call) -> ASGIApp:
    """The bytes as they came. Whatever is in them, they are no page of ours."""
    file_id = FileId(call.path("id"))
    info = await call.sees.file(file_id)
    shown = info.media_type in SHOWN
    kind = "inline" if shown else "attachment"
    headers = {
        "Content-Disposition": f"{kind}; filename*=UTF-8''{quote(info.name, safe='')}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, max-age=31536000, immutable",
    }
    media_type = info.media_type if shown else "application/octet-stream"
    body = await call.sees.file_content(file_id)
    return Response(body, headers=headers, media_type=media_type)


def plain_name(name: str) -> str:
    """A name without folders or control characters: it is shown, never used as a path."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[-LONGEST_NAME:] or "file"


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/api/files",
        handler=upload,
        tag="files",
        summary="Upload a file for use in a prompt",
        takes=bytes,
        gives=FileInfo,
        status=201,
        codes=("payload_too_large", "idempotency_mismatch"),
    ),
    Endpoint(
        method="GET",
        path="/api/files/{id}",
        handler=content,
        tag="files",
        summary="The bytes of a file",
        gives=bytes,
        media=("application/octet-stream", *sorted(SHOWN)),
        codes=("not_found",),
    ),
)
