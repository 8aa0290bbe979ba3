"""Passages that are meant, though they are not written exactly as the file has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.tools.files.passage import Replacement, edited
from tenuto.ports.tool import ToolFailed

CODE = """class House:
    def open(self):
        if self.locked:
            raise Locked()
        return self.door

    def close(self):
        return None
"""


def change(text: str, old: str, new: str) -> tuple[str, str]:
    done = edited(text, Replacement(old=old, new=new))
    assert done.count == 1
    return done.text, done.remark


def refused(text: str, old: str, new: str = "y") -> str:
    with pytest.raises(ToolFailed) as caught:
        edited(text, Replacement(old=old, new=new))
    return str(caught.value)


def test_what_is_there_as_it_was_written_is_replaced_without_a_remark() -> None:
    text, remark = change(CODE, "return None", "return 1")
    assert text == CODE.replace("return None", "return 1")
    assert remark == ""


def test_lines_that_are_indented_less_are_found_and_new_lines_are_indented_as_the_file_is() -> None:
    old = "if self.locked:\n    raise Locked()\n"
    new = "if self.locked:\n    log()\n    raise Locked()\nself.knock()\n"
    text, remark = change(CODE, old, new)
    assert text == CODE.replace(
        "            raise Locked()\n",
        "            log()\n            raise Locked()\n        self.knock()\n",
    )
    assert "indentation" in remark


def test_two_blanks_for_four_are_understood_also_for_deeper_lines() -> None:
    old = "  def open(self):\n    if self.locked:\n"
    new = "  def open(self):\n    while self.busy:\n      wait()\n    if self.locked:\n"
    text, _ = change(CODE, old, new)
    assert (
        "    def open(self):\n"
        "        while self.busy:\n"
        "            wait()\n"
        "        if self.locked:\n"
    ) in text


def test_tabs_in_the_file_stay_tabs() -> None:
    text, _ = change("a:\n\tb\n\tc\n", "    b\n    c", "    b\n        d\n    c")
    assert text == "a:\n\tb\n\t\td\n\tc\n"


def test_blanks_at_the_ends_of_lines_do_not_matter() -> None:
    text, remark = change("one  \ntwo\t\nthree\n", "one\ntwo", "1\n2")
    assert text == "1\n2\nthree\n"
    assert "Blanks" in remark


def test_line_numbers_that_were_copied_are_left_out() -> None:
    text, remark = change(
        "one\ntwo\nthree\n", "     1\tone\n     2\ttwo", "     1\tuno\n     2\tdos"
    )
    assert text == "uno\ndos\nthree\n"
    assert "numbers" in remark


def test_line_endings_stay_those_of_the_file_where_the_indentation_differs() -> None:
    text, _ = change("a\r\n    b\r\n    c\r\n", "b\nc", "b\nd\nc")
    assert text == "a\r\n    b\r\n    d\r\n    c\r\n"


def test_lines_can_be_removed_although_their_indentation_differs() -> None:
    text, _ = change("a\n    b\n    c\nd\n", "b\nc", "")
    assert text == "a\nd\n"


def test_two_places_that_are_alike_are_not_guessed_between() -> None:
    said = refused("  a\n  b\nx\n    a\n    b\n", "a\nb")
    assert said.startswith("old occurs 2 times, at lines 1, 4.")


def test_all_of_them_are_changed_where_that_is_asked_for() -> None:
    done = edited("  a\n  b\nx\n    a\n    b\n", Replacement(old="a\nb", new="c", everywhere=True))
    assert (done.text, done.count) == ("  c\nx\n    c\n", 2)


def test_part_of_a_line_is_never_changed_by_likeness() -> None:
    assert "does not occur" in refused("value = compute( a, b )\n", "compute(a, b)")


def test_a_difference_in_the_third_line_is_named() -> None:
    said = refused(CODE, "    def open(self):\n        if self.locked:\n            raise Closed()")
    assert "     2\t    def open(self):\n" in said
    assert said.endswith(
        "Line 4 is '            raise Locked()', and old has '            raise Closed()'."
    )


def test_many_places_are_named_up_to_a_few() -> None:
    assert "at lines 1, 2, 3, 4, 5, 6, 7, 8 …" in refused("x\n" * 30, "x")


LINES = st.lists(st.sampled_from(["a", "b", "  a", "    b", "\tc", "", "x y", "d\r"]), max_size=12)


@given(LINES, LINES, LINES)
def test_whatever_is_asked_the_rest_of_the_file_stays(
    before: list[str], old: list[str], new: list[str]
) -> None:
    text = "\n".join(["TOP", *before, "END"])
    try:
        done = edited(text, Replacement(old="\n".join(old) or "?", new="\n".join(new)))
    except ToolFailed:
        return
    assert done.text.startswith("TOP")
    assert done.text.endswith("END")
