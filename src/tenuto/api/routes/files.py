"""Files that prompts can carry."""

import hashlib

from starlette.types import ASGIApp

from tenuto.api.call import Call, answer
from tenuto.api.endpoint import Endpoint
from tenuto.core.file import FileInfo
from tenuto.core.value import FileId

LONGEST_NAME = 255


async def upload(call: Call) -> ASGIApp:
    name, media_type, content = await call.upload()
    info = FileInfo(
        id=FileId(call.to.ids.new("fil")),
        name=_plain(name),
        media_type=media_type[:LONGEST_NAME],
        size=len(content),
        created_at=call.to.clock.now(),
    )
    # The boundary of a form differs each time; the file is what was sent.
    sent = f"{name}\0{media_type}\0{hashlib.sha256(content).hexdigest()}".encode()
    stored = await call.to.store.put_file(info, content, once=await call.once(of=sent))
    return answer(stored, status=201)


def _plain(name: str) -> str:
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
)
