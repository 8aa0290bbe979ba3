"""What a provider need not read again, counted from the bytes that it got."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.strict.refusal import Body

LOOKBACK = 20
"""Anthropic: blocks before a mark that are looked at for something kept."""
UNIT = 128
LEAST = 1024
"""OpenAI: nothing shorter is kept, and only whole units of tokens."""


@dataclass(frozen=True)
class Read:
    """In tokens."""

    total: int
    cached: int


class MarkedCache:
    """Anthropic: what ends with a mark is kept, and is found by a later mark not far behind it."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def read(self, body: Body) -> Read:
        sizes, ends, marks = [0], [b""], []
        for place, block in enumerate(_blocks(body), start=1):
            content = msgspec.json.encode({k: v for k, v in block.items() if k != "cache_control"})
            sizes.append(sizes[-1] + len(content))
            ends.append(hashlib.sha256(ends[-1] + content).digest())
            if block.get("cache_control"):
                marks.append(place)
        looked_at = [n for mark in marks for n in range(mark, max(mark - LOOKBACK, 0), -1)]
        found = max((n for n in looked_at if ends[n] in self._kept), default=0)
        self._kept.update(ends[mark] for mark in marks)
        return Read(sizes[-1] // 4, sizes[found] // 4)


class PrefixCache:
    """OpenAI and its likes: what the last request of the same key began with."""

    def __init__(self) -> None:
        self._last: dict[str, bytes] = {}

    def read(self, body: Body) -> Read:
        key = str(body.get("prompt_cache_key", ""))
        said = b"".join(msgspec.json.encode(block) for block in _blocks(body))
        before, self._last[key] = self._last.get(key, b""), said
        tokens = _common(before, said) // 4
        return Read(len(said) // 4, tokens // UNIT * UNIT if tokens >= LEAST else 0)


def _blocks(body: Body) -> Iterator[Mapping[str, Any]]:
    """In the order in which a model reads them, wherever they stand in the body."""
    yield from body.get("tools") or ()
    system = body.get("system") or body.get("instructions") or ()
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body.get("messages") or body.get("input") or ():
        content = message.get("content")
        if isinstance(content, list) and "system" in body:
            yield {"role": message["role"]}
            yield from content
        else:
            yield message


def _common(one: bytes, other: bytes) -> int:
    """How many bytes are the same from the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
