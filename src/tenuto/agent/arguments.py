"""The arguments of a tool call as a model wrote them: JSON, or nearly so."""

from typing import Any

import msgspec

DEEPEST = 64
"""Levels of objects and lists. Everything that stores, sends or shows a call goes down as deep."""
TOO_DEEP = "The arguments are nested too deeply."


def too_deep(text: str) -> bool:
    """Whether these arguments are nested deeper than anyone needs; False for what is no JSON."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    try:
        level: list[Any] = [msgspec.json.decode(text)]
    except RecursionError:
        return True
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
    return any(isinstance(one, dict | list) for one in level)


def _inside(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return list(one.values())
    return one if isinstance(one, list) else []
