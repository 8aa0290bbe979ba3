"""The OpenAPI document, made from the routes themselves."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from tenuto import __version__
from tenuto.api.endpoint import EVENTS, Endpoint
from tenuto.api.errors import STATUS, Problem
from tenuto.core.event import Event

OF_EVERY_CALL = ("unauthorized", "forbidden", "internal")
REF = "#/components/schemas/{name}"
MEANING = {
    "after": "The last `seq` seen, or `now` for a snapshot first.",
    "before": "Only messages before this one.",
    "days": "How many days, today included, 1 to 366; 30 if not given.",
    "format": "`markdown` (if not given) or `json`.",
    "limit": "How many rows, 1 to 200.",
    "cursor": "`next` of the page before.",
    "q": "Words to look for.",
    "archived": "`true` for archived sessions only.",
    "messages": "How many messages a snapshot may have, 1 to 1000.",
    "session": "`ID:CURSOR` of a session, any number of times; the cursor is as `after`.",
    "status": "Only runs with this status.",
    "workspace": "Only of this workspace.",
}


def document(endpoints: Sequence[Endpoint], *, cookie: str) -> dict[str, Any]:
    kinds = [k for e in endpoints for k in (e.takes, e.gives) if _has_schema(k)]
    unique = list({str(kind): kind for kind in [*kinds, Problem, Event]}.values())
    schemas, components = msgspec.json.schema_components(unique, ref_template=REF)
    by_kind = {str(kind): schema for kind, schema in zip(unique, schemas, strict=True)}
    components["Event"] = by_kind[str(Event)]
    paths: dict[str, dict[str, Any]] = {}
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


def _call(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    call: dict[str, Any] = {
        "operationId": f"{endpoint.handler.__module__.rsplit('.', 1)[-1]}_{endpoint.handler.__name__}",
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "parameters": _parameters(endpoint),
        "responses": _answers(endpoint, schemas),
    }
    if endpoint.takes is bytes:
        form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
        call["requestBody"] = {"content": {"multipart/form-data": {"schema": form}}}
    elif endpoint.takes is not None:
        content = {"application/json": {"schema": schemas[str(endpoint.takes)]}}
        call["requestBody"] = {"content": content}
    return call


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    text = {"type": "string"}
    found = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in re.findall(r"{(\w+)}", endpoint.path)
    ]
    found += [
        {"name": name, "in": "query", "schema": text, "description": _meaning(endpoint, name)}
        for name in endpoint.query
    ]
    if "after" in endpoint.query:
        found.append(
            {
                "name": "Last-Event-ID",
                "in": "header",
                "schema": text,
                "description": "As `after`; it wins over it.",
            }
        )
    if "idempotency_mismatch" in endpoint.codes:
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "schema": text,
                "description": "The same key and body give the first answer again, for a day.",
            }
        )
    return found


def _meaning(endpoint: Endpoint, name: str) -> str:
    many = endpoint.gives == EVENTS and name == "workspace"
    return "The same for workspaces." if many else MEANING[name]


def _answers(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done"}
    if endpoint.gives == EVENTS:
        good["content"] = {EVENTS: {"schema": {"type": "string"}}}
    elif endpoint.gives is str:
        good["content"] = {"text/plain": {"schema": {"type": "string"}}}
    elif endpoint.gives is bytes:
        good["content"] = {"application/octet-stream": {}}
    elif endpoint.gives is not None:
        good["content"] = {"application/json": {"schema": schemas[str(endpoint.gives)]}}
    answers: dict[str, Any] = {str(endpoint.status): good}
    if endpoint.path == "/api/sessions/{id}/runs" and endpoint.method == "POST":
        stream = {EVENTS: {"schema": {"type": "string"}}}
        answers["200"] = {"description": "The run's stream", "content": stream}
    codes = [*endpoint.codes, *OF_EVERY_CALL]
    if endpoint.takes is not None:
        codes += ["invalid_input", "payload_too_large"]
    if endpoint.query:
        codes.append("invalid_input")
    problem = {"application/problem+json": {"schema": schemas[str(Problem)]}}
    for status in sorted({STATUS[code] for code in codes}):
        named = ", ".join(sorted({code for code in codes if STATUS[code] == status}))
        answers[str(status)] = {"description": named, "content": problem}
    if endpoint.takes not in (None, bytes):
        unreadable = "invalid_input: the body is not JSON"
        answers["400"] = {"description": unreadable, "content": problem}
    return answers


def _has_schema(kind: Any) -> bool:
    return kind is not None and kind not in (bytes, str) and kind != EVENTS
