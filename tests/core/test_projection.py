"""The fold: live and reload are one function, and its laws."""

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tenuto.core.event import (
    Event,
    MessageFinished,
    MessageStarted,
    PartDelta,
    PartField,
    PartStarted,
    PartUpdated,
    RunFinished,
    SessionRewound,
    SessionUpdated,
)
from tenuto.core.message import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolChange,
    ToolPart,
    ToolState,
    assistant_message,
    change_of,
    user_message,
)
from tenuto.core.projection import Transcript, session_after
from tenuto.core.run import Usage, WhenBusy
from tenuto.core.session import Session, SessionChanges
from tenuto.core.value import CallId, Instant, MessageId, PartId, RunId
from tests.core.little_store import LittleStore, ending, plain
from tests.core.test_run import NOW, QUEUED
from tests.core.test_working import steer

COMMON: dict[str, Any] = {"session_id": QUEUED.session_id, "run_id": QUEUED.id, "at": NOW}
ANSWER = assistant_message(QUEUED, of=QUEUED.id, now=NOW)
OPENED = MessageStarted(**COMMON, message=ANSWER)
KINDS: list[Part] = [
    TextPart(id=PartId("prt_1")),
    ReasoningPart(id=PartId("prt_1")),
    ToolPart(id=PartId("prt_1"), call_id=CallId("call_1"), name="shell"),
]


def transcript_of(*events: Event) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    return transcript


def delta(text: str, offset: int = 0) -> PartDelta:
    return PartDelta(
        **COMMON, message_id=ANSWER.id, part_id=PartId("prt_1"), offset=offset, text=text
    )


def text_of(part: Part) -> str:
    assert isinstance(part, TextPart | ReasoningPart | ToolPart)
    return part.input_text if isinstance(part, ToolPart) else part.text


def only_part(*events: Event) -> Part:
    (message,) = transcript_of(OPENED, *events).messages()
    (part,) = message.parts
    return part


@given(st.sampled_from(KINDS), st.text(min_size=1), st.lists(st.integers(0, 50)), st.booleans())
def test_deltas_split_anywhere_fold_to_the_same(
    part: Part, text: str, cuts: list[int], read_between: bool
) -> None:
    places = sorted({0, len(text), *(cut % len(text) for cut in cuts)})
    transcript = transcript_of(OPENED, PartStarted(**COMMON, message_id=ANSWER.id, part=part))
    for start, end in itertools.pairwise(places):
        transcript.apply(delta(text[start:end], start))
        if read_between:
            transcript.messages()
    (message,) = transcript.messages()
    (grown,) = message.parts
    assert text_of(grown) == text


def test_an_update_is_the_whole_part_and_growing_goes_on_from_it() -> None:
    whole = TextPart(id=PartId("prt_1"), text="whole")
    part = only_part(
        PartStarted(**COMMON, message_id=ANSWER.id, part=TextPart(id=PartId("prt_1"))),
        delta("ha"),
        PartUpdated(**COMMON, message_id=ANSWER.id, part=whole),
        delta(" and more", 5),
    )
    assert part == TextPart(id=PartId("prt_1"), text="whole and more")


CALL = ToolPart(id=PartId("prt_1"), call_id=CallId("call_1"), name="shell")


def test_what_an_update_of_a_call_leaves_out_stays_as_it_was() -> None:
    printed = PartDelta(
        **COMMON,
        message_id=ANSWER.id,
        part_id=CALL.id,
        field=PartField.OUTPUT,
        offset=0,
        text="a\n",
    )
    ended = ToolChange(
        id=CALL.id, call_id=CALL.call_id, name="shell", state=ToolState.DONE, details={"n": 0}
    )
    part = only_part(
        PartStarted(**COMMON, message_id=ANSWER.id, part=CALL),
        delta('{"a": 1}'),
        PartUpdated(
            **COMMON,
            message_id=ANSWER.id,
            part=ToolChange(
                id=CALL.id,
                call_id=CALL.call_id,
                name="shell",
                state=ToolState.RUNNING,
                input={"a": 1},
            ),
        ),
        printed,
        PartUpdated(**COMMON, message_id=ANSWER.id, part=ended),
    )
    assert part == replace(
        CALL,
        input={"a": 1},
        input_text='{"a": 1}',
        output="a\n",
        state=ToolState.DONE,
        details={"n": 0},
    )


def test_a_change_tells_what_is_small_and_what_is_new() -> None:
    known = replace(CALL, input={"a": 1}, input_text='{"a": 1}', output="a")
    running = replace(known, state=ToolState.RUNNING)
    assert msgspec.to_builtins(change_of(known, running)) == {
        "type": "tool",
        "id": "prt_1",
        "call_id": "call_1",
        "name": "shell",
        "state": "running",
        "error": None,
    }
    gone = change_of(known, replace(running, output=None))
    assert msgspec.to_builtins(gone)["output"] is None
    assert gone.on(known).output is None


def test_a_part_may_start_with_something_in_it() -> None:
    started = TextPart(id=PartId("prt_1"), text="once")
    part = only_part(PartStarted(**COMMON, message_id=ANSWER.id, part=started), delta(" more", 4))
    assert part == TextPart(id=PartId("prt_1"), text="once more")


