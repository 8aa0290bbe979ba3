"""What a model is told of cut-off answers, unfinished calls, files and steers."""

import re
from typing import Any

import pytest
from msgspec.structs import replace

from tenuto.agent.context import GO_ON, build_turns, files_of
from tenuto.core.message import FilePart, ReasoningPart, Seal, TextPart, ToolPart, ToolState
from tenuto.core.run import InputFile, InputText
from tenuto.core.value import CallId, FileId, PartId
from tenuto.ports.model import AssistantTurn, FileBlock, TextBlock, Thought, ToolTurn, UserTurn
from tests.agent.scripted import TranscriptBuilder


def text(words: str) -> TextPart:
    return TextPart(id=PartId(f"text {words}"), text=words)


def thought(words: str) -> ReasoningPart:
    return ReasoningPart(id=PartId(f"thought {words}"), text=words)


def call(name: str = "shell", number: int = 1, **fields: Any) -> ToolPart:
    known = {"input": {"a": 1}, "input_text": '{"a":1}', "state": ToolState.DONE, **fields}
    return ToolPart(
        id=PartId(f"{name} {number}"),
        call_id=CallId(f"call_{number}"),
        name=name,
        **known,
    )


def user(*words: str) -> UserTurn:
    return UserTurn(blocks=tuple(TextBlock(text=word) for word in words))


def said(*words: str) -> AssistantTurn:
    return AssistantTurn(blocks=tuple(TextBlock(text=word) for word in words))


def test_a_plain_conversation_is_told_as_it_was() -> None:
    talk = TranscriptBuilder().user("Hi").answer(text("Hello.")).user("Bye")
    assert build_turns(talk.messages, {}) == (
        user("Hi"),
        said("Hello."),
        user("Bye"),
    )


@pytest.mark.failure(7)
@pytest.mark.parametrize(
    ("finish", "note"),
    [
        ("cancelled", "<note>The user stopped your reply there.</note>"),
        ("interrupted", "<note>Your reply was cut off there because the server stopped.</note>"),
        ("error", "<note>Your reply was cut off there by an error.</note>"),
    ],
)
def test_what_was_cut_off_is_kept_and_said_to_be(finish: str, note: str) -> None:
    talk = TranscriptBuilder().user("Hi").answer(text("Hel"), finish=finish).user("Again")
    # Not in its own words, which a model would imitate.
    assert build_turns(talk.messages, {})[1:] == (said("Hel"), user(note, "Again"))


def test_an_answer_that_never_began_is_said_to_have_been_stopped() -> None:
    talk = TranscriptBuilder().user("Hi").answer(finish="cancelled").user("Again")
    note = "<note>The user stopped your reply there.</note>"
    assert build_turns(talk.messages, {}) == (user("Hi", note, "Again"),)


@pytest.mark.failure(3)
def test_thoughts_alone_are_kept_as_words_when_they_were_cut_off() -> None:
    talk = (
        TranscriptBuilder()
        .user("Hi")
        .answer(thought("They greet "), thought("me"), finish="cancelled")
    )
    note = "<note>The user stopped your reply there. You had thought so far: They greet me</note>"
    assert build_turns(talk.user("Again").messages, {}) == (user("Hi", note, "Again"),)


def test_thoughts_beside_words_stay_thoughts() -> None:
    talk = TranscriptBuilder().user("Hi").answer(thought("They greet."), text("Hello.")).user("Bye")
    assert build_turns(talk.messages, {})[1] == AssistantTurn(
        blocks=(Thought(text="They greet."), TextBlock(text="Hello."))
    )


def test_each_step_is_a_turn_with_its_calls_and_their_results() -> None:
    talk = (
        TranscriptBuilder()
        .user("Look")
        .answer(
            text("First."),
            call(number=1, output="one"),
            call(number=2, output="two"),
            text("Then."),
            call("read_file", 3, output="three"),
            text("Done."),
        )
    )
    turns = build_turns(talk.user("Thanks").messages, {})
    one, two, three = (
        call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls
    )
    assert (one.arguments, two.arguments, three.arguments) == ('{"a":1}',) * 3
    assert turns == (
        user("Look"),
        AssistantTurn(blocks=(TextBlock(text="First."), one, two)),
        ToolTurn(call_id=one.id, name="shell", output="one"),
        ToolTurn(call_id=two.id, name="shell", output="two"),
        AssistantTurn(blocks=(TextBlock(text="Then."), three)),
        ToolTurn(call_id=three.id, name="read_file", output="three"),
        said("Done."),
        user("Thanks"),
    )


