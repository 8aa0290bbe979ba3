"""What those who watch see of an output that grows."""

from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.tools.output import LiveScroll

LIMIT = 20


@given(st.lists(st.text(alphabet="ab\n", min_size=1, max_size=15), max_size=60))
def test_it_is_added_to_until_it_is_three_times_as_long_and_then_its_middle_goes(
    pieces: list[str],
) -> None:
    live, whole, before, shortened = LiveScroll(LIMIT), "", "", 0
    for piece in pieces:
        live.add(piece)
        whole += piece
        now = live.text()
        if not now.startswith(before):
            shortened += 1
            assert len(before) + len(piece) > 3 * LIMIT - 60
        before = now
        assert now == whole or (now.startswith(whole[:10]) and now.endswith(whole[-10:]))
        assert len(now) <= 3 * LIMIT + 80
    # Each time, at least twice the limit has come.
    assert shortened <= len(whole) / (2 * LIMIT)


def test_what_is_left_out_is_counted() -> None:
    live = LiveScroll(LIMIT)
    live.add("a" * 61)
    live.add("b")
    assert live.text() == (
        "a" * 10 + "\n[41 characters left out here: output is capped at 20]\n" + "a" * 10 + "b"
    )
