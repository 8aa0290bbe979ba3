"""What a value may be: how it is read from text or TOML, and the words for what is allowed."""

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from tenuto.config.secret import Secret
from tenuto.core.value import Value

N = TypeVar("N", int, float)

SWITCH = {
    "on": True,
    "off": False,
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "1": True,
    "0": False,
}


class Kind(Value):
    """How one setting is read. `read` raises ValueError for what is not allowed."""

    allowed: str
    read: Callable[[object], object]
    secret: bool = False


class Field(Value):
    """One annotated field of a settings struct."""

    name: str
    hint: Any
    meta: Meta
    required: bool
    default: object


def fields_of(struct: type[msgspec.Struct]) -> tuple[Field, ...]:
    """The fields of a struct in the order in which it says them."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(_field(info, hints[info.name]) for info in msgspec.structs.fields(struct))


def _field(info: msgspec.structs.FieldInfo, annotation: Any) -> Field:
    hint, meta = _unwrap(annotation)
    return Field(name=info.name, hint=hint, meta=meta, required=info.required, default=info.default)


def kind_of(hint: Any, meta: Meta) -> Kind:
    """The kind of a plain value; tables and lists of tables have none."""
    if isinstance(hint, UnionType):
        (some,) = (part for part in get_args(hint) if part is not type(None))
        return kind_of(some, meta)
    if get_origin(hint) is tuple:
        item, item_meta = _unwrap(get_args(hint)[0])
        return _list(kind_of(item, item_meta))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _choice(hint)
    makers: Mapping[Any, Callable[[Meta], Kind]] = {
        bool: _switch,
        int: _whole,
        float: _number,
        str: _text,
        Path: _path,
        Secret: _secret,
    }
    return makers[hint](meta)


def _unwrap(annotation: Any) -> tuple[Any, Meta]:
    if get_origin(annotation) is not Annotated:
        return annotation, Meta()
    hint, meta = get_args(annotation)
    return hint, meta


def _switch(_meta: Meta) -> Kind:
    def read(raw: object) -> bool:
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and raw.lower() in SWITCH:
            return SWITCH[raw.lower()]
        raise ValueError

    return Kind(allowed="on or off", read=read)


def _whole(meta: Meta) -> Kind:
    def read(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int | str):
            raise ValueError
        return _in_range(int(raw), meta)

    return Kind(allowed=f"a whole number{_range(meta)}", read=read)


def _number(meta: Meta) -> Kind:
    def read(raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            raise ValueError
        number = float(raw)
        if not math.isfinite(number):
            raise ValueError
        return _in_range(number, meta)

    return Kind(allowed=f"a number{_range(meta)}", read=read)


def _text(meta: Meta) -> Kind:
    def read(raw: object) -> str:
        if not isinstance(raw, str) or not re.fullmatch(meta.pattern or ".*", raw):
            raise ValueError
        return raw

    return Kind(allowed=meta.title or "a text", read=read)


def _path(_meta: Meta) -> Kind:
    def read(raw: object) -> Path:
        if not isinstance(raw, str) or not raw or "\0" in raw:
            raise ValueError
        return Path(raw)

    return Kind(allowed="a path", read=read)


def _secret(meta: Meta) -> Kind:
    text = _text(meta)

    def read(raw: object) -> Secret:
        return Secret(str(text.read(raw)))

    return Kind(allowed=text.allowed, read=read, secret=True)


def _choice(options: type[StrEnum]) -> Kind:
    return Kind(
        allowed="one of " + ", ".join(options),
        read=lambda raw: options(str(raw).lower()),
    )


def _list(item: Kind) -> Kind:
    def read(raw: object) -> tuple[object, ...]:
        if isinstance(raw, str):
            raw = [word.strip() for word in raw.split(",") if word.strip()]
        if not isinstance(raw, list | tuple):
            raise ValueError
        return tuple(item.read(one) for one in raw)

    return Kind(allowed=f"a list, each {item.allowed}", read=read)


def _in_range(number: N, meta: Meta) -> N:
    too_small = (meta.ge is not None and number < meta.ge) or (
        meta.gt is not None and number <= meta.gt
    )
    if too_small or (meta.le is not None and number > meta.le):
        raise ValueError
    return number


def _range(meta: Meta) -> str:
    if meta.le is not None:
        return f" from {meta.ge} to {meta.le}"
    if meta.gt is not None:
        return f" above {meta.gt}"
    return f", {meta.ge} or more" if meta.ge is not None else ""
