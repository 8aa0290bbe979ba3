"""What a provider fills in, made safe to keep: numbers have a range, names a length, JSON an end.

Nothing behind this border looks at it again, so every wire goes through here.
"""

import math
from typing import Any, TypeVar

import msgspec

from tenuto.agent.providers.connection.split import decode_odd, mended
from tenuto.core.run import MOST_TOKENS
from tenuto.core.text import cut
from tenuto.core.value import CallId
from tenuto.ports.model import CallStarted

NAME_CHARACTERS = 256
"""Of a tool's or a model's name: more than any wire allows."""
ID_CHARACTERS = 512
"""Of a tool call's id; some gateways put a signature into it."""
MOST_CALLS = 1024
"""In one answer, begun or not. What a run may make is a setting, and never above this."""
EARLY_CHARACTERS = 64 * 1024
"""Of arguments whose call has no name yet."""

UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What reading bytes that somebody else wrote may raise."""

T = TypeVar("T")


def decode(payload: bytes, decoder: msgspec.json.Decoder[T]) -> tuple[T, bool]:
    """What these bytes say, and whether its texts may hold half a character.

    Raises one of `UNREADABLE`.
    """
    try:
        return decoder.decode(payload), False
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.convert(decode_odd(payload), decoder.type, strict=False), True


def tokens(given: Any) -> int | None:
    """A count, brought into the range that everything can hold; None if it is no number."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if isinstance(given, float) and math.isnan(given):
        return None
    return int(min(max(given, 0), MOST_TOKENS))


def at(given: Any, *path: str) -> Any:
    """What is there in nested objects; None if there is no such place."""
    for name in path:
        given = given.get(name) if isinstance(given, dict) else None
    return given


def is_sound(name: str, *, limit: int) -> bool:
    """Whether this can be shown, stored and sent back as it is."""
    return 0 < len(name) <= limit and name.isprintable()


def call_started(index: int, *, call_id: str, name: str) -> CallStarted:
    """A call's beginning. An id that cannot be sent back is left out: it gets one of ours."""
    sound = is_sound(call_id, limit=ID_CHARACTERS)
    return CallStarted(
        index=index,
        id=CallId(call_id if sound else ""),
        name=cut(mended(name), NAME_CHARACTERS),
    )
