"""A model that goes round in circles is noticed, and one that makes progress is not."""

import pytest

from tenuto.agent.repeats import Repeats
from tenuto.core.message import ToolPart
from tenuto.core.value import CallId, PartId


def step(word: str, output: str = "same") -> list[ToolPart]:
    part_id, call_id = PartId("prt_1"), CallId("call_1")
    return [ToolPart(id=part_id, call_id=call_id, name="look", input_text=word, output=output)]


def ends_at(words: str) -> int | None:
    """The step at which it is noticed; each letter is a call, a capital one gets a new result."""
    repeats = Repeats(4)
    for number, word in enumerate(words, start=1):
        output = f"new {number}" if word.isupper() else "same"
        if repeats.again(step(word, output)):
            return number
    return None


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("aaaa", 4),
        ("xaaaay", 5),
        ("abababab", 7),
        ("abbabbab", 6),
        ("AAAAAAAAAA", None),
        ("abcdefgh" * 4, None),
        ("aaab" + "cdefghij" + "aaa", None),
    ],
)
def test_the_same_calls_with_the_same_results_are_a_circle(words: str, step: int | None) -> None:
    assert ends_at(words) == step