def test_parts_stay_in_the_order_in_which_they_started() -> None:
    one, two = TextPart(id=PartId("prt_1")), TextPart(id=PartId("prt_2"))
    (message,) = transcript_of(
        OPENED,
        PartStarted(**COMMON, message_id=ANSWER.id, part=one),
        PartStarted(**COMMON, message_id=ANSWER.id, part=two),
        delta("late"),
        PartUpdated(**COMMON, message_id=ANSWER.id, part=TextPart(id=PartId("prt_1"), text="x")),
    ).messages()
    assert [part.id for part in message.parts] == ["prt_1", "prt_2"]


def test_a_finished_message_grows_no_more() -> None:
    transcript = transcript_of(
        OPENED, MessageFinished(**COMMON, message_id=ANSWER.id, finish_reason="end_turn")
    )
    with pytest.raises(ValueError, match="is finished"):
        transcript.apply(delta("late"))


def test_a_message_says_no_reason_while_it_streams_and_its_reason_after() -> None:
    (open_one,) = transcript_of(OPENED).messages()
    (closed,) = transcript_of(
        OPENED, MessageFinished(**COMMON, message_id=ANSWER.id, finish_reason="cancelled")
    ).messages()
    assert (open_one.finish_reason, closed.finish_reason) == (None, "cancelled")


@given(st.integers(1, 6), st.data())
def test_rewound_messages_are_gone_and_the_others_stay(count: int, data: st.DataObject) -> None:
    messages = [_user(n) for n in range(count)]
    kept = data.draw(st.integers(0, count))
    transcript = transcript_of(
        *(MessageStarted(**COMMON, message=message) for message in messages),
        SessionRewound(
            session_id=QUEUED.session_id,
            at=NOW,
            removed=tuple(message.id for message in messages[kept:]),
        ),
        MessageStarted(**COMMON, message=_user(99)),
    )
    assert [m.id for m in transcript.messages()] == [
        *(message.id for message in messages[:kept]),
        "msg_99",
    ]


def test_the_same_rewind_twice_removes_once() -> None:
    rewound = SessionRewound(session_id=QUEUED.session_id, at=NOW, removed=(MessageId("msg_0"),))
    first = MessageStarted(**COMMON, message=_user(0))
    assert transcript_of(first, rewound, rewound).messages() == ()


def test_a_run_is_as_its_last_event_says() -> None:
    store = LittleStore()
    run = store.accept()
    store.start()
    store.settle(ending("failed", "internal"))
    folded = store.fold().runs[run]
    assert [folded] == plain([store.runs[run]])
    assert folded["status"] == "failed"


def test_what_waits_is_counted() -> None:
    store = LittleStore()
    runs = [store.accept() for _ in range(4)]
    counts = [store.session.queued]
    store.start()
    counts.append(store.session.queued)
    store.cancel_run(runs[2])
    counts.append(store.session.queued)
    store.cancel()
    counts.append(store.session.queued)
    assert counts == [4, 3, 2, 0]


def test_a_steered_prompt_no_longer_waits_and_the_run_goes_on() -> None:
    store = LittleStore()
    run = store.accept()
    store.start()
    store.accept(when_busy=WhenBusy.STEER)
    steer(store)
    assert (store.session.queued, store.session.active_run) == (0, run)


def test_usage_of_all_endings_adds_up() -> None:
    store = LittleStore()
    for how in (
        ending("completed", "end_turn", Usage(input_tokens=10, output_tokens=1)),
        ending("failed", "internal", Usage(input_tokens=5, exact=False)),
    ):
        store.accept()
        store.start()
        store.settle(how)
    assert store.session.usage == Usage(input_tokens=15, output_tokens=1, exact=False)


@pytest.mark.guarantee("H2")
@pytest.mark.failure(60)
def test_only_activity_moves_a_session_in_the_list() -> None:
    session = LittleStore().session
    later = Instant("2031-01-01T00:00:00.000Z")
    changed = SessionUpdated(
        session_id=session.id,
        at=later,
        changes=SessionChanges(title="New", pinned=True),
    )
    assert session_after(session, changed).updated_at == session.updated_at
    ended = RunFinished(
        session_id=session.id,
        at=later,
        run=QUEUED.end(ending("cancelled", "user"), NOW),
    )
    assert session_after(session, ended).updated_at == later


def test_the_order_of_the_queue_is_told_but_is_no_field_of_the_session() -> None:
    session = LittleStore().session
    event = SessionUpdated(
        session_id=session.id, at=NOW, changes=SessionChanges(queue=(RunId("run_1"),))
    )
    assert session_after(session, event) == session
    assert isinstance(session_after(session, event), Session)


def _user(number: int) -> Message:
    message = user_message(QUEUED, of=QUEUED.id)
    return Message(
        id=MessageId(f"msg_{number}"),
        session_id=message.session_id,
        run_id=message.run_id,
        role="user",
        parts=message.parts,
        finish_reason="end_turn",
        created_at=NOW,
    )
