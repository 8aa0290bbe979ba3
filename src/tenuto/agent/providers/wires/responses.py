"""The OpenAI Responses wire, stateless: nothing is stored there, all is told anew."""

from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import as_text, base64_of, is_image
from tenuto.agent.providers.wires.responses_answer import ResponsesAnswer
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.agent.providers.wires.wire import bearer
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


class ResponsesWire:
    """Implements `Wire`."""

    name = "responses"
    listing = "/models"
    asking = "/responses"

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
        if "reasoning" in model.capabilities:
            body["include"] = [ENCRYPTED]
            body["reasoning"] = {"summary": "auto"}
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if request.max_tokens is not None:
            body["max_output_tokens"] = request.max_tokens
        return body

    def answer(self, border: Border, model: Model) -> Reply:
        return ResponsesAnswer(border, Sealer(self.name, model))


def _items(turns: Sequence[Turn], model: Model) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for turn in turns:
        match turn:
            case UserTurn():
                content = [_user_block(block, model) for block in turn.blocks]
                items.append({"type": "message", "role": "user", "content": content})
            case AssistantTurn():
                items += _assistant(turn, model)
            case ToolTurn():
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": turn.call_id,
                        "output": turn.output,
                    }
                )
    return items


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


def _user_block(block: TextBlock | FileBlock, model: Model) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "input_text", "text": block.text}
    if is_image(block) and "vision" in model.capabilities:
        url = f"data:{block.media_type};base64,{base64_of(block)}"
        return {"type": "input_image", "image_url": url}
    return {"type": "input_text", "text": as_text(block)}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        # Strict schemas must name every field as required; ours have fields that may be left out.
        "strict": False,
    }
