"""Attached files, in the way each model can take them."""

import base64

from tenuto.ports.model import FileBlock

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def is_image(file: FileBlock) -> bool:
    """True for the kinds of image that models which see can take."""
    return file.media_type.split(";")[0].strip().lower() in IMAGES


def base64_of(file: FileBlock) -> str:
    return base64.b64encode(file.content).decode("ascii")


def as_text(file: FileBlock) -> str:
    """A text file with its name around it; of anything else, a note that it cannot be read."""
    text = _text(file)
    if text is None:
        size = len(file.content)
        kind = file.media_type or "unknown kind"
        return f"[Attached file {file.name} ({kind}, {size} bytes) cannot be read by this model.]"
    return f'<file name="{file.name}">\n{text}\n</file>'


def _text(file: FileBlock) -> str | None:
    """None if it is no text."""
    content = file.content
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) and len(content) % 2 == 0:
        return content.decode("utf-16", "replace")
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        says_text = file.media_type.startswith("text/")
        return content.decode("latin-1") if says_text else None
