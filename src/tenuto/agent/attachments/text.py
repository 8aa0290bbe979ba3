"""The text of an attached file, as far as it goes into a prompt."""

import codecs

from tenuto.core.text import whole
from tenuto.ports.model import FileBlock

HEAD_BYTES = 64 * 1024
"""More would push the conversation out of the window; tools can read the rest."""
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))


def told(file: FileBlock) -> str | None:
    """A text file with its name around it, or its beginning; None if it is no text."""
    head = file.content[:HEAD_BYTES]
    text = _decoded(file, head)
    if text is None:
        return None
    said = f'<file name="{file.name}">\n{text}\n</file>'
    return said if len(head) == len(file.content) else f"{said}\n{_rest(file)}"


def size(count: int) -> str:
    """Bytes as people say them."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def _decoded(file: FileBlock, head: bytes) -> str | None:
    ended = len(head) == len(file.content)
    encoding = next(name for mark, name in _MARKS if head.startswith(mark))
    if encoding == "utf-8-sig" and b"\0" in head:
        return None
    try:
        # A character that the cut went through is left out.
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=ended)
    except UnicodeDecodeError:
        return head.decode("latin-1") if file.media_type.startswith("text/") else None
    return whole(text)


def _rest(file: FileBlock) -> str:
    beginning = f"[This was the first {size(HEAD_BYTES)} of {size(len(file.content))}."
    return (
        f"{beginning} The rest: read_file with path file:{file.id}.]"
        if file.id
        else beginning + "]"
    )
