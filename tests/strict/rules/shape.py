"""What is the same on every wire: names, ids, schemas, data URLs."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.strict.pictures import MEGABYTE, opened, seen

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
"""Of a tool, offered or called. OpenAI: 64 characters; others take more, none takes less."""
ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
"""Of a call. Anthropic: '^[a-zA-Z0-9_-]+$'."""
KINDS = ("image/jpeg", "image/png", "image/gif", "image/webp")
_DATA = re.compile(r"data:([^;,]+);base64,(.*)\Z", re.DOTALL)


def twice(given: Iterable[str]) -> str | None:
    """The first that is there a second time."""
    had: set[str] = set()
    for one in given:
        if one in had:
            return one
        had.add(one)
    return None


def is_object(text: Any) -> bool:
    """Whether this text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def schema_fault(schema: Any) -> str | None:
    """What is wrong with the JSON schema of a tool's arguments."""
    if not isinstance(schema, Mapping):
        return f"{schema!r} is not of type 'object', 'boolean'"
    if schema.get("type") != "object":
        return "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'."
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return f"{properties!r} is not of type 'object'"
    missing = [name for name in schema.get("required", ()) if name not in properties]
    return f"'required' names {missing[0]!r}, which is no property" if missing else None


def data_url(url: Any) -> tuple[str, bytes] | None:
    """The media type and the content of a data URL; None if it is none."""
    found = _DATA.match(url) if isinstance(url, str) else None
    content = opened(found[2]) if found else None
    return (found[1], content) if found and content is not None else None


def image_fault(url: Any, *, megabytes: int) -> str | None:
    """OpenAI and its likes: a data URL of a kind that is known, true to its bytes, and not too large."""
    given = data_url(url)
    if given is None:
        return "Invalid image_url: the data URL is not valid base64."
    media_type, content = given
    if media_type not in KINDS or seen(content).media_type != media_type:
        formats = "['png', 'jpeg', 'gif', 'webp']"
        words = "Please make sure your image has of one the following formats"
        return f"You uploaded an unsupported image. {words}: {formats}."
    if len(content) > megabytes * MEGABYTE:
        return f"Image size exceeds the maximum of {megabytes} MB."
    return None
