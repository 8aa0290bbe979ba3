"""Messages: made from prompts, turned back into prompts, closed when a run ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.core.message import (
    FilePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolState,
    assistant_message,
    close_tools,
    left_open,
    parts_input,
    user_message,
)
from tenuto.core.run import Input, InputFile, InputText
from tenuto.core.value import CallId, FileId, Instant, PartId, RunId
from tests.core.test_run import NOW, QUEUED

FILES = st.builds(
    InputFile,
    file_id=st.text(min_size=1).map(FileId),
    name=st.text(),
    media_type=st.text(),
    size=st.integers(0),
)
TEXTS = st.builds(InputText, text=st.text())
LISTS = st.lists(TEXTS | FILES, min_size=2) | st.lists(FILES, min_size=1)
STATES = st.sampled_from(ToolState)


def message_of(given: Input) -> Message:
    return user_message(replace(QUEUED, input=given), of=QUEUED.id)


@given(st.text() | LISTS)
def test_a_user_message_gives_back_the_prompt_that_made_it(prompt: Input) -> None:
    assert parts_input(message_of(prompt)) == prompt


def test_a_list_of_one_text_is_the_same_prompt_as_the_text() -> None:
    assert parts_input(message_of([InputText(text="hi")])) == "hi"
    assert message_of([InputText(text="hi")]) == message_of("hi")


def test_a_prompt_becomes_a_whole_message_at_the_time_it_was_accepted() -> None:
    message = message_of("hi")
    assert (message.role, message.finish_reason, message.created_at) == ("user", "end_turn", NOW)
    assert message.parts == (TextPart(id=PartId("prt_1_u0"), text="hi"),)


def test_the_parts_of_a_message_have_different_ids() -> None:
    file = InputFile(file_id=FileId("fil_1"), name="a", media_type="text/plain", size=1)
    parts = message_of([InputText(text="a"), file, InputText(text="a")]).parts
    assert [part.id for part in parts] == ["prt_1_u0", "prt_1_u1", "prt_1_u2"]
    assert isinstance(parts[1], FilePart) and parts[1].name == "a"


def test_a_message_belongs_to_the_run_that_answers_it() -> None:
    other = RunId("run_2")
    assert user_message(QUEUED, of=other).run_id == other
    assert user_message(QUEUED, of=other).id == user_message(QUEUED, of=QUEUED.id).id


def test_an_answer_cannot_be_turned_into_a_prompt() -> None:
    answer = assistant_message(QUEUED, of=QUEUED.id, now=NOW)
    thought = replace(answer, parts=(ReasoningPart(id=PartId("p"), text="hm"),))
    with pytest.raises(ValueError, match="ReasoningPart"):
        parts_input(thought)


def test_the_text_of_a_message_is_what_was_said_and_not_what_was_thought() -> None:
    parts = (
        ReasoningPart(id=PartId("1"), text="hm"),
        TextPart(id=PartId("2"), text="one"),
        ToolPart(id=PartId("3"), call_id=CallId("c"), name="shell"),
        TextPart(id=PartId("4"), text="two"),
    )
    message = replace(assistant_message(QUEUED, of=QUEUED.id, now=NOW), parts=parts)
    assert message.text() == "one\ntwo"


@given(st.lists(STATES), st.sampled_from([ToolState.CANCELLED, ToolState.INTERRUPTED]))
def test_closing_touches_unfinished_calls_and_nothing_else(
    states: list[ToolState], closed: ToolState
) -> None:
    parts = tuple(
        ToolPart(id=PartId(str(n)), call_id=CallId(str(n)), name="t", state=state, input_text="{")
        for n, state in enumerate(states)
    )
    text = TextPart(id=PartId("text"), text="hi")
    answer = assistant_message(QUEUED, of=QUEUED.id, now=Instant(NOW))
    answer = replace(answer, parts=(text, *parts))
    changed, whole = left_open(answer), close_tools(answer, closed)
    unfinished = ("input_streaming", "waiting_approval", "running")
    expected = [closed if state in unfinished else state for state in states]
    assert whole.parts[0] == text
    assert [part.state for part in whole.parts[1:] if isinstance(part, ToolPart)] == expected
    assert [part.id for part in changed] == [
        str(n) for n, state in enumerate(states) if state in unfinished
    ]
    assert all(part.input_text == "{" for part in changed)
    assert (close_tools(whole, closed), left_open(whole)) == (whole, ())
