from hypothesis import given
from hypothesis import strategies as st

from tenuto.core.text import cut, whole

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def test_a_half_becomes_a_mark_and_a_pair_its_character() -> None:
    assert whole("a\ud83db") == "a\ufffdb"
    assert whole("a\ud83d\ude00b") == "a\U0001f600b"
    assert whole("\ude00\ud83d") == "\ufffd\ufffd"


@given(ANY_TEXT)
def test_what_is_whole_can_be_stored(text: str) -> None:
    assert whole(text).encode().decode() == whole(text)


@given(st.text())
def test_whole_text_stays_as_it_is(text: str) -> None:
    assert whole(text) == text


@given(ANY_TEXT, st.integers(1, 20))
def test_a_cut_text_is_whole_and_no_longer_than_asked(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit
    cut(text, limit).encode()


def test_a_cut_says_that_something_is_missing() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"
