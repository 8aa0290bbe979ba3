"""Images that tools give: each wire shows them in its own way, and none is lost or refused."""

import base64
from typing import Any

import pytest

from tenuto.agent.attachments.fitting import fit
from tenuto.agent.flat import without_calls
from tenuto.agent.providers.omission import without_files
from tenuto.agent.providers.wires.anthropic import AnthropicWire
from tenuto.agent.providers.wires.chat import ChatWire
from tenuto.agent.providers.wires.ollama import OllamaWire
from tenuto.agent.providers.wires.responses import ResponsesWire
from tenuto.agent.sizes import IMAGE, size_of
from tenuto.agent.trimming import squeeze
from tenuto.core.value import CallId
from tenuto.ports.model import (
    AssistantTurn,
    FileBlock,
    Model,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolTurn,
    Turn,
    UserTurn,
)
from tests.strict.pictures import png

PNG = png()
DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"
SEEN = FileBlock(name="plot.png", media_type="image/png", content=PNG)
CALLS = tuple(ToolCall(id=CallId(f"c{n}"), name="read_file", arguments="{}") for n in (1, 2))
SHOWN = ToolTurn(call_id=CallId("c1"), name="read_file", output="An image.", images=(SEEN,))
PLAIN = ToolTurn(call_id=CallId("c2"), name="read_file", output="two")
TURNS: tuple[Turn, ...] = (
    UserTurn(blocks=(TextBlock(text="Look"),)),
    AssistantTurn(blocks=CALLS),
    SHOWN,
    PLAIN,
)
SEES = Model(
    id="lab/eye", name="eye", provider="lab", context_window=100_000, capabilities=("vision",)
)
BLIND = Model(id="lab/ear", name="ear", provider="lab", context_window=100_000)
NOTE = {"type": "text", "text": "<note>The images that read_file gave:</note>"}
PICTURE = {"type": "image_url", "image_url": {"url": URL}}


def request(*turns: Turn) -> ModelRequest:
    return ModelRequest(model="eye", system="", turns=turns or TURNS)


def chat(*turns: Turn, model: Model = SEES) -> list[dict[str, Any]]:
    wire = ChatWire("https://lab.example/v1")
    messages: list[dict[str, Any]] = wire.body(request(*turns), model)["messages"]
    return messages


def test_one_wire_takes_them_in_the_result() -> None:
    body = AnthropicWire("").body(request(), SEES)
    source = {"type": "base64", "media_type": "image/png", "data": DATA}
    assert body["messages"][2]["content"][0]["content"] == [
        {"type": "text", "text": "An image."},
        {"type": "image", "source": source},
    ]


def test_one_takes_them_in_a_list_of_what_was_put_out() -> None:
    items = ResponsesWire("").body(request(), SEES)["input"]
    assert items[3] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [
            {"type": "input_text", "text": "An image."},
            {"type": "input_image", "image_url": URL},
        ],
    }
    assert items[4]["output"] == "two"


def test_one_takes_them_beside_the_text() -> None:
    messages = OllamaWire("").body(request(), SEES)["messages"]
    assert (messages[2]["content"], messages[2]["images"]) == ("An image.", [DATA])
    assert "images" not in messages[3]


def test_one_takes_none_in_a_result_so_they_follow_all_results_of_the_step() -> None:
    messages = chat()
    assert [message["role"] for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert (messages[2]["content"], messages[4]["content"]) == ("An image.", [NOTE, PICTURE])


def test_there_they_come_before_the_next_answer_and_before_what_the_user_says_next() -> None:
    answered = chat(*TURNS, AssistantTurn(blocks=(TextBlock(text="A plot."),)))
    assert [m["role"] for m in answered][3:] == ["tool", "user", "assistant"]
    said = chat(*TURNS, UserTurn(blocks=(TextBlock(text="And?"),)))
    assert said[-1]["content"] == [NOTE, PICTURE, {"type": "text", "text": "And?"}]
    assert [m["role"] for m in said][3:] == ["tool", "user"]


def test_a_template_that_lets_no_user_speak_after_a_tool_gets_an_answer_in_between() -> None:
    messages = ChatWire("https://api.mistral.ai/v1").body(request(), SEES)["messages"]
    assert [message["role"] for message in messages][3:] == ["tool", "assistant", "user"]


def test_a_model_that_does_not_see_is_told_so_in_the_result() -> None:
    turns = fit(request(), BLIND, AnthropicWire.limits).turns
    told = "An image.\n[Image plot.png (image/png, 71 bytes) cannot be seen by this model.]"
    assert turns[2] == ToolTurn(call_id=CallId("c1"), name="read_file", output=told)
    assert turns[3] == PLAIN


def test_a_broken_image_is_never_sent() -> None:
    broken = FileBlock(name="b.png", media_type="image/png", content=b"\x89PNG\xff\x00")
    turn = ToolTurn(call_id=CallId("c1"), name="look", output="", images=(broken, SEEN))
    [fitted] = fit(request(turn), SEES, AnthropicWire.limits).turns
    assert isinstance(fitted, ToolTurn)
    assert fitted.images == (SEEN,)
    assert fitted.output.startswith("[Image b.png (image/png, 6 bytes) is broken")


def test_of_too_many_images_the_newest_are_shown_whoever_gave_them() -> None:
    turns = [
        ToolTurn(call_id=CallId(f"c{n}"), name="look", output=f"{n}", images=(SEEN,) * 3)
        for n in range(10)
    ]
    fitted = fit(request(*turns), SEES, AnthropicWire.limits).turns
    assert [len(t.images) for t in fitted if isinstance(t, ToolTurn)] == [0, 0, 0, 2, *[3] * 6]


@pytest.mark.guarantee("E5")
def test_what_a_provider_refused_is_left_out_of_results_too() -> None:
    left = without_files(request()).turns[2]
    said = "An image.\n[The file plot.png was left out: this model does not take it.]"
    assert left == ToolTurn(call_id=CallId("c1"), name="read_file", output=said)


def test_where_calls_are_told_in_words_their_images_stay() -> None:
    flat = without_calls(TURNS)
    assert flat[-1] == UserTurn(
        blocks=(
            TextBlock(text="[read_file gave:]\nAn image."),
            SEEN,
            TextBlock(text="[read_file gave:]\ntwo"),
        )
    )


def test_they_count_and_are_cleared_with_their_result() -> None:
    assert size_of((SHOWN,)) == len("An image.") + IMAGE
    [short, same] = squeeze((SHOWN, PLAIN), to=100)
    assert isinstance(short, ToolTurn)
    assert short.images == ()
    assert short.output.startswith("An image.\n[… the rest of this result was cleared")
    assert same == PLAIN
