"""The events of a log: facts in the past, each stored before anyone can see it."""

from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from tenuto.core.approval import Approval
from tenuto.core.file_change import FileChange
from tenuto.core.job import Job
from tenuto.core.message import Changed, Message, Part
from tenuto.core.principal import By
from tenuto.core.question import Question
from tenuto.core.run import Run
from tenuto.core.session import Session, SessionChanges
from tenuto.core.thing import Thing
from tenuto.core.value import Instant, MessageId, PartId, RunId, SessionId, Value


class EventBase(Value, tag_field="type"):
    session_id: SessionId
    run_id: RunId | None = None
    at: Instant
    by: By = UNSET


class RunAccepted(EventBase, tag="run.accepted"):
    run: Run


class RunStarted(EventBase, tag="run.started"):
    run: Run


class RunUpdated(EventBase, tag="run.updated"):
    run: Run


class RunFinished(EventBase, tag="run.finished"):
    run: Run


class MessageStarted(EventBase, tag="message.started"):
    message: Message


class MessageFinished(EventBase, tag="message.finished"):
    message_id: MessageId
    finish_reason: str


class PartStarted(EventBase, tag="part.started"):
    message_id: MessageId
    part: Part


class PartField(StrEnum):
    """What of a part a delta adds to."""

    TEXT = "text"
    INPUT = "input"
    """Of a tool call: `input_text`."""
    OUTPUT = "output"


class PartDelta(EventBase, tag="part.delta"):
    message_id: MessageId
    part_id: PartId
    field: PartField | UnsetType = UNSET
    """Left out: the text; of a tool call, as older logs have it, the input."""
    offset: int
    """Unicode code points that the field had before this text."""
    text: str


class PartUpdated(EventBase, tag="part.updated"):
    message_id: MessageId
    part: Changed
    """Of a tool call, what is left out stays as it was."""


class ThingEvent(EventBase):
    """Tells of a thing of the session as it is from now on; the first one that it is there."""

    @property
    def thing(self) -> Thing:
        raise NotImplementedError


class ApprovalEvent(ThingEvent):
    approval: Approval

    @property
    def thing(self) -> Thing:
        return self.approval


class ApprovalRequested(ApprovalEvent, tag="approval.requested"):
    pass


class ApprovalResolved(ApprovalEvent, tag="approval.resolved"):
    pass


class FileChangeEvent(ThingEvent):
    change: FileChange

    @property
    def thing(self) -> Thing:
        return self.change


class FileChanging(FileChangeEvent, tag="file.changing"):
    """It is about to be done: what was there is kept."""


class FileChanged(FileChangeEvent, tag="file.changed"):
    pass


class JobEvent(ThingEvent):
    job: Job

    @property
    def thing(self) -> Thing:
        return self.job


class JobStarted(JobEvent, tag="job.started"):
    pass


class JobUpdated(JobEvent, tag="job.updated"):
    """It printed something, is told to stop, or the model was told of it."""


class JobEnded(JobEvent, tag="job.ended"):
    """Nothing of it runs any more."""


class QuestionEvent(ThingEvent):
    question: Question

    @property
    def thing(self) -> Thing:
        return self.question


class QuestionAsked(QuestionEvent, tag="question.asked"):
    pass


class QuestionAnswered(QuestionEvent, tag="question.answered"):
    """It is no longer open: answered, dismissed, or its run has ended."""


class SessionCreated(EventBase, tag="session.created"):
    """Only in the workspace's log: a session's own log begins after it."""

    session: Session


class SessionUpdated(EventBase, tag="session.updated"):
    changes: SessionChanges


class SessionRewound(EventBase, tag="session.rewound"):
    removed: tuple[MessageId, ...]


class SessionCompacted(EventBase, tag="session.compacted"):
    through_message_id: MessageId
    through_part_id: PartId | None = None
    """Within that message; None: to its end."""
    summary: str


class SessionDeleted(EventBase, tag="session.deleted"):
    pass


Event = (
    RunAccepted
    | RunStarted
    | RunUpdated
    | RunFinished
    | MessageStarted
    | MessageFinished
    | PartStarted
    | PartDelta
    | PartUpdated
    | ApprovalRequested
    | ApprovalResolved
    | FileChanging
    | FileChanged
    | JobStarted
    | JobUpdated
    | JobEnded
    | QuestionAsked
    | QuestionAnswered
    | SessionCreated
    | SessionUpdated
    | SessionRewound
    | SessionCompacted
    | SessionDeleted
)

IN_WORKSPACE = (
    RunAccepted,
    RunStarted,
    RunFinished,
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    QuestionAnswered,
    SessionCreated,
    SessionUpdated,
    SessionRewound,
    SessionDeleted,
)
"""Events that the workspace's log repeats: all that change what a session shows of itself."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Stored(Value):
    """An event in its place in a log. `body` is its JSON without the `seq`."""

    seq: int
    type: str
    run_id: RunId | None
    body: bytes

    def event(self) -> Event:
        return _decoder.decode(self.body)

    def json(self) -> bytes:
        """The event as clients see it, `seq` and all."""
        return b'{"seq":%d,%b' % (self.seq, self.body[1:])


def store_as(event: Event, seq: int) -> Stored:
    body = _encoder.encode(event)
    return Stored(seq=seq, type=type_of(event), run_id=event.run_id, body=body)


def type_of(event: Event) -> str:
    tag = event.__struct_config__.tag
    assert isinstance(tag, str)
    return tag
