"""What servers on the chat wire make for themselves: kept, and given back in their own words."""

from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.agent.providers.catalogue.setting import ModelSetting
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.chat_answer import ChatAnswer
from tenuto.agent.providers.wires.seals import Sealer
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    CallStarted,
    Model,
    ModelRequest,
    ReasoningPiece,
    SealPiece,
    TextBlock,
    Thought,
    ToolCall,
    ToolTurn,
    Turn,
)
from tests.providers.asking import user
from tests.providers.made import chat
from tests.providers.test_foreign import BORDER, encoded

HOUSE = "https://house.example/v1"
DEEPSEEK = "https://api.deepseek.com/v1"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
MISTRAL = "https://api.mistral.ai/v1"
MODEL = chat("house", HOUSE, models=[ModelSetting(name="m")]).describer.model("m")
OTHER = chat("house", HOUSE, models=[ModelSetting(name="n")]).describer.model("n")
CALL = ToolCall(id=CallId("c1"), name="shell", arguments="{}")
RESULT = ToolTurn(call_id=CallId("c1"), name="shell", output="fine")


def heard(*deltas: dict[str, Any]) -> list[Any]:
    answer = ChatAnswer(BORDER, Sealer("chat", MODEL))
    pieces = answer.feed([encoded({"choices": [{"delta": delta}]}) for delta in deltas])
    answer.feed([b"[DONE]"])
    return pieces + answer.end()


def told(turns: tuple[Turn, ...], *, url: str = HOUSE, model: Model = MODEL) -> list[Any]:
    request = ModelRequest(model=model.name, system="", turns=turns)
    messages: list[Any] = ChatWire(url).body(request, model)["messages"]
    return messages


def sealed_by(*deltas: dict[str, Any]) -> Thought:
    sealing = (p for p in heard(*deltas) if isinstance(p, SealPiece | ReasoningPiece))
    (seal,) = (piece.seal for piece in sealing if piece.seal)
    return Thought(text="Hmm", seal=seal)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_go_back_in_their_field_while_the_answer_is_under_way(field: str) -> None:
    thought = sealed_by({field: "Hmm"}, {"content": "So"})
    step = AssistantTurn(blocks=(thought, CALL))
    under_way = told((user("Hi"), step, RESULT))
    assert under_way[1][field] == "Hmm"
    later = told(
        (user("Hi"), step, RESULT, AssistantTurn(blocks=(TextBlock(text="A"),)), user("B"))
    )
    assert field not in later[1]
    another = told((user("Hi"), step, RESULT), model=OTHER)
    assert field not in another[1]


def test_details_come_in_pieces_and_go_back_whole() -> None:
    first = {"type": "reasoning.text", "index": 0, "text": "Hm", "signature": None}
    second = {"type": "reasoning.text", "index": 0, "text": "m", "signature": "xyz"}
    other = {"type": "reasoning.encrypted", "index": 1, "data": "gAAA"}
    thought = sealed_by(
        {"reasoning": "Hm", "reasoning_details": [first]},
        {"reasoning": "m", "reasoning_details": [second, other]},
        {"content": "So"},
    )
    message = told((user("Hi"), AssistantTurn(blocks=(thought, TextBlock(text="So"))), user("B")))[
        1
    ]
    assert message["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "Hmm", "signature": "xyz"},
        other,
    ]


def test_what_google_adds_to_a_call_goes_back_with_it() -> None:
    extra = {"google": {"thought_signature": "abc"}}
    function = {"name": "shell", "arguments": "{}"}
    given = {"index": 0, "id": "c1", "function": function, "extra_content": extra}
    (begun,) = (p for p in heard({"tool_calls": [given]}) if isinstance(p, CallStarted))
    signed = ToolCall(id=CallId("c1"), name="shell", arguments="{}", seal=begun.seal)
    turns = (user("Hi"), AssistantTurn(blocks=(signed,)), RESULT)
    assert told(turns, url=GOOGLE)[1]["tool_calls"][0]["extra_content"] == extra
    # One that another model made has none, and is not refused for it.
    turns = (user("Hi"), AssistantTurn(blocks=(CALL,)), RESULT)
    said = told(turns, url=GOOGLE)[1]["tool_calls"][0]["extra_content"]
    assert said == {"google": {"thought_signature": "skip_thought_signature_validator"}}
    assert "extra_content" not in told(turns)[1]["tool_calls"][0]


def test_where_a_user_may_not_speak_right_after_a_tool_something_stands_between() -> None:
    turns = (user("Hi"), AssistantTurn(blocks=(CALL,)), RESULT, user("B"))
    assert [m["role"] for m in told(turns)] == ["user", "assistant", "tool", "user"]
    between = ["user", "assistant", "tool", "assistant", "user"]
    assert [m["role"] for m in told(turns, url=MISTRAL)] == between
    # The model's template refuses it, wherever it runs.
    devstral = replace(MODEL, name="Devstral-Small-2507")
    assert [m["role"] for m in told(turns, model=devstral)] == between


@pytest.mark.parametrize("url", [DEEPSEEK, "https://api.moonshot.ai/v1"])
def test_where_thoughts_must_be_told_every_answer_has_some(url: str) -> None:
    step = AssistantTurn(blocks=(sealed_by({"reasoning_content": "Hmm"}, {"content": "So"}), CALL))
    said = AssistantTurn(blocks=(TextBlock(text="A"),))
    messages = told((user("Hi"), step, RESULT, said, user("B")), url=url)
    assert messages[1]["reasoning_content"] == "Hmm"
    assert messages[3]["reasoning_content"] == " "
    another = told((user("Hi"), step, RESULT), url=url, model=OTHER)
    assert another[1]["reasoning_content"] == " "
