"""What a GGUF file says of the model in it: read from its head, without loading it."""

import mmap
import struct
from collections.abc import Callable
from pathlib import Path

from tenuto.core.value import Value

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ITEMS = 4_000_000
"""Of the head, a vocabulary's words included; the largest known have some hundred thousand."""

_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9


class NoModel(Exception):
    """The file is none that can be used; the reason is for people."""


class Header(Value):
    window: int | None
    """What the model was made for; None: it does not say."""
    has_tools: bool
    """Whether its chat template can show tools to it."""


def header_of(path: Path) -> Header:
    """Raises NoModel."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _Reader(data).wanted()
    except (OSError, ValueError) as error:
        raise NoModel(f"it cannot be read ({error})") from error
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise NoModel("it is cut off, or no GGUF file") from error
    template = found.get("tokenizer.chat_template")
    window = found.get(f"{found.get('general.architecture')}.context_length")
    return Header(
        window=window if isinstance(window, int) and window > 0 else None,
        has_tools=isinstance(template, str) and "tools" in template,
    )


class _Reader:
    """Goes through the head, value by value."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0
        self._items = 0

    def wanted(self) -> dict[str, object]:
        if self._data[:4] != MAGIC:
            raise NoModel("it is no GGUF file")
        self._at = 4
        if self._number("I") not in VERSIONS:
            raise NoModel("it is a GGUF file of a version that is not known")
        self._number("Q")
        found: dict[str, object] = {}
        for _ in range(self._number("Q")):
            key = self._text()
            found[key] = self._value(self._number("I"))
        return found

    def _value(self, kind: int) -> object:
        self._count(1)
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            self._skip_list()
            return None
        return self._number(_FIXED[kind])

    def _skip_list(self) -> None:
        kind, length = self._number("I"), self._number("Q")
        if kind in _FIXED:
            self._at += length * struct.calcsize(_FIXED[kind])
            return
        self._count(length)
        skip: Callable[[], object] = self._skip_text if kind == _TEXT else self._skip_list
        for _ in range(length):
            skip()

    def _count(self, items: int) -> None:
        self._items += items
        if self._items > MOST_ITEMS:
            raise NoModel("its head has no end")

    def _number(self, code: str) -> int:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(code)
        number: int = value
        return number

    def _skip_text(self) -> None:
        length = self._number("Q")
        self._at += length

    def _text(self) -> str:
        length = self._number("Q")
        text = self._data[self._at : self._at + length]
        if len(text) != length:
            raise IndexError
        self._at += length
        return text.decode("utf-8", "replace")
