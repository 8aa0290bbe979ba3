"""Events come out the same wherever the network cuts their bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.agent.providers.connection import sse
from tenuto.agent.providers.connection.sse import EventLines, EventTooLong

STREAM = (
    b": a comment\n\n"
    b'data: {"a": 1}\n\n'
    b'event: named\r\ndata: {"b":\r\ndata:  2}\r\n\r\n'
    b"id: 7\nretry: 10\n\n"
    b"data:no space\n\n"
    b"data: caf\xc3\xa9 \xf0\x9f\x98\x80\n\n\n\n"
    b"data: [DONE]\n\n"
)
EVENTS = [
    b'{"a": 1}',
    b'{"b":\n 2}',
    b"no space",
    b"caf\xc3\xa9 \xf0\x9f\x98\x80",
    b"[DONE]",
]


@given(st.sets(st.integers(min_value=1, max_value=len(STREAM) - 1)))
def test_events_are_the_same_wherever_the_bytes_are_cut(cuts: set[int]) -> None:
    lines = EventLines()
    edges = [0, *sorted(cuts), len(STREAM)]
    events = []
    for start, end in pairwise(edges):
        events += lines.feed(STREAM[start:end])
    assert events + lines.end() == EVENTS


def test_an_event_without_its_blank_line_is_given_at_the_end() -> None:
    lines = EventLines()
    assert lines.feed(b"data: one\n\ndata: [DONE]") == [b"one"]
    assert lines.end() == [b"[DONE]"]
    assert lines.end() == []


@pytest.mark.failure(53)
def test_an_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST_EVENT", 1000)
    lines = EventLines()
    for _ in range(10):
        assert lines.feed(b"data: short\n\n" * 50)
    with pytest.raises(EventTooLong):
        for _ in range(11):
            lines.feed(b"x" * 100)


def test_a_long_wait_with_signs_of_life_is_no_long_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST_EVENT", 1000)
    lines = EventLines()
    for _ in range(100):
        assert lines.feed(b": still loading\n\n") == []
        assert lines.feed(b"data: short\n\n") == [b"short"]
    for _ in range(100):
        assert lines.feed(b": still loading\n\n") == []
