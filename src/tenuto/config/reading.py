"""Tables and lists of tables of the file, read field by field, with every mistake said."""

import re
from typing import Any, TypeVar

import msgspec

from tenuto.config.kind import Field, fields_of, kind_of
from tenuto.config.mistake import Mistakes
from tenuto.config.provider import ModelSettings
from tenuto.config.secret import Secret
from tenuto.core.meter import Price

S = TypeVar("S", bound=msgspec.Struct)
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
HEADER_VALUE = re.compile(r"[ -~]{1,4000}")
OURS = frozenset({"host", "connection", "content-length", "content-type", "transfer-encoding"})
"""Headers that nobody else may write."""


def read_list(
    raw: object, struct: type[S], where: str, source: str, mistakes: Mistakes
) -> tuple[S, ...]:
    if not isinstance(raw, list):
        mistakes.wrong(where, raw, source, f"a list of tables: [[{where}]]")
        return ()
    read = (
        read_table(item, struct, f"{where}[{index}]", source, mistakes)
        for index, item in enumerate(raw, start=1)
    )
    return tuple(item for item in read if item is not None)


def read_table(
    raw: object, struct: type[S], where: str, source: str, mistakes: Mistakes
) -> S | None:
    if not isinstance(raw, dict):
        mistakes.wrong(where, raw, source, "a table")
        return None
    fields = {field.name: field for field in fields_of(struct)}
    for key in raw.keys() - fields.keys():
        names = [f"{where}.{name}" for name in fields]
        mistakes.unknown(f"{where}.{key}", source, names)
    before = mistakes.count
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in raw:
            values[name] = _read_field(raw[name], field, f"{where}.{name}", source, mistakes)
        elif field.required:
            mistakes.say(f"{where}.{name} ({source}): is missing")
    return struct(**values) if mistakes.count == before else None


def _read_field(
    raw: object, field: Field, where: str, source: str, mistakes: Mistakes
) -> object | None:
    if field.hint == tuple[ModelSettings, ...]:
        return read_list(raw, ModelSettings, where, source, mistakes)
    if field.hint == dict[str, Secret]:
        return _read_headers(raw, where, source, mistakes)
    if field.hint == Price | None:
        return read_table(raw, Price, where, source, mistakes)
    kind = kind_of(field.hint, field.meta)
    try:
        return kind.read(raw)
    except ValueError:
        mistakes.wrong(where, "(hidden)" if kind.secret else raw, source, kind.allowed)
        return None


def _read_headers(
    raw: object, where: str, source: str, mistakes: Mistakes
) -> dict[str, Secret] | None:
    if not isinstance(raw, dict):
        mistakes.wrong(where, "(hidden)", source, "a table of texts")
        return None
    for name, value in raw.items():
        if not HEADER.fullmatch(name) or name.lower() in OURS:
            mistakes.wrong(where, name, source, "names of headers that are not our own")
        elif not isinstance(value, str) or not HEADER_VALUE.fullmatch(value):
            mistakes.wrong(f"{where}.{name}", "(hidden)", source, "a text of one line")
    return {name: Secret(str(value)) for name, value in raw.items()}
