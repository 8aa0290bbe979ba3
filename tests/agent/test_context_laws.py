"""Whatever a session went through, the next request is valid: laws over any transcript."""

import json
from itertools import pairwise

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.agent.context import build_turns
from tenuto.agent.sizes import size_of
from tenuto.agent.trimming import clear_old, squeeze
from tenuto.core.message import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolState,
    assistant_message,
    user_message,
)
from tenuto.core.value import CallId, FileId, PartId
from tenuto.ports.model import AssistantTurn, TextBlock, ToolTurn, Turn, UserTurn
from tests.core.test_run import NOW, QUEUED

TEXT = st.sampled_from(["", " ", "\n", "hi", "two\nlines", "🙂"]) | st.text(max_size=5)
PART_ID = st.uuids().map(lambda found: PartId(str(found)))
TEXTS = st.builds(TextPart, id=PART_ID, text=TEXT)
THOUGHTS = st.builds(ReasoningPart, id=PART_ID, text=TEXT)
FILES = st.builds(
    FilePart,
    id=PART_ID,
    file_id=st.sampled_from([FileId("kept"), FileId("gone")]),
    name=TEXT,
    media_type=st.just("text/plain"),
    size=st.just(1),
)
FINISHES = st.sampled_from(
    ["end_turn", "max_tokens", "cancelled", "interrupted", "error", "steered", None]
)


@st.composite
def calls(draw: st.DrawFn) -> ToolPart:
    """Ids repeat on purpose; an input is there only if all of its text is."""
    arguments = draw(st.sampled_from([None, {}, {"path": "a"}, {"x": [1, None]}]))
    streamed = "" if arguments is None else json.dumps(arguments)
    broken = draw(st.sampled_from(["", '{"pa', "[]", "nonsense"]))
    return ToolPart(
        id=draw(PART_ID),
        call_id=CallId(draw(st.sampled_from(["call_1", "call_2", "call_3"]))),
        name=draw(st.sampled_from(["shell", "read_file"])),
        input=arguments,
        input_text=streamed or broken,
        state=draw(st.sampled_from(ToolState)),
        output=draw(st.none() | TEXT),
        error=draw(st.none() | TEXT),
    )


@st.composite
def transcripts(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            parts: list[Part] = draw(st.lists(TEXTS | FILES, max_size=3))
            messages.append(replace(user_message(QUEUED, of=QUEUED.id), parts=tuple(parts)))
        else:
            parts = draw(st.lists(TEXTS | THOUGHTS | calls(), max_size=6))
            answer = assistant_message(QUEUED, of=QUEUED.id, now=NOW)
            messages.append(replace(answer, parts=tuple(parts), finish_reason=draw(FINISHES)))
    return messages


def check(turns: tuple[Turn, ...]) -> None:
    """What every provider demands of a conversation."""
    assert turns, "there is nothing to answer"
    assert not isinstance(turns[-1], AssistantTurn), "there is nothing to answer"
    for turn in turns:
        _check_content(turn)
    for one, next_one in pairwise(turns):
        assert not (isinstance(one, UserTurn) and isinstance(next_one, UserTurn))
        assert not (isinstance(one, AssistantTurn) and isinstance(next_one, AssistantTurn))
    at = 0
    while at < len(turns):
        turn = turns[at]
        assert not isinstance(turn, ToolTurn), "a result without its call"
        at += 1
        if not isinstance(turn, AssistantTurn):
            continue
        results = turns[at : at + len(turn.calls)]
        found = [(r.call_id, r.name) for r in results if isinstance(r, ToolTurn)]
        assert found == [(call.id, call.name) for call in turn.calls]
        assert len({call.id for call in turn.calls}) == len(turn.calls)
        at += len(turn.calls)


def _check_content(turn: Turn) -> None:
    match turn:
        case UserTurn():
            assert turn.blocks
            assert all(b.text.strip() for b in turn.blocks if isinstance(b, TextBlock))
        case AssistantTurn():
            assert turn.text.strip() or turn.calls
            for call in turn.calls:
                assert isinstance(msgspec.json.decode(call.arguments), dict)
        case ToolTurn():
            assert turn.name


@settings(max_examples=400)
@given(transcripts())
def test_every_transcript_becomes_a_valid_request(messages: list[Message]) -> None:
    check(build_turns(messages, {FileId("kept"): b"content"}))


@given(transcripts(), st.integers(0, 200))
def test_shortening_keeps_it_valid_and_never_makes_it_longer(
    messages: list[Message], to: int
) -> None:
    turns = build_turns(messages, {})
    for shorter in (squeeze(turns, to=to), clear_old(turns, window=to)):
        check(shorter)
        assert size_of(shorter) <= size_of(turns)
        assert len(shorter) == len(turns)


@given(transcripts())
def test_nothing_that_was_said_is_lost_on_the_way(messages: list[Message]) -> None:
    turns = build_turns(messages, {})
    told = "".join(
        t.text
        if isinstance(t, AssistantTurn)
        else "".join(b.text for b in t.blocks if isinstance(b, TextBlock))
        if isinstance(t, UserTurn)
        else t.output
        for t in turns
    )
    for message in messages:
        for part in message.parts:
            if isinstance(part, TextPart) and part.text.strip():
                assert part.text.strip() in told
