"""A character that a provider split comes out whole, and nothing comes out that cannot be stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.providers.connection.split import Seam, decode_odd

pytestmark = pytest.mark.failure(61)

TEXT = st.text(st.characters(codec="utf-8", max_codepoint=0x10FEFF))
"""All but the last private characters, which stand for bytes that are none."""


def joined(*pieces: str) -> str:
    seam = Seam()
    return "".join(seam.join(piece) for piece in pieces) + seam.end()


def test_halves_of_a_pair_are_joined() -> None:
    assert joined("a\ud83d", "\ude00b") == "a😀b"


def test_nothing_but_whole_characters_leaves_in_between() -> None:
    seam = Seam()
    assert seam.join("a\ud83d") == "a"
    assert seam.join("\ude00") == "😀"


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("a\ud83d", "b"), "a\ufffdb"),
        (("a", "\ude00b"), "a\ufffdb"),
        (("a\ud83d",), "a\ufffd"),
        (("\ud83d", "\ud83d", "\ude00"), "\ufffd😀"),
    ],
)
def test_a_half_without_its_partner_becomes_a_replacement(
    pieces: tuple[str, ...], text: str
) -> None:
    assert joined(*pieces) == text


@given(TEXT, st.data())
def test_any_text_cut_between_its_bytes_comes_out_the_same(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    cut = data.draw(st.integers(min_value=0, max_value=len(encoded)))
    quoted = [_quote(encoded[:cut]), _quote(encoded[cut:])]
    assert joined(*(decode_odd(piece) for piece in quoted)) == text


@given(TEXT, st.data())
def test_any_text_cut_between_its_utf16_units_comes_out_the_same(
    text: str, data: st.DataObject
) -> None:
    units = text.encode("utf-16-be")
    cut = 2 * data.draw(st.integers(min_value=0, max_value=len(units) // 2))
    pieces = [part.decode("utf-16-be", "surrogatepass") for part in (units[:cut], units[cut:])]
    assert joined(*(decode_odd(json.dumps(piece).encode()) for piece in pieces)) == text


@given(st.lists(st.text(st.characters(codec=None, categories=["Cs", "Ll"]))))
def test_whatever_goes_in_can_be_stored(pieces: list[str]) -> None:
    joined(*pieces).encode()


def _quote(part: bytes) -> bytes:
    """A JSON string of bytes that need not be UTF-8."""
    escaped = b"".join(b"\\u%04x" % b if b < 32 or b in b'"\\' else bytes([b]) for b in part)
    return b'"' + escaped + b'"'
