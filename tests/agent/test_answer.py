"""The answer's builder: pieces of an answer in, parts of a message out."""

import asyncio
from collections.abc import Sequence

import pytest

from tenuto.agent.allowance import Allowance, LimitReached
from tenuto.agent.answer import AnswerBuilder, Listener
from tenuto.clock import SystemClock
from tenuto.core.event import Event, MessageStarted
from tenuto.core.message import ReasoningPart, TextPart, ToolPart, assistant_message
from tenuto.core.meter import Meter
from tenuto.core.projection import Transcript
from tenuto.core.run import Reason, Usage
from tenuto.core.session import Fence
from tenuto.core.value import CallId, SessionId, StreamId
from tenuto.engine.recorder import Recorder
from tenuto.ports.model import (
    CallPiece,
    CallStarted,
    Finished,
    Piece,
    ReasoningPiece,
    TextPiece,
    UsagePiece,
)
from tenuto.ports.query import Page
from tests.core.test_run import NOW, QUEUED

pytestmark = pytest.mark.anyio


class ListLog:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        self.events += events
        stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        stored.set_result(len(self.events))
        return stored

    async def read(self, stream: StreamId, *, after: int, limit: int) -> Page:
        raise AssertionError("a builder does not read")


class Paper:
    """A builder with all that it needs."""

    def __init__(self, allowance: Allowance | None = None) -> None:
        self.log = ListLog()
        self.meter = Meter()
        self.meter.request(0)
        self.message = assistant_message(QUEUED, of=QUEUED.id, now=NOW)
        self.recorder = Recorder(
            self.log,
            SystemClock(),
            session_id=QUEUED.session_id,
            fence=Fence(run_id=QUEUED.id, epoch=1),
            message=self.message,
        )
        self.builder = AnswerBuilder(
            self.recorder, self.meter, allowance or Allowance(), stem="1_1"
        )

    async def wrote(self, *pieces: Piece) -> list[tuple[str, str]]:
        """Kind (or tool) and content of each part, as a reader of the stored events has it."""
        self.builder.take(pieces)
        await self.recorder.flush()
        transcript = Transcript()
        started = MessageStarted(session_id=QUEUED.session_id, at=NOW, message=self.message)
        for event in (started, *self.log.events):
            transcript.apply(event)
        (message,) = transcript.messages()
        found: list[tuple[str, str]] = []
        for part in message.parts:
            match part:
                case TextPart():
                    found.append(("text", part.text))
                case ReasoningPart():
                    found.append(("reasoning", part.text))
                case ToolPart():
                    found.append((part.name, part.input_text))
        assert message == self.recorder.message()
        return found


def begun(index: int, call_id: str, name: str) -> CallStarted:
    return CallStarted(index=index, id=CallId(call_id), name=name)


async def test_pieces_of_one_kind_become_one_part() -> None:
    assert await Paper().wrote(
        ReasoningPiece(text="They "),
        ReasoningPiece(text="greet."),
        TextPiece(text="Hel"),
        TextPiece(text="lo"),
        ReasoningPiece(text="More?"),
        TextPiece(text="!"),
    ) == [("reasoning", "They greet."), ("text", "Hello"), ("reasoning", "More?"), ("text", "!")]


async def test_empty_pieces_make_no_part_and_show_nothing() -> None:
    paper = Paper()
    assert await paper.wrote(TextPiece(text=""), ReasoningPiece(text="")) == []
    assert not paper.builder.shown
    assert await paper.wrote(TextPiece(text="x")) == [("text", "x")]
    assert paper.builder.shown


async def test_calls_that_stream_side_by_side_do_not_mix() -> None:
    paper = Paper()
    assert await paper.wrote(
        TextPiece(text="Look."),
        begun(0, "a", "read_file"),
        begun(1, "b", "shell"),
        CallPiece(index=0, text='{"path"'),
        CallPiece(index=1, text='{"command"'),
        CallPiece(index=0, text=':"x"}'),
        CallPiece(index=1, text=':"ls"}'),
    ) == [("text", "Look."), ("read_file", '{"path":"x"}'), ("shell", '{"command":"ls"}')]
    assert [(c.call_id, c.input_text) for c in paper.builder.calls()] == [
        ("a", '{"path":"x"}'),
        ("b", '{"command":"ls"}'),
    ]


