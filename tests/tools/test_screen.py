"""What commands print, made readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.tools.output import Scroll
from tenuto.agent.tools.screen import Screen


def shown(*pieces: bytes, limit: int = 10_000) -> str:
    scroll = Scroll(limit)
    screen = Screen(scroll)
    for piece in pieces:
        screen.hear(piece)
    screen.close()
    return scroll.text()


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (b"one\ntwo\n", "one\ntwo\n"),
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"10 %\r50 %\r100 %\ndone\n", "100 %\ndone\n"),
        (b"\x1b[31mred\x1b[0m and \x1b[1;4mbold\x1b[m\n", "red and bold\n"),
        (b"\x1b]0;a title\x07text\n", "text\n"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
        (b"abc\b\b\bxyz\n", "xyz\n"),
        (b"a\x00b\x00", "a\nb\n"),
        (b"bell\x07 and \x0e more\n", "bell and  more\n"),
        ("ümläut 漢字 🙂\n".encode(), "ümläut 漢字 🙂\n"),
        (b"caf\xe9\n", "caf\ufffd\n"),
    ],
)
def test_what_a_terminal_would_show_in_the_end_is_what_is_kept(printed: bytes, text: str) -> None:
    assert shown(printed) == text


@given(st.data())
def test_it_does_not_matter_where_the_pieces_end(data: st.DataObject) -> None:
    printed = "a\x1b[31mré\x1b[0m\r\n漢\x1b]0;t\x07字 5 %\r100 %\nx\by\n".encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(printed)), max_size=6)))
    pieces = [printed[a:b] for a, b in zip([0, *cuts], [*cuts, len(printed)], strict=True)]
    assert shown(*pieces) == shown(printed) == "aré\n100 %\ny\n"


def test_what_is_no_text_is_counted() -> None:
    picture = bytes(range(256)) * 8
    assert shown(b"before\n", picture, b"after\n") == (
        "before\n[2,048 bytes that are no text left out]after\n"
    )


def test_a_bar_that_never_ends_its_line_stays_one_line() -> None:
    assert shown(*(b"%d %%\r" % n for n in range(100_000)), b"\n") == "99999 %\n"


def test_a_code_that_never_ends_keeps_nothing_back_for_ever() -> None:
    assert shown(b"\x1b]0;" + b"x" * 100_000 + b"\nhello\n").endswith("hello\n")
