"""What an answer repeats of itself after a break is left out, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.overlap import Overlap

BEFORE = "The tides are made by the moon, which pulls at the wat"


def gone_on(before: str, *texts: str) -> str:
    overlap = Overlap(before)
    return before + "".join(overlap.take(text) for text in texts) + overlap.end()


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (("er.", " Twice a day."), f"{BEFORE}er. Twice a day."),
        # The last words again.
        (("which pulls at the water.",), f"{BEFORE}er."),
        (("which pul", "ls at the", " water."), f"{BEFORE}er."),
        # All of it again.
        ((BEFORE, "er."), f"{BEFORE}er."),
        (tuple(f"{BEFORE}er."), f"{BEFORE}er."),
        # Too little to be more than chance.
        (("at the wat",), f"{BEFORE}at the wat"),
        # It begins like a repetition, and is none.
        (("which pulls at the rope",), f"{BEFORE}which pulls at the rope"),
        # It ends within one: better twice than lost.
        (("which pulls",), f"{BEFORE}which pulls"),
        ((), BEFORE),
    ],
)
def test_what_is_said_again_is_left_out(texts: tuple[str, ...], whole: str) -> None:
    assert gone_on(BEFORE, *texts) == whole


@given(st.text(alphabet="ab "), st.lists(st.text(alphabet="ab ", max_size=5)))
def test_no_word_is_lost(before: str, texts: list[str]) -> None:
    new = "".join(texts)
    whole = gone_on(before, *texts)
    assert whole.startswith(before)
    assert new.endswith(whole[len(before) :])
    left_out = len(before) + len(new) - len(whole)
    assert left_out == 0 or (left_out >= 16 and before.endswith(new[:left_out]))


def test_all_of_a_long_answer_said_again_is_left_out() -> None:
    long = "".join(f"Line {n} of many.\n" for n in range(2000))
    assert gone_on(long, *(long[n : n + 100] for n in range(0, len(long), 100)), "New.") == (
        f"{long}New."
    )
