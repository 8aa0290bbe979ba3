"""Frames come out whole, however the bytes were cut."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tenuto.client.sse import Frame, FrameParser

WIRE = (
    ": heartbeat\n\n"
    'id: 1\nevent: part.delta\ndata: {"text":"naïve 🎻"}\n\n'
    ":\n\n"
    'id: 2\r\nevent: run.finished\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    "data:bare\n\n"
    'id: 3\nevent: part.delta\ndata: {"never":"whole"}\n'
).encode()
FRAMES = [
    Frame(id="1", event="part.delta", data='{"text":"naïve 🎻"}'),
    Frame(id="2", event="run.finished", data='{"a":\n1}'),
    Frame(id="", event="message", data="bare"),
]


@given(st.lists(st.integers(0, len(WIRE))))
def test_frames_are_the_same_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(WIRE)]
    parser = FrameParser()
    frames = []
    for start, end in pairwise(edges):
        frames += parser.feed(WIRE[start:end])
    assert frames == FRAMES


def test_a_frame_is_given_as_soon_as_it_is_whole() -> None:
    parser = FrameParser()
    assert parser.feed(b"id: 1\ndata: x\n") == []
    assert parser.feed(b"\n") == [Frame(id="1", event="message", data="x")]
