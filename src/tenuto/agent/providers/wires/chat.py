"""The OpenAI chat-completions wire, which nearly all speak."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import as_text, base64_of, is_image
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.agent.providers.wires.wire import bearer
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

GOOGLE = "generativelanguage.googleapis.com"
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Google takes in place of a signature that another model could not give."""
MISTRAL = "mistral.ai"


class ChatWire:
    """Implements `Wire`."""

    name = "chat"
    listing = "/models"
    asking = "/chat/completions"

    def __init__(self, base_url: str) -> None:
        self._host = urlsplit(base_url).hostname or ""
        # The hosted original has a new name for the limit, and its newer models refuse the old.
        modern = self._host.endswith(".openai.com")
        self._limit_field = "max_completion_tokens" if modern else "max_tokens"

    def root(self, base_url: str) -> str:
        return base_url

    def headers(self, key: str) -> Mapping[str, str]:
        return bearer(key)

    def body(self, request: ModelRequest, model: Model) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": request.model,
            "messages": system + self._messages(request.turns, model),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if request.max_tokens is not None:
            body[self._limit_field] = request.max_tokens
        return body

    def answer(self, border: Border, model: Model) -> Reply:
        return ChatAnswer(border, Sealer(self.name, model))

    def _messages(self, turns: Sequence[Turn], model: Model) -> list[dict[str, Any]]:
        sealer = Sealer(self.name, model)
        asked = max((n for n, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=0)
        messages: list[dict[str, Any]] = []
        for n, turn in enumerate(turns):
            match turn:
                case UserTurn():
                    if messages and messages[-1]["role"] == "tool" and self._is(MISTRAL):
                        # Here a user may not speak right after a tool.
                        messages.append({"role": "assistant", "content": "…"})
                    messages.append({"role": "user", "content": _content(turn, model)})
                case AssistantTurn():
                    messages.append(self._assistant(turn, sealer, under_way=n > asked))
                case ToolTurn():
                    messages.append(
                        {"role": "tool", "tool_call_id": turn.call_id, "content": turn.output}
                    )
        return messages

    def _assistant(self, turn: AssistantTurn, sealer: Sealer, *, under_way: bool) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.calls:
            message["content"] = turn.text or None
            message["tool_calls"] = [
                self._call(call, sealer, first=n == 0) for n, call in enumerate(turn.calls)
            ]
        return message | _thoughts(turn, sealer, under_way=under_way)

    def _call(self, call: ToolCall, sealer: Sealer, *, first: bool) -> dict[str, Any]:
        said: dict[str, Any] = {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        extra = (sealer.opened(call.seal) or {}).get("extra")
        if extra is None and first and self._is(GOOGLE):
            extra = UNSIGNED
        return said if extra is None else {**said, "extra_content": extra}

    def _is(self, host: str) -> bool:
        return self._host == host or self._host.endswith(f".{host}")


def _thoughts(turn: AssistantTurn, sealer: Sealer, *, under_way: bool) -> dict[str, Any]:
    """What this model thought, in the field that it said it in.

    Plain thoughts are given back only while the answer is under way: afterwards some servers
    refuse them, and none wants them.
    """
    plain: dict[str, str] = {}
    details: list[Any] = []
    for thought in turn.thoughts:
        match sealer.opened(thought.seal):
            case {"details": list() as given}:
                details += given
            case {"field": str() as field} if under_way and turn.calls:
                plain[field] = plain.get(field, "") + thought.text
    return {**plain, **({"reasoning_details": details} if details else {})}


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


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}
