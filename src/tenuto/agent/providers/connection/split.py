"""Characters that a provider split over two pieces of its answer."""

import codecs
import json
import re
from typing import Any

from tenuto.core.text import whole

# A byte that is not UTF-8 by itself is carried through JSON as a mark: a code point for private
# use, so that it cannot be taken for the half of a surrogate pair.
_MARK = 0x10FF00
_TO_MARKS = {0xDC00 + byte: _MARK + byte for byte in range(0x80, 0x100)}
_MARKS = re.compile("[\U0010ff80-\U0010ffff]+")
_MARKS_AT_END = re.compile(_MARKS.pattern + r"\Z")


def decode_odd(payload: bytes) -> Any:
    """JSON whose strings may hold half a character; its texts must go through a `Seam`."""
    return json.loads(payload.decode("utf-8", "surrogateescape").translate(_TO_MARKS))


class Seam:
    """Joins a character whose halves came in two pieces of the same text.

    A half that never gets its partner becomes U+FFFD, so what comes out can always be stored.
    """

    def __init__(self) -> None:
        self._half = ""

    def join(self, text: str) -> str:
        """The text without the half character at its end, which waits for the next piece."""
        text = self._half + text
        self._half = ""
        if tail := _MARKS_AT_END.search(text):
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            whole = decoder.decode(_bytes(tail[0]))
            self._half = "".join(chr(_MARK + byte) for byte in decoder.getstate()[0])
            text = text[: tail.start()] + whole
        elif text and "\ud800" <= text[-1] <= "\udbff":
            self._half = text[-1]
            text = text[:-1]
        return mended(text)

    def end(self) -> str:
        """What the half that is left over becomes."""
        left = mended(self._half)
        self._half = ""
        return left


def mended(text: str) -> str:
    """A text of `decode_odd` that nothing follows: every half character becomes U+FFFD."""
    return whole(_MARKS.sub(lambda m: _bytes(m[0]).decode("utf-8", "replace"), text))


def _bytes(marks: str) -> bytes:
    return bytes(ord(mark) - _MARK for mark in marks)
