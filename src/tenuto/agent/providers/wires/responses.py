"""The OpenAI Responses wire, stateless: nothing is stored there, all is told anew."""

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.agent.attachments.fitting import FileLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import data_url, is_image
from tenuto.agent.providers.wires.responses_answer import ResponsesAnswer
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
    Thought,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)

ENCRYPTED = "reasoning.encrypted_content"
MOST = "xhigh"
"""What the hardest thinking is called."""

LEAST_OUTPUT = 16
"""A lower limit is refused."""


class ResponsesWire:
    """Implements `Wire`."""

    name = "responses"
    listing = "/models"
    asking = "/responses"
    limits = FileLimits(documents=True)
    least: Mapping[str, Any] = NOTHING

    def __init__(self, base_url: str) -> None:
        pass

    def root(self, base_url: str) -> str:
        return base_url

    def headers(self, key: str) -> Mapping[str, str]:
        return bearer(key)

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "input": _items(request.turns, model),
            "stream": True,
            "store": False,
        }
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        return body | _wishes(request, model)

    def answer(self, border: Border, model: Model) -> Reply:
        return ResponsesAnswer(border, Sealer(self.name, model))


def _wishes(request: ModelRequest, model: Model) -> dict[str, Any]:
    """There is no field for where to stop, and none for a seed."""
    options, shape = request.options, _shape(request)
    thinks = "reasoning" in model.capabilities
    effort, limit = effort_of(request, model), limit_of(request, model)
    word = MOST if effort is Effort.MAX else effort
    return given(
        max_output_tokens=max(limit, LEAST_OUTPUT) if limit else None,
        temperature=options.temperature,
        top_p=options.top_p,
        metadata=options.metadata,
        prompt_cache_key=request.cache_key[:64] or None,
        text={"format": shape} if shape else None,
        include=[ENCRYPTED] if thinks else None,
        reasoning=given(effort=word, summary="auto") if thinks else None,
    )


def _shape(request: ModelRequest) -> dict[str, Any] | None:
    """The form of the answer: here a schema stands beside its name."""
    if named := schema_of(request):
        return {"name": "answer", **named, "type": "json_schema"}
    return request.options.response_format


def _items(turns: Sequence[Turn], model: Model) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for turn in turns:
        match turn:
            case UserTurn():
                content = [_user_block(block) for block in turn.blocks]
                items.append({"type": "message", "role": "user", "content": content})
            case AssistantTurn():
                items += _assistant(turn, model)
            case ToolTurn():
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": turn.call_id,
                        "output": _given(turn),
                    }
                )
    return items


def _given(turn: ToolTurn) -> str | list[dict[str, Any]]:
    if not turn.images:
        return turn.output
    said: list[TextBlock | FileBlock] = [TextBlock(text=turn.output), *turn.images]
    return [_user_block(block) for block in said]


def _assistant(turn: AssistantTurn, model: Model) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for block in turn.blocks:
        match block:
            case TextBlock():
                said = [{"type": "output_text", "text": block.text}]
                items.append({"type": "message", "role": "assistant", "content": said})
            case Thought():
                items += _thought(block, model)
            case ToolCall():
                items.append(
                    {
                        "type": "function_call",
                        "call_id": block.id,
                        "name": block.name,
                        "arguments": block.arguments,
                    }
                )
    # A thought that nothing came of is refused: what it led to was cut off.
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    return items


def _thought(thought: Thought, model: Model) -> list[dict[str, Any]]:
    match Sealer(ResponsesWire.name, model).opened(thought.seal):
        case {"encrypted_content": str() as content, **rest}:
            said = [{"type": "summary_text", "text": thought.text}] if thought.text else []
            known = {"id": rest["id"]} if isinstance(rest.get("id"), str) else {}
            return [{"type": "reasoning", **known, "summary": said, "encrypted_content": content}]
        case _:
            return []


def _user_block(block: TextBlock | FileBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "input_text", "text": block.text}
    if is_image(block):
        return {"type": "input_image", "image_url": data_url(block)}
    return {"type": "input_file", "filename": block.name, "file_data": data_url(block)}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        # Strict schemas must name every field as required; ours have fields that may be left out.
        "strict": False,
    }
