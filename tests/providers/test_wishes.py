"""Effort and options reach each provider in its own words, and only what its model can do."""

from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.responses import ResponsesWire
from tenuto.core.message import Seal
from tenuto.core.options import Effort, Options
from tenuto.core.value import CallId
from tenuto.ports.model import AssistantTurn, Model, Thought, ToolCall, ToolTurn, Turn
from tests.providers.asking import REQUEST, user

ALL = tuple(Effort)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "count", "schema": SCHEMA, "strict": True}}
OPTIONS = Options(
    temperature=0.2,
    top_p=0.9,
    max_output_tokens=500,
    stop=("END",),
    seed=7,
    response_format=FORMAT,
    metadata={"user_id": "u1", "team": "blue"},
)


def model(name: str, *efforts: Effort, **facts: Any) -> Model:
    return Model(
        id=f"house/{name}",
        name=name,
        provider="house",
        context_window=facts.pop("context_window", 200_000),
        efforts=efforts,
        capabilities=("reasoning",) if efforts else (),
        **facts,
    )


def chat(base_url: str, effort: Effort, *efforts: Effort) -> dict[str, Any]:
    body = ChatWire(base_url).body(replace(REQUEST, effort=effort), model("m", *efforts or ALL))
    return {
        k: v for k, v in body.items() if k not in ("model", "messages", "stream", "stream_options")
    }


def anthropic(
    asked: Model, *, effort: Effort | None = None, options: Options | None = None, **more: Any
) -> dict[str, Any]:
    request = replace(REQUEST, effort=effort, options=options or Options(), **more)
    body = AnthropicWire("").body(request, asked)
    return {k: v for k, v in body.items() if k not in ("model", "messages", "stream")}


