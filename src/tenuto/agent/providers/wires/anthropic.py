"""Providers that speak the Anthropic messages wire."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from tenuto.agent.providers.catalogue.description import Describer
from tenuto.agent.providers.catalogue.setting import ModelSetting, ProviderLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Exchange
from tenuto.agent.providers.wires.anthropic_answer import AnthropicAnswer
from tenuto.agent.providers.wires.attachment import as_text, base64_of, is_image
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    Model,
    ModelRequest,
    Piece,
    TextBlock,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)

VERSION = "2023-06-01"
WINDOW = 200_000
DEFAULT_MAX_TOKENS = 8192
"""The wire demands a limit; every current model allows this one."""


class AnthropicProvider:
    """Asks one server on the Anthropic wire."""

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str = "",
        *,
        limits: ProviderLimits | None = None,
        models: Sequence[ModelSetting] = (),
    ) -> None:
        self.name = name
        self.describer = Describer(
            name, settings=models, window=WINDOW, capabilities=("tools", "vision")
        )
        self._border = Border(name, secret=api_key)
        headers = {"anthropic-version": VERSION}
        if api_key:
            headers["x-api-key"] = api_key
        root = base_url.rstrip("/").removesuffix("/v1")
        self._wire = Exchange(
            root, headers=headers, limits=limits or ProviderLimits(), border=self._border
        )
        self._known: dict[str, Model] = {}

    async def models(self) -> Sequence[Model]:
        models = self.describer.listed(await self._wire.get("/v1/models?limit=1000"))
        self._known = {model.name: model for model in models}
        return models

    def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Piece], None]:
        model = self._known.get(request.model) or self.describer.model(request.model)
        body = _body(request, model)
        return self._wire.stream("/v1/messages", body, AnthropicAnswer(self._border))

    async def close(self) -> None:
        await self._wire.close()


def _body(request: ModelRequest, model: Model) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request.turns, model),
        "max_tokens": request.max_tokens or DEFAULT_MAX_TOKENS,
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    return body


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
            blocks = [_user_block(block, model) for block in turn.blocks]
            return [block for block in blocks if block.get("text") != ""]
        case AssistantTurn():
            # The wire refuses text that is empty or ends in white space.
            said = [_text(turn.text.rstrip())] if turn.text.strip() else []
            return said + [
                {
                    "type": "tool_use",
                    "id": call.id,
                    "name": call.name,
                    "input": msgspec.json.decode(call.arguments),
                }
                for call in turn.calls
            ]
        case ToolTurn():
            result = {
                "type": "tool_result",
                "tool_use_id": turn.call_id,
                "content": turn.output,
                "is_error": turn.failed,
            }
            return [result]
    raise TypeError(f"no such turn: {turn!r}")


def _user_block(block: TextBlock | FileBlock, model: Model) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return _text(block.text)
    if is_image(block) and "vision" in model.capabilities:
        source = {"type": "base64", "media_type": block.media_type, "data": base64_of(block)}
        return {"type": "image", "source": source}
    return _text(as_text(block))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.parameters,
    }
