"""Writes web/src/wire/server.ts from the server's OpenAPI document: `make docs`."""

import functools
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tenuto.api import routes
from tenuto.api.openapi import document
from tenuto.core.value import Value

MODULE = Path(__file__).parents[1] / "web" / "src" / "wire" / "server.ts"
HEAD = """\
/** What the server takes and says, written from its OpenAPI document by `make docs`. */
"""
WIDTH = 100
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}

Json = dict[str, Any]


def module() -> str:
    """Every type that is on the wire."""
    schemas = document(routes.ALL, cookie="")["components"]["schemas"]
    types = ["".join(_declared(name, schemas[name])) for name in sorted(schemas)]
    return "\n".join([HEAD, *types])


def _declared(name: str, schema: Json) -> Iterator[str]:
    if "description" in schema:
        yield f"/** {schema['description'].splitlines()[0]} */\n"
    if "properties" not in schema:
        yield from _alias(name, schema)
        return
    yield f"export interface {name} {{\n"
    for field, of in schema["properties"].items():
        sign = (
            "?" if field not in schema["required"] and _may_be_missing(name, field, schema) else ""
        )
        yield f"  {field}{sign}: {_type(of)};\n"
    yield "}\n"


def _alias(name: str, schema: Json) -> Iterator[str]:
    line = f"export type {name} = {_type(schema)};\n"
    if len(line) <= WIDTH + 1:
        yield line
        return
    yield f"export type {name} =\n"
    yield "".join(f"  | {one}\n" for one in _type(schema).split(" | ")).rstrip("\n") + ";\n"


def _may_be_missing(name: str, field: str, schema: Json) -> bool:
    """In a request, whatever is not required; in an answer what is left out where it says nothing."""
    is_request = schema.get("additionalProperties") is False
    return is_request or (name, field) in _left_out()


@functools.cache
def _left_out() -> frozenset[tuple[str, str]]:
    """Types and their fields that are not on the wire unless they say something."""
    return frozenset(
        (kind.__name__, field.encode_name)
        for kind in _kinds_of(Value)
        for field in msgspec.structs.fields(kind)
        if field.default is msgspec.UNSET
    )


def _kinds_of(kind: type[Value]) -> Iterator[type[Value]]:
    for one in kind.__subclasses__():
        yield one
        yield from _kinds_of(one)


def _type(schema: Json) -> str:
    match schema:
        case {"$ref": str(ref)}:
            return ref.rpartition("/")[2]
        case {"enum": [*values]}:
            return " | ".join(json.dumps(value) for value in values)
        case {"anyOf": [*kinds]}:
            return " | ".join(_type(kind) for kind in kinds)
        case {"type": "null"}:
            return "null"
        case {"type": "array", "prefixItems": [*items]}:
            return f"[{', '.join(_type(item) for item in items)}]"
        case {"type": "array", "items": dict(item)}:
            return f"{inner}[]" if "|" not in (inner := _type(item)) else f"({inner})[]"
        case {"type": "object", "additionalProperties": dict(value)}:
            return f"Record<string, {_type(value)}>"
        case {"type": str(kind)} if kind in PLAIN:
            return PLAIN[kind]
        case {"default": None}:
            return "Record<string, unknown> | null"
        case {}:
            # What a tool is given is an object of the tool's own making.
            return "Record<string, unknown>"
    raise ValueError(f"no type for {schema}")


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
    # msgspec's schemas can crash the interpreter's last collection; what is frozen is left out of it.
    gc.freeze()