@pytest.mark.parametrize(
    ("url", "effort", "fields"),
    [
        ("https://api.openai.com/v1", Effort.MAX, {"reasoning_effort": "xhigh"}),
        ("https://api.openai.com/v1", Effort.NONE, {"reasoning_effort": "none"}),
        ("https://api.groq.com/openai/v1", Effort.MAX, {"reasoning_effort": "high"}),
        ("https://openrouter.ai/api/v1", Effort.HIGH, {"reasoning": {"effort": "high"}}),
        (
            "https://api.deepseek.com",
            Effort.MEDIUM,
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ),
        ("https://api.deepseek.com", Effort.NONE, {"thinking": {"type": "disabled"}}),
        ("https://api.moonshot.ai/v1", Effort.LOW, {"thinking": {"type": "enabled"}}),
        ("https://dashscope.aliyuncs.com/v1", Effort.NONE, {"enable_thinking": False}),
        ("https://api.mistral.ai/v1", Effort.LOW, {"reasoning_effort": "high"}),
        (
            "http://127.0.0.1:8000/v1",
            Effort.NONE,
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        (
            "http://gpu:8000/v1",
            Effort.LOW,
            {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": True}},
        ),
    ],
)
def test_each_server_is_told_how_hard_to_think_in_its_own_words(
    url: str, effort: Effort, fields: dict[str, Any]
) -> None:
    assert chat(url, effort) == fields


@pytest.mark.parametrize(
    ("wished", "has", "told"),
    [
        (Effort.MAX, (Effort.LOW, Effort.MEDIUM), "medium"),
        (Effort.MEDIUM, (Effort.HIGH, Effort.LOW), "low"),
        (Effort.NONE, (Effort.MEDIUM, Effort.HIGH), "medium"),
    ],
)
def test_a_step_that_a_model_does_not_have_becomes_the_next_lower_one(
    wished: Effort, has: tuple[Effort, ...], told: str
) -> None:
    assert chat("https://api.openai.com/v1", wished, *has) == {"reasoning_effort": told}


def test_a_model_that_does_not_think_is_not_told_how_to() -> None:
    request = replace(REQUEST, effort=Effort.HIGH)
    for wire in (ChatWire("https://api.openai.com/v1"), ResponsesWire(""), AnthropicWire("")):
        body = wire.body(request, model("gpt-4o", source="catalogue"))
        assert not {"reasoning_effort", "reasoning", "thinking", "output_config"} & body.keys()


def test_a_model_of_which_nothing_is_known_is_asked_as_was_wished() -> None:
    body = ChatWire("http://127.0.0.1/v1").body(
        replace(REQUEST, effort=Effort.HIGH), model("m", source="default")
    )
    assert body["reasoning_effort"] == "high"


def test_without_a_wish_a_provider_does_as_it_does() -> None:
    thinking = model("m", *ALL)
    assert "reasoning_effort" not in ChatWire("https://api.openai.com/v1").body(REQUEST, thinking)
    assert ResponsesWire("").body(REQUEST, thinking)["reasoning"] == {"summary": "auto"}
    assert anthropic(model("claude-opus-4-8", *ALL)) == {"max_tokens": 32_000}


def test_options_go_out_as_chat_completions_calls_them() -> None:
    body = ChatWire("https://api.openai.com/v1").body(replace(REQUEST, options=OPTIONS), model("m"))
    del body["messages"], body["stream"], body["stream_options"], body["model"]
    assert body == {
        "max_completion_tokens": 500,
        "temperature": 0.2,
        "top_p": 0.9,
        "stop": ["END"],
        "seed": 7,
        "response_format": FORMAT,
    }


def test_options_go_out_as_responses_calls_them() -> None:
    request = replace(REQUEST, options=OPTIONS, effort=Effort.MAX)
    body = ResponsesWire("").body(request, model("m", *ALL))
    del body["input"], body["stream"], body["store"], body["model"]
    assert body == {
        "max_output_tokens": 500,
        "temperature": 0.2,
        "top_p": 0.9,
        "metadata": {"user_id": "u1", "team": "blue"},
        "text": {
            "format": {"type": "json_schema", "name": "count", "schema": SCHEMA, "strict": True}
        },
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "xhigh", "summary": "auto"},
    }


def test_options_go_out_as_anthropic_calls_them() -> None:
    assert anthropic(model("claude-sonnet-4-5"), options=OPTIONS) == {
        "max_tokens": 500,
        "temperature": 0.2,
        "stop_sequences": ["END"],
        "metadata": {"user_id": "u1"},
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_a_plain_json_object_is_asked_for_where_a_wire_has_that() -> None:
    options = Options(response_format={"type": "json_object"})
    request = replace(REQUEST, options=options)
    assert ResponsesWire("").body(request, model("m"))["text"] == {
        "format": {"type": "json_object"}
    }
    assert "output_config" not in anthropic(model("claude-sonnet-4-5"), options=options)


def test_what_the_caller_needs_at_most_wins_over_the_option() -> None:
    request = replace(REQUEST, max_tokens=40, options=OPTIONS)
    assert ChatWire("http://gpu/v1").body(request, model("m"))["max_tokens"] == 40
    assert ResponsesWire("").body(request, model("m"))["max_output_tokens"] == 40
    assert AnthropicWire("").body(request, model("m"))["max_tokens"] == 40


@pytest.mark.parametrize("name", ["claude-opus-4-6", "claude-sonnet-5", "claude-opus-4.7"])
def test_newer_models_think_as_much_as_they_see_fit(name: str) -> None:
    warm = Options(temperature=0.5, top_p=0.9)
    assert anthropic(model(name, *ALL), effort=Effort.MAX, options=warm) == {
        "max_tokens": 32_000,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "max"},
    }


@pytest.mark.parametrize(
    ("name", "max_tokens"),
    [("claude-sonnet-4-20250514", 32_000), ("claude-3-7-sonnet-20250219", 64_000)],
)
def test_older_models_have_a_budget_to_think_with(name: str, max_tokens: int) -> None:
    told = anthropic(model(name, *ALL), effort=Effort.MEDIUM, options=Options(temperature=0.5))
    assert told == {
        "max_tokens": max_tokens,
        "thinking": {"type": "enabled", "budget_tokens": 10_000},
    }


def test_a_budget_leaves_room_for_the_answer() -> None:
    asked = model("claude-sonnet-4-5", *ALL)
    told = anthropic(asked, effort=Effort.HIGH, max_tokens=6000)
    assert told["thinking"] == {"type": "enabled", "budget_tokens": 4976}
    assert "thinking" not in anthropic(asked, effort=Effort.HIGH, max_tokens=2000)


def test_thinking_can_be_switched_off_and_then_it_may_be_warm() -> None:
    told = anthropic(
        model("claude-sonnet-4-5", *ALL), effort=Effort.NONE, options=Options(temperature=1.7)
    )
    assert told["thinking"] == {"type": "disabled"}
    assert told["temperature"] == 1.0


@pytest.mark.parametrize("own", [True, False])
def test_calls_that_another_model_made_are_answered_without_a_budget(own: bool) -> None:
    data = '{"signature":"s"}'
    asked = model("claude-sonnet-4-5", *ALL)
    seal = Seal(wire="anthropic", model=asked.id if own else "house/another", data=data)
    call = ToolCall(id=CallId("c1"), name="look", arguments="{}")
    turns: tuple[Turn, ...] = (
        user("Look"),
        AssistantTurn(blocks=(Thought(text="Hm", seal=seal), call)),
        ToolTurn(call_id=CallId("c1"), name="look", output="a cat"),
    )
    told = anthropic(asked, effort=Effort.LOW, turns=turns)
    assert ("thinking" in told) == own
    newer = anthropic(model("claude-opus-4-7", *ALL), effort=Effort.LOW, turns=turns)
    assert newer["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    ("asked", "max_tokens"),
    [
        (model("claude-opus-4-1", max_output=20_000), 20_000),
        (model("claude-3-5-haiku-latest"), 8192),
        (model("claude-3-opus-20240229"), 4096),
        (model("kimi-k3"), 8192),
        (model("claude-opus-4-1", context_window=500), 1024),
    ],
)
def test_an_answer_may_be_as_long_as_the_model_and_its_window_allow(
    asked: Model, max_tokens: int
) -> None:
    assert anthropic(asked, turns=(user("Hello"),))["max_tokens"] == max_tokens


def test_what_is_said_and_what_is_answered_share_the_window() -> None:
    asked = model("claude-opus-4-1", context_window=30_000)
    assert 29_000 < anthropic(asked, turns=(user("Hello"),))["max_tokens"] < 30_000
    assert 9000 < anthropic(asked, turns=(user("x" * 60_000),))["max_tokens"] <= 10_000
