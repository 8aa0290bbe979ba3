"""What we add to schemathesis: a check of our own, and that nothing leaves this machine."""

import os
from typing import Any, TypeAlias

import schemathesis

Case: TypeAlias = schemathesis.Case[Any]

OF_SHAPE = ("Expected ", "Object ", "Invalid ")
"""How the server's sentences begin when a body or a parameter does not have the right shape."""
MODEL = "openai/test-model"
MODEL_URL = os.environ["TENUTO_TEST_MODEL_URL"]


@schemathesis.check
def schema_and_server_agree(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: Case
) -> None:
    """The schema allows no shape that the server refuses for its shape."""
    if (
        response.status_code != 422
        or case.meta is None
        or not case.meta.generation.mode.is_positive
    ):
        return
    detail = response.json()["detail"]
    name, _, rest = detail.partition(": ")
    said = rest if name.isidentifier() else detail
    if said.startswith("Expected `int") and "got `float`" in said:
        # To a schema 1.0 is an integer; JSON as people write it tells the two apart, and so do we.
        return
    assert not said.startswith(OF_SHAPE), f"allowed by the schema, and refused: {detail}"


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: Case, kwargs: dict[str, object]) -> None:
    """What no schema can know: the model and the folder that are there, and a provider to ask."""
    if not isinstance(case.body, dict):
        return
    body: dict[str, Any] = dict(case.body)
    # Without an address, or with any that is right, a provider could be anywhere in the world.
    if case.path.startswith("/api/providers") and _is_address(body.get("base_url")):
        body["base_url"] = MODEL_URL
    if case.path.startswith("/api/mcp") and body.get("url") and _is_address(body["url"]):
        body["url"] = MODEL_URL
    if case.meta is not None and case.meta.generation.mode.is_positive:
        known: dict[str, object] = {"model": MODEL, "default_model": MODEL, "path": os.getcwd()}
        body |= {key: value for key, value in known.items() if isinstance(body.get(key), str)}
        if case.path == "/api/comparisons":
            body["models"] = [MODEL] * len(body["models"])
    if body != case.body:
        case.body = body


def _is_address(given: object) -> bool:
    return given is None or (isinstance(given, str) and given.lower().startswith("http"))
