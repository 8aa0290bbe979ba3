"""The OpenAPI document, made from the routes themselves."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto import __version__
from tenuto.api.call import LONGEST_KEY
from tenuto.api.endpoint import EVENTS, Access, Endpoint, Streams
from tenuto.api.errors import RETRY_AFTER, STATUS, Problem
from tenuto.api.form import MULTIPART
from tenuto.core.event import Event

OF_EVERY_CALL = ("forbidden", "internal")
OF_A_KNOWN_CALLER = ("unauthorized", "rate_limited", "storage_unavailable")
REF = "#/components/schemas/{name}"
UPLOAD = {
    "type": "object",
    "properties": {"file": {"type": "string", "format": "binary"}},
    "required": ["file"],
    "additionalProperties": False,
}
UNREADABLE = {
    "400": "invalid_input: this is not HTTP, or the body is not JSON",
    "431": "invalid_input: the head is too large",
}
IN_PATHS = {
    "id": {"type": "string", "minLength": 1},
    "name": {"type": "string", "pattern": "^[a-z0-9_-]{1,32}$"},
    "tool": {"type": "string", "minLength": 1},
    "call_id": {"type": "string", "minLength": 1},
}
PROBLEM = "application/problem+json"

Json = dict[str, Any]


def document(endpoints: Sequence[Endpoint], *, cookie: str) -> Json:
    kinds = [k for e in endpoints for k in (e.takes, e.gives) if k not in (None, bytes)]
    unique = list({str(kind): kind for kind in [*kinds, Problem, Event]}.values())
    schemas, components = msgspec.json.schema_components(unique, ref_template=REF)
    by_kind = {str(kind): schema for kind, schema in zip(unique, schemas, strict=True)}
    components["Event"] = by_kind[str(Event)]
    paths: dict[str, Json] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _call(endpoint, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tenuto",
            "version": __version__,
            "description": "Runs that cannot be lost. Events: `#/components/schemas/Event`.",
        },
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": cookie},
            },
        },
    }


def _call(endpoint: Endpoint, schemas: Json) -> Json:
    call: Json = {
        "operationId": f"{endpoint.handler.__module__.rsplit('.', 1)[-1]}_{endpoint.handler.__name__}",
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "parameters": _parameters(endpoint),
        "responses": _good(endpoint, schemas) | _bad(endpoint, schemas),
    }
    if endpoint.access is Access.ANYONE:
        call["security"] = []
    if endpoint.takes is bytes:
        call["requestBody"] = {"required": True, "content": {MULTIPART: {"schema": UPLOAD}}}
    elif endpoint.takes is not None:
        call["requestBody"] = {
            "required": any(field.required for field in msgspec.structs.fields(endpoint.takes)),
            "content": {"application/json": {"schema": schemas[str(endpoint.takes)]}},
        }
    return call


def _parameters(endpoint: Endpoint) -> list[Json]:
    names = re.findall(r"{(\w+)}", endpoint.path)
    found: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": IN_PATHS[name]} for name in names
    ]
    found += [parameter.described() for parameter in endpoint.query]
    if any(parameter.name == "after" for parameter in endpoint.query):
        meaning = "As `after`; it wins over it."
        found.append(_header("Last-Event-ID", {"type": "string"}, meaning))
    if _is_keyed(endpoint):
        meaning = "The same key and body give the first answer again, for a day."
        schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}
        found.append(_header("Idempotency-Key", schema, meaning))
    return found


def _header(name: str, schema: Json, meaning: str) -> Json:
    return {"name": name, "in": "header", "schema": schema, "description": meaning}


def _good(endpoint: Endpoint, schemas: Json) -> Json:
    stream = {"description": "A stream of events", "content": {EVENTS: {}}}
    if endpoint.streams is Streams.ALWAYS:
        return {"200": stream}
    good: Json = {"description": "Done"}
    content: Json = {media: {} for media in endpoint.media}
    if endpoint.gives not in (None, bytes):
        content["application/json"] = {"schema": schemas[str(endpoint.gives)]}
    if content:
        good["content"] = content
    if endpoint.located:
        good["headers"] = {"Location": {"schema": {"type": "string"}, "required": True}}
        stream["headers"] = good["headers"]
    answers = {str(endpoint.status): good}
    return answers if endpoint.streams is Streams.NEVER else {**answers, "200": stream}


def _bad(endpoint: Endpoint, schemas: Json) -> Json:
    content = {PROBLEM: {"schema": schemas[str(Problem)]}}
    codes = _codes(endpoint)
    answers: Json = {
        status: {"description": why, "content": content} for status, why in UNREADABLE.items()
    }
    for status in sorted({STATUS[code] for code in codes}):
        named = sorted(code for code in codes if STATUS[code] == status)
        answers[str(status)] = {"description": ", ".join(named), "content": content}
        if any(code in RETRY_AFTER for code in named):
            wait = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
            answers[str(status)]["headers"] = {"Retry-After": wait}
    return answers


def _codes(endpoint: Endpoint) -> set[str]:
    """All that can go wrong with this call."""
    codes = {*endpoint.codes, *OF_EVERY_CALL}
    if endpoint.access is Access.TOKEN:
        codes |= set(OF_A_KNOWN_CALLER)
    if "{" in endpoint.path:
        codes.add("not_found")
    if endpoint.query or endpoint.takes is not None or _is_keyed(endpoint):
        codes.add("invalid_input")
    if endpoint.takes is not None or _is_keyed(endpoint):
        codes.add("payload_too_large")
    return codes


def _is_keyed(endpoint: Endpoint) -> bool:
    return "idempotency_mismatch" in endpoint.codes
