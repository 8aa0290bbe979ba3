"""The judges of the chat wire take a sound conversation, and nothing that is wrong in one place."""

import base64
from typing import Any

import pytest

from tests.strict import facts
from tests.strict.breaking import GONE, Break, broken, rule_of
from tests.strict.facts import Facts, Flavour
from tests.strict.notary import encrypt, sign
from tests.strict.pictures import png
from tests.strict.rules.flavours import FLAVOURS


def image(content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    url = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def call(call_id: str) -> dict[str, Any]:
    function = {"name": "shell", "arguments": "{}"}
    return {"id": call_id, "type": "function", "function": function}


TOOL = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object"}}}
RESULT = {"role": "tool", "tool_call_id": "aaaaaaaa2", "content": "no"}
SOUND: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [TOOL],
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("aaaaaaaa1"), call("aaaaaaaa2")],
        },
        {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": ""},
        RESULT,
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ],
}
THOUGHT: Break = {
    "messages.2.reasoning_content": "Hm",
    "messages.5.reasoning_content": "Oh",
}
SIGNED = {"google": {"thought_signature": sign(facts.GEMINI.name, "shell {}")}}
FOREIGN = {"google": {"thought_signature": sign(facts.GPT.name, "shell {}")}}
STEP: Break = {"messages.6": GONE, "messages.5": GONE}
"""The answer is under way: the results are the last that was said."""
OWN: dict[Flavour, tuple[Facts, Break]] = {
    "openai": (facts.GPT, {}),
    "gemini": (facts.GEMINI, {"messages.2.tool_calls.0.extra_content": SIGNED}),
    "deepseek": (facts.DEEPSEEK, THOUGHT),
    "kimi": (facts.KIMI, THOUGHT),
    "mistral": (facts.MISTRAL, {}),
    "openrouter": (facts.OPENROUTER, {}),
    "local": (facts.LOCAL, {}),
}
ALL: tuple[tuple[str, Break], ...] = (
    ("somebody_speaks", {"messages": []}),
    ("somebody_speaks", {"messages.1.role": "model"}),
    ("contents_are_sound", {"messages.3.content": [{"type": "image_url", "image_url": {}}]}),
    ("contents_are_sound", {"messages.1.content": None}),
    ("contents_are_sound", {"messages.5.content": None}),
    ("contents_are_sound", {"messages.6.content": []}),
    ("contents_are_sound", {"messages.6.content.0.type": "input_text"}),
    ("calls_are_sound", {"messages.2.tool_calls": [], "messages.2.content": "x"}),
    ("calls_are_sound", {"messages.2.tool_calls.0.id": "a" * 41}),
    ("calls_are_sound", {"messages.2.tool_calls.0.id": ""}),
    ("calls_are_sound", {"messages.2.tool_calls.0.function.name": "read file"}),
    ("calls_are_sound", {"messages.2.tool_calls.0.function.name": ""}),
    ("calls_are_sound", {"messages.2.tool_calls.0.function.arguments": '{"a'}),
    ("calls_are_sound", {"messages.2.tool_calls.0.function.arguments": {}}),
    ("calls_have_results_at_once", {"messages.3": GONE}),
    ("calls_have_results_at_once", {"messages.3": {"role": "user", "content": "x"}}),
    ("results_have_calls", {"messages.2": {"role": "assistant", "content": "x"}}),
    ("results_have_calls", {"messages.5": RESULT}),
    ("calls_need_tools", {"tools": GONE}),
    ("tools_are_sound", {"tools.0.function.name": "read file"}),
    ("tools_are_sound", {"tools.0.function.parameters": None}),
    ("tools_are_sound", {"tools": [TOOL, TOOL]}),
    (
        "a_choice_needs_tools",
        {"messages": [SOUND["messages"][1]], "tools": GONE, "tool_choice": "none"},
    ),
    ("stream_options_need_a_stream", {"stream": False}),
    ("the_limit_is_one_it_has", {"max_completion_tokens": 200_000}),
    ("stops_are_few", {"stop": ["a", "b", "c", "d", "e"]}),
    ("images_can_be_seen", {"messages.6.content.0": image(b"no image")}),
    ("images_can_be_seen", {"messages.6.content.0": image(png(), "image/jpeg")}),
    ("images_can_be_seen", {"messages.6.content.0": image(png(padding=21_000_000))}),
    ("the_window_holds_it", {"messages.1.content": "x" * 4_100_000}),
)
TWICE: Break = {
    "messages.5": {"role": "assistant", "content": None, "tool_calls": [call("aaaaaaaa1")]},
    "messages.6": {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": ""},
}
SOME: tuple[tuple[Flavour, str, Break], ...] = (
    ("openai", "call_ids_are_unique", TWICE),
    ("local", "images_can_be_seen", {"messages.6.content.0": image(png())}),
    ("openai", "openai_knows_the_fields", {"top_k": 1}),
    ("openai", "openai_knows_the_fields", {"messages.5.reasoning_content": "x"}),
    ("openai", "openai_thinks_without_chance", {"max_tokens": 100}),
    ("openai", "openai_thinks_without_chance", {"temperature": 0.5}),
    ("openai", "openai_thinks_without_chance", {"stop": ["a"]}),
    ("openai", "openai_keeps_no_metadata_unasked", {"metadata": {"a": "b"}}),
    ("gemini", "gemini_signs_its_calls", {**STEP, "messages.2.tool_calls.0.extra_content": GONE}),
    ("gemini", "gemini_signs_its_calls", {"messages.2.tool_calls.0.extra_content": FOREIGN}),
    ("gemini", "gemini_signs_its_calls", {"messages.2.tool_calls.0.function.arguments": '{"a":1}'}),
    ("gemini", "gemini_calls_after_somebody_spoke", {"messages.1": GONE}),
    ("gemini", "gemini_is_told_something", {"messages": [{"role": "system", "content": "x"}]}),
    ("gemini", "gemini_is_told_something", {"messages.1.content": ""}),
    ("deepseek", "deepseek_is_told_its_thoughts", {"messages.2.reasoning_content": GONE}),
    ("deepseek", "deepseek_is_told_its_thoughts", {"messages.5.reasoning_content": GONE}),
    ("kimi", "kimi_is_told_its_thoughts", {"messages.2.reasoning_content": GONE}),
    ("kimi", "kimi_is_told_its_thoughts", {"messages.2.reasoning_content": ""}),
    ("kimi", "kimi_hears_no_silence", {"messages.1.content": " "}),
    ("kimi", "kimi_has_one_temperature", {"temperature": 0.5}),
    ("mistral", "mistral_knows_the_fields", {"seed": 1}),
    ("mistral", "mistral_knows_the_fields", {"messages.2.reasoning_content": "x"}),
    (
        "mistral",
        "mistral_has_ids_of_nine",
        {"messages.2.tool_calls.0.id": "call_1", "messages.3.tool_call_id": "call_1"},
    ),
    ("mistral", "mistral_keeps_the_order", {"messages.5": GONE}),
    ("mistral", "mistral_keeps_the_order", {"messages.6": GONE}),
    ("mistral", "mistral_hears_something", {"messages.5.content": ""}),
    (
        "openrouter",
        "openrouter_hands_thoughts_on",
        {"messages.2.reasoning_details": [{"type": "reasoning.text", "text": "x"}]},
    ),
    (
        "openrouter",
        "openrouter_hands_thoughts_on",
        {
            "messages.2.reasoning_details": [
                {"type": "reasoning.encrypted", "data": encrypt(facts.GPT.name, text="x")}
            ]
        },
    ),
    ("local", "local_templates_take_turns", {"messages.5": GONE}),
    ("local", "local_templates_end_with_a_question", {"messages.6": GONE}),
)


def sound(flavour: Flavour) -> Any:
    return broken(SOUND, OWN[flavour][1])


@pytest.mark.parametrize("flavour", OWN)
def test_a_sound_conversation_is_taken(flavour: Flavour) -> None:
    assert rule_of(FLAVOURS[flavour], sound(flavour), OWN[flavour][0]) is None


def test_googles_word_for_no_signature_is_taken() -> None:
    skip = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    body = broken(sound("gemini"), {**STEP, "messages.2.tool_calls.0.extra_content": skip})
    assert rule_of(FLAVOURS["gemini"], body, facts.GEMINI) is None


@pytest.mark.parametrize(("rule", "change"), ALL)
def test_what_is_wrong_is_refused_by_all(rule: str, change: Break) -> None:
    body = broken(sound("gemini"), change)
    assert rule_of(FLAVOURS["gemini"], body, facts.GEMINI) == rule


@pytest.mark.parametrize(("flavour", "rule", "change"), SOME)
def test_what_one_does_not_take_is_refused(flavour: Flavour, rule: str, change: Break) -> None:
    assert rule_of(FLAVOURS[flavour], broken(sound(flavour), change), OWN[flavour][0]) == rule


def test_every_rule_is_broken_once() -> None:
    rules = {rule.__name__ for judge in FLAVOURS.values() for rule in judge.rules}
    assert rules == {rule for rule, _ in ALL} | {rule for _, rule, _ in SOME}


def test_refusals_have_the_shapes_of_their_servers() -> None:
    too_long = broken(SOUND, {"messages.1.content": "x" * 5_000_000})
    said = {name: judge(too_long, OWN[name][0]) for name, judge in FLAVOURS.items()}
    bodies = {name: refusal.body for name, refusal in said.items() if refusal}
    assert bodies["openai"]["error"]["code"] == "context_length_exceeded"
    assert bodies["gemini"][0]["error"]["status"] == "INVALID_ARGUMENT"
    assert bodies["mistral"]["object"] == "error"
    assert bodies["local"]["error"]["code"] == 400
