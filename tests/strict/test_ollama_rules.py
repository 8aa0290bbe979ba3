"""Ollama's judge takes a sound conversation, and nothing that is wrong in one place."""

from typing import Any

import pytest

from tests.strict.breaking import GONE, Break, broken, rule_of
from tests.strict.facts import LOCAL, QWEN
from tests.strict.rules.ollama import RULES, ollama
from tests.strict.test_chat_rules import TOOL

SOUND: dict[str, Any] = {
    "model": QWEN.name,
    "think": True,
    "options": {"num_ctx": 8192},
    "tools": [TOOL],
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Go"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "shell", "arguments": {}}}],
        },
        {"role": "tool", "tool_name": "shell", "content": ""},
        {"role": "user", "content": "And?"},
    ],
}
WRONG: tuple[tuple[str, Break], ...] = (
    ("messages_are_texts", {"messages": []}),
    ("messages_are_texts", {"messages.1.role": "developer"}),
    ("messages_are_texts", {"messages.1.content": [{"type": "text", "text": "Go"}]}),
    ("arguments_are_objects", {"messages.2.tool_calls.0.function.arguments": "{}"}),
    ("arguments_are_objects", {"messages.2.tool_calls.0.function.name": ""}),
    ("results_have_calls", {"messages.2": GONE}),
    ("results_have_calls", {"messages.3": GONE}),
    ("tools_fit_the_model", {"tools.0.function.parameters": {"type": "object", "properties": []}}),
    ("thinking_fits_the_model", {"think": "max"}),
    ("images_can_be_seen", {"messages.1.images": ["&"]}),
    ("images_can_be_seen", {"messages.1.images": ["AAAA"]}),
    ("the_window_holds_it", {"messages.1.content": "x" * 40_000}),
    ("the_window_holds_it", {"messages.1.content": "x" * 20_000, "options": GONE}),
)


def test_a_sound_conversation_is_taken() -> None:
    assert rule_of(ollama, SOUND, QWEN) is None


@pytest.mark.parametrize(("rule", "change"), WRONG)
def test_what_is_wrong_is_refused(rule: str, change: Break) -> None:
    assert rule_of(ollama, broken(SOUND, change), QWEN) == rule


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    assert rule_of(ollama, SOUND, LOCAL) == "thinking_fits_the_model"


def test_every_rule_is_broken_once() -> None:
    assert {rule.__name__ for rule in RULES} == {rule for rule, _ in WRONG}
