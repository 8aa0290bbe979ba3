"""Checks answers against the server's own OpenAPI document: as much of JSON schema as it uses."""

import re
from typing import Any

KINDS: dict[str, Any] = {
    "string": str,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
KNOWN = {
    "$ref",
    "type",
    "title",
    "description",
    "default",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "anyOf",
    "discriminator",
    "enum",
    "const",
    "format",
}


class Document:
    def __init__(self, document: dict[str, Any]) -> None:
        self._schemas = document["components"]["schemas"]
        self._paths = {
            re.compile(re.sub(r"{\w+}", "[^/]+", path)): calls
            for path, calls in document["paths"].items()
        }

    def check(self, method: str, path: str, status: int, body: Any) -> None:
        """The document knows this call, this status and this body."""
        calls = [c for found, c in self._paths.items() if found.fullmatch(path.split("?")[0])]
        if not calls or method.lower() not in calls[0]:
            assert status in (401, 403, 404, 405), f"{method} {path} is not in the document"
            return
        answers = calls[0][method.lower()]["responses"]
        assert str(status) in answers, f"{method} {path}: {status} is not in the document"
        content = answers[str(status)].get("content", {})
        for kind in ("application/json", "application/problem+json"):
            # Where there are others too, an answer without JSON is one of those.
            if kind in content and (body is not None or len(content) == 1):
                self.match(body, content[kind]["schema"], f"{method} {path}")

    def match(self, value: Any, schema: dict[str, Any], where: str) -> None:
        assert schema.keys() <= KNOWN, f"this check does not know all of {schema}"
        if "$ref" in schema:
            self.match(value, self._schemas[schema["$ref"].rsplit("/", 1)[-1]], where)
        if "anyOf" in schema:
            self._match_any(value, schema, where)
        if "enum" in schema:
            assert value in schema["enum"], f"{where}: {value!r} is none of {schema['enum']}"
        if "const" in schema:
            assert value == schema["const"], f"{where}: {value!r} is not {schema['const']!r}"
        if "type" in schema:
            assert _is(value, schema["type"]), f"{where}: {value!r} is no {schema['type']}"
        if isinstance(value, dict):
            self._match_object(value, schema, where)
        if isinstance(value, list) and "prefixItems" in schema:
            for item, inner in zip(value, schema["prefixItems"], strict=True):
                self.match(item, inner, f"{where}[]")
        elif isinstance(value, list) and "items" in schema:
            for item in value:
                self.match(item, schema["items"], f"{where}[]")

    def _match_object(self, value: dict[str, Any], schema: dict[str, Any], where: str) -> None:
        properties = schema.get("properties", {})
        assert value.keys() >= set(schema.get("required", ())), f"{where}: {value}"
        if schema.get("type") == "object" and properties:
            assert value.keys() <= properties.keys(), f"{where}: {value.keys()}"
        for name, inner in properties.items():
            if name in value:
                self.match(value[name], inner, f"{where}.{name}")

    def _match_any(self, value: Any, schema: dict[str, Any], where: str) -> None:
        wrong = []
        for choice in schema["anyOf"]:
            try:
                self.match(value, choice, where)
                return
            except AssertionError as error:
                wrong.append(str(error))
        raise AssertionError(f"{where}: {wrong}")


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, int | float if kind == "number" else int) and value is not True
    found: bool = isinstance(value, KINDS[kind])
    return found
