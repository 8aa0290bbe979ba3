"""The OpenAI chat-completions wire, which nearly all speak."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tenuto.agent.attachments.fitting import FileLimits
from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.connection.exchange import Reply
from tenuto.agent.providers.wires.attachment import data_url, is_image
from tenuto.agent.providers.wires.caching import mark_chat
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.chat_wishes import MISTRAL, OPENROUTER, wishes
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.agent.providers.wires.wire import NOTHING, bearer
from tenuto.agent.providers.wires.wishes import host_of, is_of, limit_of
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
TOLD_THOUGHTS = ("deepseek.com", "moonshot.ai", "moonshot.cn", "kimi.com")
"""Where every answer must come with what was thought, also the answers of other models."""
NO_THOUGHTS = " "
"""Nothing is refused there, and so is an empty text."""
_MISTRALS = re.compile(r"(mi|mini|magi|dev|code)stral|mixtral|pixtral", re.IGNORECASE)
"""Models whose template lets no user speak right after a tool, wherever they run."""


class ChatWire:
    """Implements `Wire`."""

    name = "chat"
    listing = "/models"
    asking = "/chat/completions"
    least: Mapping[str, Any] = NOTHING

    def __init__(self, base_url: str) -> None:
        self._host = host_of(base_url)
        self._told = is_of(self._host, *TOLD_THOUGHTS)
        self._google = is_of(self._host, GOOGLE)
        self.limits = FileLimits(documents=is_of(self._host, "openai.com", OPENROUTER))
        # The hosted original has a new name for the limit, and its newer models refuse the old.
        modern = is_of(self._host, "openai.com")
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
        if request.cache_key and is_of(self._host, OPENROUTER) and "claude" in request.model:
            mark_chat(body["messages"])
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if (limit := limit_of(request, model)) is not None:
            body[self._limit_field] = limit
        return body | wishes(request, model, self._host)

    def answer(self, border: Border, model: Model) -> Reply:
        return ChatAnswer(border, Sealer(self.name, model))

    def _messages(self, turns: Sequence[Turn], model: Model) -> list[dict[str, Any]]:
        sealer = Sealer(self.name, model)
        asked = max((n for n, turn in enumerate(turns) if isinstance(turn, UserTurn)), default=0)
        orderly = is_of(self._host, MISTRAL) or _MISTRALS.search(model.name)
        messages: list[dict[str, Any]] = []
        # A tool's message holds no images: they follow it, as if the user had shown them.
        shown: list[TextBlock | FileBlock] = []

        def say(*blocks: TextBlock | FileBlock) -> None:
            if messages and messages[-1]["role"] == "tool" and orderly:
                messages.append({"role": "assistant", "content": "…"})
            messages.append({"role": "user", "content": _content(blocks)})

        for n, turn in enumerate(turns):
            match turn:
                case UserTurn():
                    say(*shown, *turn.blocks)
                    shown.clear()
                case AssistantTurn():
                    if shown:
                        say(*shown)
                        shown.clear()
                    messages.append(self._assistant(turn, sealer, under_way=n > asked))
                case ToolTurn():
                    messages.append(
                        {"role": "tool", "tool_call_id": turn.call_id, "content": turn.output}
                    )
                    shown += _shown(turn)
        if shown:
            say(*shown)
        return messages

    def _assistant(self, turn: AssistantTurn, sealer: Sealer, *, under_way: bool) -> dict[str, Any]:
        text, calls = turn.text, turn.calls
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["content"] = text or None
            message["tool_calls"] = [
                self._call(call, sealer, first=n == 0) for n, call in enumerate(calls)
            ]
        thoughts = _thoughts(turn, sealer, plain=self._told or (under_way and bool(calls)))
        if self._told:
            thoughts["reasoning_content"] = thoughts.get("reasoning_content") or NO_THOUGHTS
        return message | thoughts

    def _call(self, call: ToolCall, sealer: Sealer, *, first: bool) -> dict[str, Any]:
        said: dict[str, Any] = {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        extra = (sealer.opened(call.seal) or {}).get("extra")
        if extra is None and first and self._google:
            extra = UNSIGNED
        return said if extra is None else {**said, "extra_content": extra}


def _thoughts(turn: AssistantTurn, sealer: Sealer, *, plain: bool) -> dict[str, Any]:
    """What this model thought, in the field that it said it in.

    Plain thoughts are given back only while the answer is under way, unless the server must be
    told them: afterwards some servers refuse them, and few want them.
    """
    texts: dict[str, str] = {}
    details: list[Any] = []
    for thought in turn.thoughts:
        match sealer.opened(thought.seal):
            case {"details": list() as given}:
                details += given
            case {"field": str() as field} if plain:
                texts[field] = texts.get(field, "") + thought.text
    return {**texts, **({"reasoning_details": details} if details else {})}


def _shown(turn: ToolTurn) -> list[TextBlock | FileBlock]:
    if not turn.images:
        return []
    return [TextBlock(text=f"<note>The images that {turn.name} gave:</note>"), *turn.images]


def _content(said: Sequence[TextBlock | FileBlock]) -> str | list[dict[str, Any]]:
    blocks = [_block(block) for block in said]
    if any(block["type"] != "text" for block in blocks):
        return blocks
    # Plain text as a plain string: some local servers take nothing else.
    return "\n\n".join(block["text"] for block in blocks)


def _block(block: TextBlock | FileBlock) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if is_image(block):
        return {"type": "image_url", "image_url": {"url": data_url(block)}}
    file = {"filename": block.name, "file_data": data_url(block)}
    return {"type": "file", "file": file}


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }
    return {"type": "function", "function": function}
