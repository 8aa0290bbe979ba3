"""Ollama's own wire: the only one on which the window that a model gets can be set."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.agent.attachments.fitting import FileLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import base64_of
from tenuto.agent.providers.wires.ollama_answer import OllamaAnswer
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.agent.providers.wires.wire import NOTHING, bearer
from tenuto.agent.providers.wires.wishes import effort_of, given, limit_of, schema_of
from tenuto.core.options import Effort
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    Model,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)

STEPPED = "gpt-oss"
"""The family that can be told how hard to think; others only think or do not."""


class OllamaWire:
    """Implements `Wire`."""

    name = "ollama"
    listing = "/api/tags"
    asking = "/api/chat"
    limits = FileLimits()
    least: Mapping[str, Any] = NOTHING

    def __init__(self, base_url: str) -> None:
        pass

    def root(self, base_url: str) -> str:
        return base_url.rstrip("/").removesuffix("/v1").removesuffix("/api")

    def headers(self, key: str) -> Mapping[str, str]:
        return bearer(key)

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        return given(
            model=request.model,
            messages=system + _messages(request.turns, Sealer(self.name, model)),
            stream=True,
            options=_options(request, model),
            think=_think(effort_of(request, model), model),
            format=_format(request),
            tools=[_tool(spec) for spec in request.tools] or None,
        )

    def answer(self, border: Border, model: Model) -> Reply:
        return OllamaAnswer(border, Sealer(self.name, model))


def _options(request: ModelRequest, model: Model) -> dict[str, Any]:
    options = request.options
    return given(
        # Left to itself, it gives a model a few thousand tokens and cuts off the rest unsaid.
        num_ctx=model.context_window,
        num_predict=limit_of(request, model),
        temperature=options.temperature,
        top_p=options.top_p,
        seed=options.seed,
        stop=list(options.stop) if options.stop else None,
    )


def _think(effort: Effort | None, model: Model) -> bool | str | None:
    if effort is None or (STEPPED in model.name and effort is Effort.NONE):
        return None
    if STEPPED in model.name:
        return str(min(effort, Effort.HIGH, key=tuple(Effort).index))
    return effort is not Effort.NONE


def _format(request: ModelRequest) -> Any:
    if named := schema_of(request):
        return named["schema"]
    wished = request.options.response_format or {}
    return "json" if wished.get("type") == "json_object" else None


def _messages(turns: Sequence[Turn], sealer: Sealer) -> list[dict[str, Any]]:
    asked = max((n for n, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=0)
    messages: list[dict[str, Any]] = []
    for n, turn in enumerate(turns):
        match turn:
            case UserTurn():
                messages.append(_user(turn))
            case AssistantTurn():
                messages.append(_assistant(turn, sealer if n > asked else None))
            case ToolTurn():
                messages.append(_result(turn))
    return messages


def _user(turn: UserTurn) -> dict[str, Any]:
    texts = [block.text for block in turn.blocks if isinstance(block, TextBlock)]
    images = [base64_of(block) for block in turn.blocks if isinstance(block, FileBlock)]
    return given(role="user", content="\n\n".join(texts), images=images or None)


def _result(turn: ToolTurn) -> dict[str, Any]:
    return given(
        role="tool",
        tool_name=turn.name,
        tool_call_id=turn.call_id,
        content=turn.output,
        images=[base64_of(image) for image in turn.images] or None,
    )


def _assistant(turn: AssistantTurn, sealer: Sealer | None) -> dict[str, Any]:
    """With its thoughts only while the answer is under way, and if they are the model's own."""
    own = (t.text for t in turn.thoughts if sealer is not None and sealer.opened(t.seal))
    return given(
        role="assistant",
        content=turn.text,
        thinking="".join(own) or None,
        tool_calls=[_call(call) for call in turn.calls] or None,
    )


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = msgspec.json.decode(call.arguments)
    return {"id": call.id, "function": {"name": call.name, "arguments": arguments}}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}