@pytest.mark.parametrize("ids", [("", ""), ("same", "same")])
async def test_calls_have_ids_of_their_own_even_if_the_server_gives_none(
    ids: tuple[str, str],
) -> None:
    paper = Paper()
    await paper.wrote(begun(0, ids[0], "shell"), begun(1, ids[1], "shell"))
    first, second = (call.call_id for call in paper.builder.calls())
    assert first and second and first != second


async def test_how_it_finished_and_what_it_used_is_kept() -> None:
    paper = Paper()
    usage = Usage(input_tokens=5, output_tokens=1)
    finished = Finished(reason="max_tokens")
    await paper.wrote(TextPiece(text="x"), finished, UsagePiece(usage=usage))
    assert paper.builder.finished == finished
    assert paper.meter.total() == usage


@pytest.mark.failure(57)
async def test_what_streamed_is_counted_when_nobody_reports_it() -> None:
    paper = Paper()
    await paper.wrote(
        *[TextPiece(text="a")] * 806, ReasoningPiece(text="b"), begun(0, "c", "shell")
    )
    assert paper.meter.total() == Usage(output_tokens=807, reasoning_tokens=1, exact=False)


async def test_a_listener_keeps_only_the_words() -> None:
    meter = Meter()
    meter.request(0)
    listener = Listener(meter, Allowance())
    listener.take(
        [
            ReasoningPiece(text="hm"),
            TextPiece(text=" A "),
            begun(0, "c", "shell"),
            TextPiece(text="title "),
            Finished(reason="end_turn"),
        ]
    )
    assert listener.text() == "A title"
    # Nine characters of words are three tokens; the thought is one more.
    assert meter.total() == Usage(output_tokens=4, reasoning_tokens=1, exact=False)


@pytest.mark.guarantee("E1")
async def test_an_answer_that_outgrows_its_allowance_ends_and_what_came_is_kept() -> None:
    paper = Paper(Allowance(characters=5000))
    with pytest.raises(LimitReached, match="beyond 5000 characters") as caught:
        for _ in range(100):
            paper.builder.take([TextPiece(text="x" * 100)])
    assert caught.value.reason is Reason.TOO_LARGE
    ((kind, text),) = await paper.wrote()
    # A part counts for 1,000 by itself.
    assert (kind, text) == ("text", "x" * 4100)


async def test_parts_without_end_are_too_many_however_little_they_say() -> None:
    paper = Paper(Allowance(characters=10_000))
    with pytest.raises(LimitReached, match="beyond 10000 characters"):
        for _ in range(100):
            paper.builder.take([TextPiece(text="x"), ReasoningPiece(text="y")])
    assert len(await paper.wrote()) == 10


@pytest.mark.guarantee("E1")
async def test_more_calls_than_an_answer_may_make_end_it_before_any_is_done() -> None:
    paper = Paper(Allowance(calls=3))
    with pytest.raises(LimitReached, match="more than 3 tool calls") as caught:
        paper.builder.take([begun(n, f"c{n}", "shell") for n in range(5)])
    assert caught.value.reason is Reason.TOO_LARGE
    assert await paper.wrote() == [("shell", "")] * 3


async def test_arguments_without_end_end_the_answer() -> None:
    paper = Paper()
    paper.builder.take([begun(0, "a", "shell"), begun(1, "b", "shell")])
    with pytest.raises(LimitReached, match="arguments of a tool call") as caught:
        for _ in range(1001):
            paper.builder.take([CallPiece(index=1, text="x" * 1000)])
    assert caught.value.reason is Reason.TOO_LARGE
    assert await paper.wrote() == [("shell", ""), ("shell", "x" * 1_000_000)]


async def test_an_answer_that_is_too_dear_may_end_but_not_go_on() -> None:
    paper = Paper(Allowance(is_too_dear=lambda: True))
    dear = UsagePiece(usage=Usage(input_tokens=5))
    await paper.wrote(TextPiece(text="x"), dear, Finished(reason="end_turn"))
    with pytest.raises(LimitReached, match="cost limit") as caught:
        paper.builder.take([TextPiece(text="y")])
    assert caught.value.reason is Reason.BUDGET


def test_a_listener_hears_no_answer_without_end() -> None:
    meter = Meter()
    meter.request(0)
    listener = Listener(meter, Allowance(characters=1000))
    with pytest.raises(LimitReached):
        for _ in range(11):
            listener.take([ReasoningPiece(text="x" * 100)])
