"""Where a summary may end: never after what a model has just been given, never in an open end."""

from msgspec.structs import replace

from tenuto.agent.compaction import find_cut
from tenuto.core.message import ToolPart
from tenuto.core.value import CallId, PartId
from tests.agent.scripted import TranscriptBuilder
from tests.agent.test_context import call, text


def looked(step: int, size: int = 1_000) -> ToolPart:
    part = call(number=step, output="x" * size)
    return replace(part, id=PartId(f"prt_a_{step}_1"), call_id=CallId(f"c{step}"))


def test_what_came_before_the_last_prompt_goes_if_that_is_enough() -> None:
    talk = TranscriptBuilder().user("One").answer(text("1")).user("Two").answer(finish=None)
    cut = find_cut(talk.messages, keep=100)
    assert cut is not None
    assert ([message.text() for message in cut.messages], cut.part) == (["One", "1"], None)


def test_else_also_the_beginning_of_the_answer_under_way() -> None:
    talk = TranscriptBuilder().user("One").answer(text("1")).user("Two")
    talk.answer(*(looked(step) for step in range(1, 9)), finish=None)
    cut = find_cut(talk.messages, keep=2_500)
    assert cut is not None
    assert cut.part == "prt_a_6_1"
    assert [len(message.parts) for message in cut.messages] == [1, 1, 1, 6]


def test_calls_that_were_made_together_are_not_parted() -> None:
    beside = replace(looked(2), id=PartId("prt_a_1_2"))
    talk = TranscriptBuilder().user("Go").answer(looked(1), beside, looked(3), finish=None)
    cut = find_cut(talk.messages, keep=1_500)
    assert cut is not None
    assert cut.part == "prt_a_1_2"


def test_what_the_last_calls_gave_is_always_told() -> None:
    talk = TranscriptBuilder().user("Go").answer(looked(1, 90_000), looked(2, 90_000), finish=None)
    cut = find_cut(talk.messages, keep=10)
    assert cut is not None
    assert cut.part == "prt_a_1_1"
    assert (
        find_cut(TranscriptBuilder().user("Go").answer(looked(1), finish=None).messages, keep=10)
        is None
    )


def test_an_answer_under_way_of_which_the_prompt_is_gone_is_never_summed_up_whole() -> None:
    """It goes on growing, and what comes after the summary must be told."""
    (rest,) = TranscriptBuilder().answer(looked(5), finish=None).messages
    assert find_cut([rest], keep=10) is None
    (rest,) = TranscriptBuilder().answer(looked(5), looked(6), finish=None).messages
    cut = find_cut([rest], keep=10)
    assert cut is not None
    assert cut.part == "prt_a_5_1"
    assert find_cut([], keep=10) is None
