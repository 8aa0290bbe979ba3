"""The Anthropic judge takes a sound conversation, and nothing that is wrong in one place."""

import base64
from typing import Any

import pytest

from tests.strict.breaking import GONE, Break, broken, rule_of
from tests.strict.facts import OPUS, SONNET
from tests.strict.notary import encrypt, sign
from tests.strict.pictures import png
from tests.strict.rules.anthropic import RULES, anthropic


def image(content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    data = base64.b64encode(content).decode()
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


def thinking(text: str, *, model: str = OPUS.name) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": sign(model, text)}


TOOL = {"name": "shell", "description": "Runs.", "input_schema": {"type": "object"}}
SOUND: dict[str, Any] = {
    "model": OPUS.name,
    "max_tokens": 1000,
    "stream": True,
    "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
    "tools": [TOOL],
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "high"},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Go"}, image(png())]},
        {
            "role": "assistant",
            "content": [
                thinking("Hm"),
                {"type": "redacted_thinking", "data": encrypt(OPUS.name, text="Oh")},
                {"type": "text", "text": "So "},
                {"type": "tool_use", "id": "c1", "name": "shell", "input": {}},
                {"type": "tool_use", "id": "c2", "name": "shell", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "", "is_error": False},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                {"type": "text", "text": "And?"},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done. "}]},
        {"role": "user", "content": "Thanks"},
    ],
}
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
OLDER: Break = {
    "model": SONNET.name,
    "max_tokens": 4000,
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "output_config": GONE,
    **ASKED,
}
CACHED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
CALL = {"type": "tool_use", "id": "c1", "name": "shell", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
STEP = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [RESULT]},
]

WRONG: tuple[tuple[str, Break], ...] = (
    ("fields_are_known", {"seed": 1}),
    ("a_limit_is_given", {"max_tokens": GONE}),
    ("a_limit_is_given", {"max_tokens": 200_000}),
    ("the_user_begins", {"messages": []}),
    ("the_user_begins", {"messages.0.role": "assistant"}),
    ("the_user_begins", {"messages.0.role": "system"}),
    ("the_user_ends", {"messages.4": GONE}),
    ("blocks_are_known", {"messages.1.content.3.type": "server_tool"}),
    ("blocks_are_known", {"messages.1.content.0.cache_control": {"type": "ephemeral"}}),
    ("blocks_are_known", {"messages.2.content.0.content": [CALL]}),
    ("failures_say_why", {"messages.2.content.1.content": [image(png())]}),
    ("nothing_is_empty", {"messages.3.content": []}),
    ("nothing_is_empty", {"messages.3.content.0.text": ""}),
    ("nothing_is_empty", {"messages.4.content": " \n"}),
    ("nothing_is_empty", {"messages.2.content.0.content": [{"type": "text", "text": ""}]}),
    ("thoughts_are_its_own", {"messages.1.content.0.signature": GONE}),
    ("thoughts_are_its_own", {"messages.1.content.0.thinking": "Hm!"}),
    ("thoughts_are_its_own", {"messages.1.content.0": thinking("Hm", model=SONNET.name)}),
    ("thoughts_are_its_own", {"messages.1.content.1.data": encrypt(SONNET.name, text="Oh")}),
    ("thoughts_lead_to_something", {"messages.3.content.1": thinking("Hm")}),
    ("images_can_be_seen", {"messages.0.content.1.source.data": "&"}),
    ("images_can_be_seen", {"messages.0.content.1": image(png(), "image/jpeg")}),
    ("images_can_be_seen", {"messages.0.content.1": image(b"GIF")}),
    ("images_can_be_seen", {"messages.0.content.1": image(png(), "image/svg+xml")}),
    ("images_can_be_seen", {"messages.0.content.1": image(png(padding=4_000_000))}),
    ("images_can_be_seen", {"messages.0.content.1": image(png(8001, 1))}),
    ("images_can_be_seen", {"messages.0.content": [image(png(2001, 1))] * 21}),
    ("images_can_be_seen", {"messages.0.content": [image(png())] * 101}),
    (
        "documents_can_be_read",
        {"messages.0.content.1": image(b"no", "application/pdf") | {"type": "document"}},
    ),
    ("calls_are_sound", {"messages.1.content.3.id": "functions.read:0"}),
    ("calls_are_sound", {"messages.1.content.3.name": "read file"}),
    ("calls_are_sound", {"messages.1.content.3.name": "x" * 65}),
    ("calls_are_sound", {"messages.1.content.3.input": "{}"}),
    ("call_ids_are_unique", {"messages.1.content.3.id": "c2"}),
    ("calls_have_results_at_once", {"messages.2.content.0": GONE}),
    ("calls_have_results_at_once", {"messages.2.content.0": {"type": "text", "text": "x"}}),
    ("results_have_calls", {"messages.2.content.3": RESULT | {"tool_use_id": "d"}}),
    ("results_have_calls", {"messages.2.content.3": RESULT}),
    ("failures_say_why", {"messages.2.content.1.content": ""}),
    ("calls_need_tools", {"tools": GONE}),
    ("tools_are_sound", {"tools.0.name": "read file"}),
    ("tools_are_sound", {"tools.0.input_schema": {}}),
    ("tools_are_sound", {"tools": [TOOL, TOOL]}),
    ("a_choice_needs_tools", {**ASKED, "tools": GONE, "tool_choice": {"type": "none"}}),
    ("thinking_fits_the_model", {"thinking": {"type": "enabled", "budget_tokens": 2000}}),
    ("chance_fits_the_model", {"temperature": 0.5}),
    ("efforts_are_known", {"output_config.effort": "minimal"}),
    ("stops_say_something", {"stop_sequences": ["\n"]}),
    ("little_is_marked_for_the_cache", {"messages.0.content": [CACHED] * 4}),
    ("metadata_names_a_user_alone", {"metadata": {"topic": "x"}}),
    ("the_window_holds_it", {"messages.4.content": "x" * 900_000}),
    ("the_window_holds_it", {"messages.4.content": "x" * 400_000, "max_tokens": 128_000}),
)
WRONG_FOR_OLDER: tuple[tuple[str, Break], ...] = (
    ("the_user_ends", {"messages": [*ASKED["messages"], {"role": "assistant", "content": "So "}]}),
    ("thinking_fits_the_model", {"thinking": {"type": "adaptive"}}),
    ("thinking_fits_the_model", {"thinking.budget_tokens": 1000}),
    ("thinking_fits_the_model", {"thinking.budget_tokens": 4000}),
    ("chance_fits_the_model", {"temperature": 0.5}),
    ("chance_fits_the_model", {"thinking": GONE, "temperature": 0.5, "top_p": 0.5}),
    ("efforts_are_known", {"output_config": {"effort": "high"}}),
    ("thoughts_come_first_while_tools_are_used", {"messages": STEP}),
)


