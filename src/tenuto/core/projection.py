"""The fold: events in, transcript out. Live and reload are this one function."""

from typing import TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict, replace

from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    MessageFinished,
    MessageStarted,
    PartDelta,
    PartField,
    PartStarted,
    PartUpdated,
    QuestionAnswered,
    QuestionAsked,
    RunAccepted,
    RunFinished,
    RunStarted,
    RunUpdated,
    SessionCompacted,
    SessionCreated,
    SessionDeleted,
    SessionRewound,
    SessionUpdated,
    ThingEvent,
)
from tenuto.core.message import (
    Changed,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolChange,
    ToolPart,
)
from tenuto.core.run import Reason, Run
from tenuto.core.session import Session, SessionState
from tenuto.core.value import MessageId, PartId, RunId

V = TypeVar("V", Run, Session)


class OpenMessage:
    """A message that is still growing. Text is joined when it is read, not at each delta."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._parts: dict[PartId, Part] = {part.id: part for part in message.parts}
        self._texts: dict[PartId, list[str]] = {}
        self._outputs: dict[PartId, list[str]] = {}

    def put(self, part: Part) -> None:
        """The part as it is from now on, new or not."""
        self._texts.pop(part.id, None)
        self._outputs.pop(part.id, None)
        self._parts[part.id] = part

    def grow(self, part_id: PartId, text: str, field: PartField | UnsetType = UNSET) -> None:
        grown = self._outputs if field is PartField.OUTPUT else self._texts
        grown.setdefault(part_id, []).append(text)

    def update(self, changed: Changed) -> None:
        if not isinstance(changed, ToolChange):
            self.put(changed)
            return
        part = self.part(changed.id)
        if not isinstance(part, ToolPart):
            raise TypeError(f"{part!r} is no tool call")
        self._parts[part.id] = changed.on(part)

    def part(self, part_id: PartId) -> Part:
        part = self._parts[part_id]
        texts, outputs = self._texts.pop(part_id, None), self._outputs.pop(part_id, None)
        if texts is not None:
            part = self._parts[part_id] = _grown(part, "".join(texts))
        if outputs is not None:
            part = self._parts[part_id] = _with_output(part, "".join(outputs))
        return part

    def now(self) -> Message:
        return replace(self._message, parts=tuple(self.part(part_id) for part_id in self._parts))

    def finish(self, finish_reason: str) -> Message:
        return replace(self.now(), finish_reason=finish_reason)


class Transcript:
    """Messages and runs as the events so far leave them."""

    def __init__(self) -> None:
        self._messages: dict[MessageId, Message | OpenMessage] = {}
        self.runs: dict[RunId, Run] = {}

    def apply(self, event: Event) -> None:
        match event:
            case RunAccepted() | RunStarted() | RunUpdated() | RunFinished():
                self.runs[event.run.id] = event.run
            case MessageStarted(message=message):
                ended = message.finish_reason is not None
                self._messages[message.id] = message if ended else OpenMessage(message)
            case PartStarted() | PartDelta() | PartUpdated():
                grow(self._open(event.message_id), event)
            case MessageFinished():
                whole = self._open(event.message_id).finish(event.finish_reason)
                self._messages[event.message_id] = whole
            case SessionRewound():
                for message_id in event.removed:
                    self._messages.pop(message_id, None)
            case SessionUpdated(changes=changes):
                for run_id, shown in (changes.runs or {}).items():
                    self.runs[run_id] = replace(self.runs[run_id], **asdict(shown))
            case ThingEvent() | SessionCreated() | SessionCompacted() | SessionDeleted():
                pass
            case _:
                raise TypeError(f"cannot fold {event!r}")

    def messages(self) -> tuple[Message, ...]:
        return tuple(m.now() if isinstance(m, OpenMessage) else m for m in self._messages.values())

    def _open(self, message_id: MessageId) -> OpenMessage:
        message = self._messages[message_id]
        if not isinstance(message, OpenMessage):
            raise ValueError(f"message {message_id} is finished")
        return message


def grow(message: OpenMessage, event: PartStarted | PartDelta | PartUpdated) -> None:
    match event:
        case PartStarted():
            message.put(event.part)
        case PartDelta():
            message.grow(event.part_id, event.text, event.field)
        case PartUpdated():
            message.update(event.part)


def session_after(session: Session, event: Event) -> Session:
    """The session as this event leaves it; its `head` is the log's own business."""
    match event:
        case RunAccepted():
            changed = replace(session, queued=session.queued + 1, updated_at=event.at)
        case RunStarted(run=run):
            changed = replace(session, queued=session.queued - 1, active_run=run.id)
        case RunFinished(run=run):
            # An ending that only repairs what a crash left is no activity: it moves nothing up.
            repaired = run.reason is Reason.SERVER_CRASHED
            at = session.updated_at if repaired else event.at
            changed = replace(session, usage=session.usage + run.usage, updated_at=at)
            if session.active_run == run.id:
                changed = replace(changed, active_run=None)
            elif run.started_at is None:
                changed = replace(changed, queued=session.queued - 1)
        case ApprovalRequested():
            changed = replace(session, waiting_approvals=session.waiting_approvals + 1)
        case ApprovalResolved():
            changed = replace(session, waiting_approvals=session.waiting_approvals - 1)
        case QuestionAsked():
            changed = replace(session, waiting_questions=session.waiting_questions + 1)
        case QuestionAnswered():
            changed = replace(session, waiting_questions=session.waiting_questions - 1)
        case SessionUpdated(changes=changes):
            changed = replace(session, **changes.fields())
        case SessionRewound():
            changed = replace(session, updated_at=event.at)
        case _:
            return session
    return replace(changed, state=_state(changed))


def _state(session: Session) -> SessionState:
    if session.active_run is None:
        return SessionState.IDLE
    waits = session.waiting_approvals + session.waiting_questions
    return SessionState.WAITING if waits else SessionState.RUNNING


def _grown(part: Part, text: str) -> Part:
    match part:
        case TextPart() | ReasoningPart():
            return replace(part, text=part.text + text)
        case ToolPart():
            return replace(part, input_text=part.input_text + text)
        case _:
            raise TypeError(f"{part!r} cannot grow")


def _with_output(part: Part, text: str) -> Part:
    if not isinstance(part, ToolPart):
        raise TypeError(f"{part!r} has no output")
    return replace(part, output=(part.output or "") + text)
