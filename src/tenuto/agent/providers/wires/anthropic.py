"""The Anthropic messages wire."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tenuto.agent.attachments.fitting import FileLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.anthropic_answer import AnthropicAnswer
from tenuto.agent.providers.wires.anthropic_wishes import LEAST_MAX_TOKENS, wishes
from tenuto.agent.providers.wires.attachment import base64_of, is_image
from tenuto.agent.providers.wires.caching import mark_turns, marked
from tenuto.agent.providers.wires.seals import Sealer
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

VERSION = "2023-06-01"


class AnthropicWire:
    """Implements `Wire`."""

    name = "anthropic"
    listing = "/v1/models?limit=1000"
    asking = "/v1/messages"
    limits = FileLimits(
        image_bytes=3_900_000, image_pixels=8000, total_bytes=20_000_000, documents=True
    )
    least: Mapping[str, Any] = {"max_tokens": LEAST_MAX_TOKENS}

    def __init__(self, base_url: str) -> None:
        pass

    def root(self, base_url: str) -> str:
        return base_url.rstrip("/").removesuffix("/v1")

    def headers(self, key: str) -> Mapping[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        return _body(request, model)

    def answer(self, border: Border, model: Model) -> Reply:
        return AnthropicAnswer(border, Sealer(self.name, model))


def _body(request: ModelRequest, model: Model) -> dict[str, Any]:
    messages = _messages(request.turns, model)
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        "stream": True,
        **wishes(request, model, messages),
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    if request.cache_key:
        _mark(body)
    return body


def _mark(body: dict[str, Any]) -> None:
    """In the order in which the wire reads them: tools, system, messages."""
    if "tools" in body:
        body["tools"][-1] = marked(body["tools"][-1])
    if "system" in body:
        body["system"] = [marked(_text(body["system"]))]
    mark_turns(body["messages"])


def _messages(turns: Sequence[Turn], model: Model) -> list[dict[str, Any]]:
    """User and assistant in turn, as the wire demands: neighbours are merged."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        role = "assistant" if isinstance(turn, AssistantTurn) else "user"
        blocks = _blocks(turn, model)
        if not blocks:
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_text("Go on.")]})
    return messages


def _blocks(turn: Turn, model: Model) -> list[dict[str, Any]]:
    match turn:
        case UserTurn():
            blocks = [_user_block(block) for block in turn.blocks]
            return [block for block in blocks if block.get("text") != ""]
        case AssistantTurn():
            made = (_assistant_block(block, model) for block in turn.blocks)
            said = [block for block in made if block is not None]
            # A thought that nothing came of is refused: what it led to was cut off.
            while said and said[-1]["type"] in ("thinking", "redacted_thinking"):
                said.pop()
            return said
        case ToolTurn():
            result = {
                "type": "tool_result",
                "tool_use_id": turn.call_id,
                "content": _given(turn),
                "is_error": turn.failed,
            }
            return [result]
    raise TypeError(f"no such turn: {turn!r}")


def _given(turn: ToolTurn) -> str | list[dict[str, Any]]:
    if not turn.images:
        return turn.output
    # Text that is empty is refused.
    said = [_text(turn.output)] if turn.output.strip() else []
    return [*said, *(_user_block(image) for image in turn.images)]


def _assistant_block(block: TextBlock | Thought | ToolCall, model: Model) -> dict[str, Any] | None:
    """None for what the wire would refuse, or what is not its own."""
    match block:
        case TextBlock():
            # Text that is empty or ends in white space is refused.
            return _text(block.text.rstrip()) if block.text.strip() else None
        case Thought():
            return _thought(block, model)
        case ToolCall():
            return {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": msgspec.json.decode(block.arguments),
            }


def _thought(thought: Thought, model: Model) -> dict[str, Any] | None:
    match Sealer(AnthropicWire.name, model).opened(thought.seal):
        case {"signature": signature}:
            return {"type": "thinking", "thinking": thought.text, "signature": signature}
        case {"redacted": data}:
            return {"type": "redacted_thinking", "data": data}
        case _:
            return None


def _user_block(block: TextBlock | FileBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return _text(block.text)
    source = {"type": "base64", "media_type": block.media_type, "data": base64_of(block)}
    if is_image(block):
        return {"type": "image", "source": source}
    return {"type": "document", "title": block.name, "source": source}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }
