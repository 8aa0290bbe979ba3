"""Marks up to which a provider shall keep what it was told, on wires that want to be told where.

The marks move on with the conversation; what is before them is the same in every step.
"""

from typing import Any

MARK = {"type": "ephemeral"}
TURNS = 2
"""The newest, for the next step, and the one before it, which was the newest then."""

Message = dict[str, Any]


def marked(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "cache_control": MARK}


def mark_turns(messages: list[Message]) -> None:
    """The ends of the last turns that are not the model's own, on the Anthropic wire."""
    for message in _newest(messages, "user"):
        message["content"] = [*message["content"][:-1], marked(message["content"][-1])]


def mark_chat(messages: list[Message]) -> None:
    """The system's words and the ends of the last turns, for those who pass marks on to Anthropic."""
    for message in (*_newest(messages, "system"), *_newest(messages, "user", "tool")):
        if message["role"] == "tool":
            message["cache_control"] = MARK
            continue
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message["content"] = [*blocks[:-1], marked(blocks[-1])]


def _newest(messages: list[Message], *roles: str) -> list[Message]:
    return [message for message in messages if message["role"] in roles][-TURNS:]