def test_a_sound_conversation_is_taken() -> None:
    assert rule_of(anthropic, SOUND, OPUS) is None
    assert rule_of(anthropic, broken(SOUND, OLDER), SONNET) is None


@pytest.mark.parametrize(("rule", "change"), WRONG)
def test_what_is_wrong_is_refused(rule: str, change: Break) -> None:
    assert rule_of(anthropic, broken(SOUND, change), OPUS) == rule


@pytest.mark.parametrize(("rule", "change"), WRONG_FOR_OLDER)
def test_what_an_older_model_does_not_take_is_refused(rule: str, change: Break) -> None:
    assert rule_of(anthropic, broken(broken(SOUND, OLDER), change), SONNET) == rule


def test_thoughts_of_a_step_under_way_are_enough_at_its_beginning() -> None:
    step = broken(
        {"messages": STEP}, {"messages.1.content": [thinking("Hm", model=SONNET.name), CALL]}
    )
    assert rule_of(anthropic, broken(SOUND, {**OLDER, **step}), SONNET) is None


def test_every_rule_is_broken_once() -> None:
    assert {rule.__name__ for rule in RULES} == {rule for rule, _ in (*WRONG, *WRONG_FOR_OLDER)}


def test_a_refusal_has_the_words_and_the_shape_of_the_wire() -> None:
    refusal = anthropic(broken(SOUND, {"messages.2.content.0": GONE}), OPUS)
    assert refusal is not None
    assert refusal.status == 400
    assert refusal.body["type"] == "error"
    assert refusal.body["error"]["type"] == "invalid_request_error"
    assert "ids were found without `tool_result` blocks immediately after: c1" in refusal.words
