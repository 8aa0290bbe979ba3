"""What is told again in every step is kept by the provider, wherever it can be."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tenuto.agent.providers.connection.errors import Border
from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.responses import ResponsesWire
from tenuto.core.run import Usage
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UsagePiece,
)
from tests.providers.asking import user
from tests.providers.made import MODEL, SEALER

MARK = {"type": "ephemeral"}
TOOLS = tuple(ToolSpec(name=n, description=n, parameters={"type": "object"}) for n in ("a", "b"))
STEPS: tuple[Turn, ...] = (
    user("First"),
    AssistantTurn(blocks=(TextBlock(text="Yes"),)),
    user("Second"),
    AssistantTurn(blocks=(ToolCall(id=CallId("c1"), name="a", arguments="{}"),)),
    ToolTurn(call_id=CallId("c1"), name="a", output="one"),
    AssistantTurn(blocks=(ToolCall(id=CallId("c2"), name="b", arguments="{}"),)),
    ToolTurn(call_id=CallId("c2"), name="b", output="two"),
)
REQUEST = ModelRequest(
    model="anthropic/claude-x", system="Be brief.", turns=STEPS, tools=TOOLS, cache_key="ses_1"
)


def bare(given: Any) -> Any:
    """The same without marks."""
    if isinstance(given, dict):
        return {k: bare(v) for k, v in given.items() if k != "cache_control"}
    return [bare(item) for item in given] if isinstance(given, list) else given


def marked_texts(messages: list[dict[str, Any]]) -> list[str]:
    blocks = [block for message in messages for block in message["content"]]
    return [b.get("text") or b.get("content") for b in blocks if "cache_control" in b]


def test_anthropic_is_told_where_to_keep_tools_system_and_the_last_two_turns() -> None:
    body = AnthropicWire("").body(REQUEST, MODEL)
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert marked_texts(body["messages"]) == ["one", "two"]


def test_a_step_begins_with_what_the_step_before_it_said() -> None:
    wire = AnthropicWire("")
    before = wire.body(replace(REQUEST, turns=STEPS[:5]), MODEL)
    after = wire.body(REQUEST, MODEL)
    for part in ("tools", "system"):
        assert before[part] == after[part]
    kept = bare(before["messages"])
    assert bare(after["messages"])[: len(kept)] == kept
    assert marked_texts(before["messages"])[-1] == marked_texts(after["messages"])[0]


def test_without_a_key_nothing_is_kept() -> None:
    request = replace(REQUEST, cache_key="")
    assert "cache_control" not in str(AnthropicWire("").body(request, MODEL))
    for wire in (ChatWire("https://api.openai.com/v1"), ResponsesWire("")):
        assert "prompt_cache_key" not in wire.body(request, MODEL)


def test_openai_is_told_which_requests_begin_alike() -> None:
    assert ResponsesWire("").body(REQUEST, MODEL)["prompt_cache_key"] == "ses_1"
    hosted = ChatWire("https://api.openai.com/v1").body(REQUEST, MODEL)
    assert hosted["prompt_cache_key"] == "ses_1"
    assert "prompt_cache_key" not in ChatWire("https://api.groq.com/v1").body(REQUEST, MODEL)


def test_openrouter_passes_the_marks_on_for_claude_only() -> None:
    wire = ChatWire("https://openrouter.ai/api/v1")
    body = wire.body(REQUEST, MODEL)
    system, *rest = body["messages"]
    assert system["content"] == [{"type": "text", "text": "Be brief.", "cache_control": MARK}]
    assert [m["content"] for m in rest if "cache_control" in m] == ["one", "two"]
    other = wire.body(replace(REQUEST, model="openai/gpt-x"), MODEL)
    assert "cache_control" not in str(other)


def test_a_users_last_words_are_marked_on_openrouter_too() -> None:
    body = ChatWire("https://openrouter.ai/api/v1").body(replace(REQUEST, turns=STEPS[:3]), MODEL)
    assert [m["content"] for m in body["messages"] if m["role"] == "user"] == [
        [{"type": "text", "text": text, "cache_control": MARK}] for text in ("First", "Second")
    ]


@pytest.mark.parametrize(
    ("given", "read", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 60}}, 60, 0),
        ({"prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}, 60, 30),
        ({"prompt_cache_hit_tokens": 70, "prompt_cache_miss_tokens": 30}, 70, 0),
        ({"cached_tokens": 50}, 50, 0),
        ({"prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 9}}, 100, 0),
        ({"prompt_tokens_details": None, "prompt_cache_hit_tokens": 5}, 5, 0),
    ],
)
def test_what_was_kept_is_counted_as_each_server_tells_it(
    given: dict[str, Any], read: int, written: int
) -> None:
    usage = Usage(
        input_tokens=100, output_tokens=5, cache_read_tokens=read, cache_write_tokens=written
    )
    counts = {"prompt_tokens": 100, "completion_tokens": 5, **given}
    answer = ChatAnswer(Border("house", secret=""), SEALER)

    assert answer.feed([msgspec.json.encode({"choices": [], "usage": counts})]) == [
        UsagePiece(usage=usage)
    ]