@pytest.mark.parametrize("theirs", ["functions.read:0", "call_" + "x" * 60, "toolu_01!", "call_1"])
def test_the_ids_of_calls_are_ours_whatever_the_model_called_them(theirs: str) -> None:
    """Each wire refuses some of the others' ids, for ever after: every one takes these."""
    part = call(number=1, output="one")
    parts = [replace(part, id=PartId(f"prt_{n}"), call_id=CallId(theirs)) for n in range(2)]
    turns = build_turns(TranscriptBuilder().user("Look").answer(*parts).user("Thanks").messages, {})
    calls = [c for turn in turns if isinstance(turn, AssistantTurn) for c in turn.calls]
    results = [turn.call_id for turn in turns if isinstance(turn, ToolTurn)]
    assert [c.id for c in calls] == results
    assert len(set(results)) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", one) for one in results)


@pytest.mark.parametrize(
    "altered",
    [{"name": "read file!"}, {"input": None, "input_text": '{"pa'}],
    ids=["another name", "cut off"],
)
def test_a_call_that_is_not_told_as_it_was_made_is_told_without_its_seal(
    altered: dict[str, Any],
) -> None:
    seal = Seal(wire="w", model="house/m", data="1")
    made = call(seal=seal)
    for part, expected in ((made, seal), (replace(made, **altered), None)):
        built = TranscriptBuilder().user("Go").answer(part)
        (turn,) = (t for t in build_turns(built.messages, {}) if isinstance(t, AssistantTurn))
        assert [call.seal for call in turn.calls] == [expected]


def test_a_seal_closes_the_thoughts_before_it() -> None:
    seal = Seal(wire="w", model="house/m", data='{"signature":"s"}')
    parts = (thought("One "), thought("two."), ReasoningPart(id=PartId("seal"), seal=seal))
    talk = (
        TranscriptBuilder().user("Hi").answer(*parts, thought("Three."), text("Hello.")).user("Bye")
    )
    assert build_turns(talk.messages, {})[1] == AssistantTurn(
        blocks=(
            Thought(text="One two.", seal=seal),
            Thought(text="Three."),
            TextBlock(text="Hello."),
        )
    )


@pytest.mark.failure(4)
@pytest.mark.parametrize(
    ("state", "fields", "output"),
    [
        ("done", {"output": "x"}, "x"),
        ("done", {"output": None}, ""),
        ("failed", {"error": "No such file."}, "No such file."),
        ("denied", {"error": "The user did not allow this."}, "The user did not allow this."),
        ("cancelled", {}, "This call was stopped before it finished."),
        (
            "cancelled",
            {"output": "half"},
            "This call was stopped before it finished. Its output so far:\nhalf",
        ),
        (
            "interrupted",
            {},
            "The server stopped before this call finished; it may have had effects.",
        ),
    ],
)
def test_every_call_has_one_result_whatever_became_of_it(
    state: str, fields: dict[str, Any], output: str
) -> None:
    talk = (
        TranscriptBuilder().user("Go").answer(call(state=ToolState(state), **fields)).user("And?")
    )
    _, asked, result, _ = build_turns(talk.messages, {})
    assert isinstance(asked, AssistantTurn) and len(asked.calls) == 1
    assert isinstance(result, ToolTurn)
    assert (result.output, result.failed) == (output, state != "done")


@pytest.mark.failure(4)
def test_a_call_whose_input_was_cut_off_is_told_with_valid_arguments() -> None:
    half = call(input=None, input_text='{"comm', state=ToolState.CANCELLED)
    turns = build_turns(
        TranscriptBuilder().user("Go").answer(half, finish="cancelled").messages, {}
    )
    assert isinstance(turns[1], AssistantTurn)
    assert turns[1].calls[0].arguments == "{}"


