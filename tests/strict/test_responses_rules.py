"""The judge of the Responses wire takes a sound conversation, and nothing that is wrong in one place."""

from typing import Any

import pytest

from tests.strict.breaking import GONE, Break, broken, rule_of
from tests.strict.facts import GPT, GPT_PLAIN
from tests.strict.notary import encrypt
from tests.strict.pictures import png
from tests.strict.rules.responses import RULES, responses
from tests.strict.test_chat_rules import image


def picture(content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"type": "input_image", "image_url": image(content, media_type)["image_url"]["url"]}


TOOL = {"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
SOUND: dict[str, Any] = {
    "model": GPT.name,
    "instructions": "Be kind.",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "low", "summary": "auto"},
    "tools": [TOOL],
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Go"}, picture(png())],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [],
            "encrypted_content": encrypt(GPT.name, id="rs_1"),
        },
        {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": ""},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done."}],
        },
        {"type": "message", "role": "user", "content": "And?"},
    ],
}
OUTPUT = SOUND["input"][3]
ASKED = {"input": [SOUND["input"][5]]}
PLAIN: Break = {"include": GONE, "reasoning": GONE, **ASKED}
WRONG: tuple[tuple[str, Break], ...] = (
    ("fields_are_known", {"stop": ["a"]}),
    ("fields_are_known", {"messages": []}),
    ("items_are_known", {"input": []}),
    ("items_are_known", {"input.1.type": "thinking"}),
    ("items_are_known", {"input.2.extra_content": {}}),
    ("messages_say_what_their_role_can", {"input.4.content.0.type": "input_text"}),
    ("messages_say_what_their_role_can", {"input.0.content.0.type": "output_text"}),
    ("messages_say_what_their_role_can", {"input.0.content": []}),
    ("calls_are_sound", {"input.2.call_id": "c" * 65}),
    ("calls_are_sound", {"input.2.name": "read file"}),
    ("calls_are_sound", {"input.2.arguments": {}}),
    ("calls_have_results", {"input.3": GONE}),
    ("calls_have_results", {"input.6": OUTPUT}),
    ("results_have_calls", {"input.2": GONE}),
    ("results_say_what_a_tool_can", {"input.3.output": []}),
    ("results_say_what_a_tool_can", {"input.3.output": [{"type": "output_text", "text": "x"}]}),
    ("results_have_calls", {"input.3": SOUND["input"][2], "input.2": OUTPUT, "input.1": GONE}),
    ("nothing_is_looked_up", {"store": GONE}),
    ("nothing_is_looked_up", {"input.1.encrypted_content": GONE}),
    ("nothing_is_looked_up", {"input.2.id": "fc_1"}),
    ("thoughts_are_its_own", {"input.1.encrypted_content": encrypt(GPT_PLAIN.name, id="rs_1")}),
    ("thoughts_are_its_own", {"input.1.encrypted_content": "gAAA"}),
    ("thoughts_are_its_own", {"input.1.id": "rs_2"}),
    ("thoughts_are_its_own", {"input.1.summary": GONE}),
    (
        "thoughts_are_followed_by_what_came_of_them",
        {"input.4": GONE, "input.3": GONE, "input.2": GONE},
    ),
    ("thoughts_are_asked_for_sealed", {"include": GONE}),
    ("tools_are_sound", {"tools.0.name": "read file"}),
    ("tools_are_sound", {"tools.0.parameters": {}}),
    ("tools_are_sound", {"tools.0.strict": GONE}),
    ("tools_are_sound", {"tools.0": TOOL | {"strict": True, "parameters": OPEN}}),
    ("tools_are_sound", {"tools": [TOOL, TOOL]}),
    ("a_choice_needs_tools", {**ASKED, "tools": GONE, "tool_choice": "required"}),
    ("wishes_fit_the_model", {"temperature": 1}),
    ("the_limit_is_one_it_has", {"max_output_tokens": 15}),
    ("the_limit_is_one_it_has", {"max_output_tokens": 200_000}),
    ("words_beside_are_short", {"prompt_cache_key": "x" * 65}),
    ("words_beside_are_short", {"metadata": {str(n): "x" for n in range(17)}}),
    ("files_can_be_read", {"input.0.content.1": picture(b"no")}),
    ("files_can_be_read", {"input.0.content.1": picture(png(), "image/gif")}),
    ("files_can_be_read", {"input.0.content.1": {"type": "input_file", "file_data": "x"}}),
    ("the_window_holds_it", {"input.0.content.0.text": "x" * 1_700_000}),
)


def test_a_sound_conversation_is_taken() -> None:
    assert rule_of(responses, SOUND, GPT) is None
    assert rule_of(responses, broken(SOUND, PLAIN), GPT_PLAIN) is None


@pytest.mark.parametrize(("rule", "change"), WRONG)
def test_what_is_wrong_is_refused(rule: str, change: Break) -> None:
    assert rule_of(responses, broken(SOUND, change), GPT) == rule


@pytest.mark.parametrize(
    "change",
    [{"include": ["reasoning.encrypted_content"]}, {"reasoning": {"effort": "low"}}],
    ids=["sealed thoughts", "effort"],
)
def test_a_model_that_does_not_think_is_not_asked_to(change: Break) -> None:
    plain = broken(SOUND, PLAIN)
    assert rule_of(responses, broken(plain, change), GPT_PLAIN) == "wishes_fit_the_model"


def test_an_item_that_is_not_kept_is_not_found() -> None:
    refusal = responses(broken(SOUND, {"input.1.encrypted_content": GONE}), GPT)
    assert refusal is not None
    assert refusal.status == 404
    assert "Items are not persisted when `store` is set to false." in refusal.words


def test_every_rule_is_broken_once() -> None:
    assert {rule.__name__ for rule in RULES} == {rule for rule, _ in WRONG}
