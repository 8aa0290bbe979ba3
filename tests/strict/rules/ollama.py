"""What Ollama's own wire refuses."""

from collections.abc import Mapping
from typing import Any

from tests.strict.facts import Facts
from tests.strict.pictures import opened
from tests.strict.refusal import Body, Complaint, Judge, as_ollama, tokens_of
from tests.strict.rules.shape import NAME, schema_fault

ROLES = ("system", "user", "assistant", "tool")
WINDOW = 4096
"""What it takes if nobody says how much."""
GO = "json: cannot unmarshal"


def messages_are_texts(body: Body, _: Facts) -> str | None:
    for message in body.get("messages") or ():
        if message.get("role") not in ROLES:
            return f"invalid role: {message.get('role')}"
        if not isinstance(message.get("content", ""), str):
            return f"{GO} array into Go struct field ChatRequest.messages.content of type string"
    return None if body.get("messages") else "messages are required"


def arguments_are_objects(body: Body, _: Facts) -> str | None:
    for call in _calls(body):
        if not isinstance(call.get("arguments"), Mapping):
            field = "ChatRequest.messages.tool_calls.function.arguments"
            return f"{GO} string into Go struct field {field} of type api.ToolCallFunctionArguments"
        if not NAME.match(str(call.get("name", ""))):
            return f"invalid tool name: {call.get('name')}"
    return None


def results_have_calls(body: Body, _: Facts) -> str | None:
    """It does not look itself, but the model's template fails on a result that nobody asked for."""
    open_calls = 0
    for message in body["messages"]:
        if message["role"] == "tool":
            open_calls -= 1
            if open_calls < 0:
                return "template: execution error: a tool message without its call"
            continue
        if open_calls:
            return "template: execution error: a tool call without its result"
        open_calls = len(message.get("tool_calls") or ())
    return "template: execution error: a tool call without its result" if open_calls else None


def tools_fit_the_model(body: Body, facts: Facts) -> str | None:
    for tool in body.get("tools") or ():
        if not facts.calls:
            return f"registry.ollama.ai/library/{facts.name} does not support tools"
        function = tool.get("function") or {}
        if tool.get("type") != "function" or schema_fault(function.get("parameters")):
            return f"{GO} array into Go struct field .tools.function.parameters.properties"
    return None


def thinking_fits_the_model(body: Body, facts: Facts) -> str | None:
    if body.get("think") and not facts.thinks:
        return f'"{facts.name}" does not support thinking'
    if body.get("think") not in (None, True, False, "low", "medium", "high"):
        return f'invalid think value: "{body["think"]}" (must be "high", "medium", "low", true, or false)'
    return None


def images_can_be_seen(body: Body, facts: Facts) -> str | None:
    for message in body["messages"]:
        for image in message.get("images") or ():
            if not isinstance(image, str) or opened(image) is None:
                return "illegal base64 data at input byte 4"
            if not facts.sees:
                return "this model is missing data required for image input"
    return None


def the_window_holds_it(body: Body, _: Facts) -> Complaint | None:
    # It cuts off the oldest messages without a word; that must never happen to us.
    window = (body.get("options") or {}).get("num_ctx", WINDOW)
    if tokens_of(body["messages"], body.get("tools")) > window:
        return Complaint("the input length exceeds the context length")
    return None


def _calls(body: Body) -> list[Mapping[str, Any]]:
    return [
        call.get("function") or {}
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    ]


RULES = (
    messages_are_texts,
    arguments_are_objects,
    results_have_calls,
    tools_fit_the_model,
    thinking_fits_the_model,
    images_can_be_seen,
    the_window_holds_it,
)
ollama = Judge(RULES, as_ollama)
