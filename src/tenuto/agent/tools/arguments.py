"""The arguments of a call, read generously: a model that means the right thing is understood."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import msgspec

from tenuto.core.text import cut
from tenuto.core.value import Value

A = TypeVar("A", bound="Arguments")

NAME_CHARACTERS = 40
NAMED = 5
PATHS: Mapping[str, str] = {
    "file_path": "path",
    "filepath": "path",
    "file": "path",
    "filename": "path",
    "file_name": "path",
}
FOLDERS: Mapping[str, str] = {
    "directory": "path",
    "dir": "path",
    "folder": "path",
    "dir_path": "path",
}


class Arguments(Value, forbid_unknown_fields=True):
    """The arguments of one tool; their JSON schema is what the model is shown."""

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Other names that models use, and what each is called here."""


def read_arguments(given: Mapping[str, Any], takes: type[A]) -> tuple[A, str]:
    """The arguments, and a note of what was left out. Raises msgspec.ValidationError."""
    named, unknown = _named(given, takes)
    return msgspec.convert(named, takes, strict=False), _note(unknown)


def signature(takes: type[Arguments]) -> str:
    fields = msgspec.structs.fields(takes)
    return ", ".join(field.name if field.required else f"{field.name}?" for field in fields)


def _named(given: Mapping[str, Any], takes: type[Arguments]) -> tuple[dict[str, Any], list[str]]:
    fields = {field.name: field.type for field in msgspec.structs.fields(takes)}
    named: dict[str, Any] = {}
    unknown: list[str] = []
    # By their own names first: a synonym only fills what was left out.
    for key in sorted(given, key=lambda key: key not in fields):
        name = key if key in fields else _known_as(key, takes)
        # Models write null for what they leave out.
        if given[key] is None or (key != name and name in named):
            continue
        if name not in fields:
            unknown.append(key)
            continue
        named[name] = _value(given[key], fields[name])
    return named, unknown


def _known_as(key: str, takes: type[Arguments]) -> str:
    """By any of its spellings: `filePath` and `file-path` are `file_path`."""
    plain = "".join(f"_{c.lower()}" if c.isupper() else c for c in key).strip("_").replace("-", "_")
    if plain in takes.__struct_fields__:
        return plain
    return takes.synonyms.get(plain, key)


def _value(value: Any, kind: Any) -> Any:
    info = msgspec.inspect.type_info(kind)
    if isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    if isinstance(info, msgspec.inspect.ListType):
        if isinstance(value, str):
            value = _parsed(value)
        if isinstance(info.item_type, msgspec.inspect.StructType) and isinstance(value, list):
            item: type[Any] = info.item_type.cls
            return [_named(one, item)[0] if isinstance(one, dict) else one for one in value]
    return value


def _parsed(text: str) -> Any:
    """What a string holds as JSON, where a list is wanted; the string, if it holds none."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return found if isinstance(found, list) else text


def _note(unknown: list[str]) -> str:
    if not unknown:
        return ""
    names = ", ".join(cut(name, NAME_CHARACTERS) for name in unknown[:NAMED])
    return f"[arguments that this tool does not have were left out: {names}]"
