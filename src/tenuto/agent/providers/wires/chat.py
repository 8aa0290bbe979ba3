"""The OpenAI chat-completions wire, which nearly all speak."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import as_text, base64_of, is_image
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.wire import bearer
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    Model,
    ModelRequest,
    TextBlock,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)


class ChatWire:
    """Implements `Wire`."""

    listing = "/models"
    asking = "/chat/completions"

    def __init__(self, base_url: str) -> None:
        # The hosted original has a new name for the limit, and its newer models refuse the old.
        host = urlsplit(base_url).hostname or ""
        modern = host.endswith(".openai.com")
        self._limit_field = "max_completion_tokens" if modern else "max_tokens"

    def root(self, base_url: str) -> str:
        return base_url

    def headers(self, key: str) -> Mapping[str, str]:
        return bearer(key)

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": request.model,
            "messages": system + [_message(turn, model) for turn in request.turns],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if request.max_tokens is not None:
            body[self._limit_field] = request.max_tokens
        return body

    def answer(self, border: Border) -> Reply:
        return ChatAnswer(border)


def _message(turn: Turn, model: Model) -> dict[str, Any]:
    match turn:
        case UserTurn():
            return {"role": "user", "content": _content(turn, model)}
        case AssistantTurn():
            return _assistant(turn)
        case ToolTurn():
            return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.output}
    raise TypeError(f"no such turn: {turn!r}")


def _content(turn: UserTurn, model: Model) -> str | list[dict[str, Any]]:
    blocks = [_block(block, model) for block in turn.blocks]
    if any(block["type"] != "text" for block in blocks):
        return blocks
    # Plain text as a plain string: some local servers take nothing else.
    return "\n\n".join(block["text"] for block in blocks)


def _block(block: TextBlock | FileBlock, model: Model) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if is_image(block) and "vision" in model.capabilities:
        url = f"data:{block.media_type};base64,{base64_of(block)}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": as_text(block)}


def _assistant(turn: AssistantTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["content"] = turn.text or None
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.calls
        ]
    return message


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}