@pytest.mark.parametrize(
    ("name", "told"),
    [("shell", "shell"), ("", "unknown"), ("a b.c\ufffd", "a_b_c_"), ("n" * 300, "n" * 64)],
)
def test_a_call_of_an_odd_name_does_not_spoil_the_requests_after_it(name: str, told: str) -> None:
    talk = TranscriptBuilder().user("Go").answer(call(name, state=ToolState.FAILED)).user("And?")
    _, asked, result, _ = build_turns(talk.messages, {})
    assert isinstance(asked, AssistantTurn) and isinstance(result, ToolTurn)
    assert (asked.calls[0].name, result.name) == (told, told)


def test_the_same_id_in_two_steps_makes_two_calls_with_a_result_each() -> None:
    talk = TranscriptBuilder().user("Go").answer(call(output="one"), call(output="two"))
    turns = build_turns(talk.messages, {})
    assert [type(turn).__name__ for turn in turns] == [
        "UserTurn",
        "AssistantTurn",
        "ToolTurn",
        "AssistantTurn",
        "ToolTurn",
    ]


def test_an_answer_at_the_end_is_asked_to_go_on() -> None:
    talk = TranscriptBuilder().user("Hi").answer(text("Hel"), finish="interrupted")
    note = "<note>Your reply was cut off there because the server stopped.</note>"
    assert build_turns(talk.messages, {})[-1] == user(note, GO_ON)


def test_calls_of_two_answers_are_two_steps_also_if_nothing_was_said_between() -> None:
    one, two = (
        replace(call(number=n, output="x"), id=PartId(f"prt_a_{n}_1"), call_id=CallId(f"c{n}"))
        for n in (1, 2)
    )
    turns = build_turns(TranscriptBuilder().user("Go").answer(one, two).messages, {})
    assert [type(turn).__name__ for turn in turns[1:]] == ["AssistantTurn", "ToolTurn"] * 2
    beside = replace(two, id=PartId("prt_a_1_2"))
    turns = build_turns(TranscriptBuilder().user("Go").answer(one, beside).messages, {})
    assert [type(turn).__name__ for turn in turns[1:]] == ["AssistantTurn", "ToolTurn", "ToolTurn"]


def test_a_seal_is_not_of_what_was_thought_before_a_break() -> None:
    seal = Seal(wire="w", model="m", data="{}")
    broken = ReasoningPart(id=PartId("prt_a_1_1"), text="Half a th")
    whole = ReasoningPart(id=PartId("prt_a_2_1"), text="A thought.", seal=seal)
    talk = TranscriptBuilder().user("Go").answer(broken, whole, text("Yes."))
    assert build_turns(talk.messages, {})[1] == AssistantTurn(
        blocks=(
            Thought(text="Half a th"),
            Thought(text="A thought.", seal=seal),
            TextBlock(text="Yes."),
        )
    )


def test_after_a_summary_of_everything_there_is_still_something_to_answer() -> None:
    assert build_turns([], {}) == (user(GO_ON),)


def test_a_steer_is_told_where_it_was_said() -> None:
    talk = TranscriptBuilder().user("Go").answer(text("Going."), call(output="x"), finish="steered")
    talk.user("Left!").answer(finish=None)
    *_, result, steer = build_turns(talk.messages[:-1], {})
    assert isinstance(result, ToolTurn)
    assert steer == user("Left!")


def test_prompts_in_a_row_become_one_turn() -> None:
    assert build_turns(TranscriptBuilder().user("One").user("Two").messages, {}) == (
        user("One", "Two"),
    )


def test_files_go_along_and_missing_ones_are_said_to_be_gone() -> None:
    def file(name: str) -> InputFile:
        return InputFile(file_id=FileId(name), name=f"{name}.txt", media_type="text/plain", size=1)

    talk = TranscriptBuilder().user([InputText(text="Read"), file("kept"), file("gone")])
    assert files_of(talk.messages) == {"kept", "gone"}
    assert build_turns(talk.messages, {FileId("kept"): b"x"}) == (
        UserTurn(
            blocks=(
                TextBlock(text="Read"),
                FileBlock(id="kept", name="kept.txt", media_type="text/plain", content=b"x"),
                TextBlock(text="[The file gone.txt is no longer there.]"),
            )
        ),
    )
    assert isinstance(talk.messages[0].parts[1], FilePart)
