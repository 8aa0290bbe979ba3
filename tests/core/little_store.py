"""One session in memory: the least that decisions need to be tried one after the other.

It keeps rows the way a real store does (a message is stored when it starts and when it is
finished) beside the log, so that a test can ask whether both tell the same.
"""

from collections.abc import Iterable
from itertools import count
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from tenuto.core import accepting, cancelling, consent, questioning, settling, starting
from tenuto.core.accepting import Prompt
from tenuto.core.approval import Approval
from tenuto.core.asking import Stand
from tenuto.core.desk import Change, Decide, Desk, Moment, Outline
from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    JobEvent,
    MessageFinished,
    MessageStarted,
    PartDelta,
    PartStarted,
    PartUpdated,
    QuestionAnswered,
    QuestionAsked,
    RunAccepted,
    RunFinished,
    RunStarted,
    RunUpdated,
    SessionRewound,
    Stored,
    store_as,
)
from tenuto.core.job import Job
from tenuto.core.message import Message, Part, TextPart, ToolPart
from tenuto.core.principal import OWNER
from tenuto.core.projection import OpenMessage, grow, session_after
from tenuto.core.question import Inquiry, Question
from tenuto.core.rule import Subject
from tenuto.core.run import Ending, Mode, Reason, Run, RunError, RunStatus, Usage, WhenBusy
from tenuto.core.session import DEFAULT_WORKSPACE, Control, Fence, Session
from tenuto.core.starting import Started
from tenuto.core.suggesting import suggestions
from tenuto.core.thing import Request, is_open
from tenuto.core.value import (
    ApprovalId,
    CallId,
    Instant,
    JobId,
    NodeId,
    PartId,
    QuestionId,
    RunId,
    SessionId,
)
from tests.oracle.rule import Json
from tests.oracle.session_log import SessionLog, check_log

T = TypeVar("T")
NODE = NodeId("node_a")
START = Instant("2030-01-01T00:00:00.000Z")


def ending(status: str, reason: str, usage: Usage | None = None) -> Ending:
    return Ending(
        status=RunStatus(status),  # type: ignore[arg-type]
        reason=Reason(reason),
        error=RunError(code=reason, message="no") if status == "failed" else None,
        usage=usage or Usage(),
    )


class LittleStore:
    """A session, its rows and its log. Every step is a millisecond later than the one before."""

    def __init__(self, **fields: Any) -> None:
        known = {
            "id": SessionId("ses_1"),
            "workspace_id": DEFAULT_WORKSPACE,
            "created_at": START,
            "updated_at": START,
        }
        self.session = Session(**{**known, **fields})
        self.control = Control()
        self.runs: dict[RunId, Run] = {}
        self.approvals: dict[ApprovalId, Approval] = {}
        self.questions: dict[QuestionId, Question] = {}
        self.jobs: dict[JobId, Job] = {}
        self.messages: dict[str, Message] = {}
        self.log: list[Stored] = []
        self._open: dict[str, OpenMessage] = {}
        self._ticks = count(1)
        self._names = count(1)

    # What a decision sees.

    def desk(self) -> Desk:
        newest = sorted(self.runs.values(), key=lambda run: -run.accept_number)
        kept = [
            run
            for run in newest
            if run.reason is not Reason.WITHDRAWN
            and run.steered_into is None
            and run.mode is not Mode.COMPACT
        ]
        active = self.session.active_run
        return Desk(
            session=self.session,
            control=self.control,
            active=self.runs[active] if active else None,
            queue=tuple(self.runs[run_id] for run_id in self.control.queue),
            things=tuple(one for one in (*self.requests(), *self.jobs.values()) if is_open(one)),
            outline=tuple(
                Outline(id=m.id, role=m.role, run_id=m.run_id) for m in self.messages.values()
            ),
            last_run=kept[0] if kept else None,
            runs=tuple(newest),
        )

    def requests(self) -> list[Request]:
        """What was ever asked, of either kind."""
        return [*self.approvals.values(), *self.questions.values()]

    def commit(self, decide: Decide[T]) -> T:
        return self.keep(decide(self.desk()))

    def keep(self, change: Change[T]) -> T:
        self._store(change.events)
        self.runs |= {run.id: run for run in change.revealed}
        for message in change.finished:
            self.messages[message.id] = message
        self.control = change.control
        return change.result

    def append(self, fence: Fence, *events: Event) -> None:
        self.desk().held_by(fence)
        self._store(events)

    def moment(self) -> Moment:
        return Moment(now=Instant(f"2030-01-01T00:00:{next(self._ticks) / 1000:06.3f}Z"), node=NODE)

    def open_message(self) -> Message | None:
        found = self.control.open_message
        return self._open[found].now() if found else None

    # What both must agree on.

    def fold(self) -> SessionLog:
        """What a reader of the log would have; the log is held to the contract on the way."""
        return check_log([msgspec.json.decode(stored.json()) for stored in self.log])

    def events(self, kind: type[T]) -> list[T]:
        return [event for stored in self.log if isinstance(event := stored.event(), kind)]

    def kinds(self, run_id: RunId) -> list[str]:
        return [stored.type for stored in self.log if stored.run_id == run_id]

    # Steps, in the words of the tests.

    def accept(self, text: str = "hi", **fields: Any) -> RunId:
        fields = {"when_busy": WhenBusy.QUEUE, "mode": Mode.AGENT, **fields}
        run_id = RunId(f"run_{next(self._names):03}")
        prompt = Prompt(by=OWNER.id, run_id=run_id, input=text, model="test/model", **fields)
        return self.commit(lambda desk: accepting.accept(desk, prompt, self.moment())).id

    def start(self) -> Started:
        started = self.commit(lambda desk: starting.start_next(desk, self.moment()))
        assert started is not None, "nothing could start"
        return started

    def fence(self) -> Fence:
        """Of whoever owns the active run."""
        assert self.session.active_run is not None, "nothing is active"
        return Fence(run_id=self.session.active_run, epoch=self.control.epoch)

    def settle(self, how: Ending, fence: Fence | None = None) -> Run:
        fence = fence or self.fence()
        message = self.open_message()
        return self.commit(lambda desk: settling.settle(desk, fence, how, message, self.moment()))

    def cancel(self) -> cancelling.Covered:
        return self.commit(lambda desk: cancelling.cancel_session(desk, Reason.USER, self.moment()))

    def cancel_run(self, run_id: RunId) -> cancelling.Covered:
        return self.commit(
            lambda desk: cancelling.cancel_run(desk, run_id, Reason.USER, self.moment())
        )

    def say(self, text: str) -> None:
        """Stream a text part of the active run."""
        part = TextPart(id=PartId(f"prt_{next(self._names):03}"))
        self._part(part)
        common = self._common()
        self.append(self.fence(), PartDelta(**common, part_id=part.id, offset=0, text=text))

    def call(self, name: str = "shell", **fields: Any) -> ToolPart:
        """Stream the beginning of a tool call of the active run."""
        number = next(self._names)
        part = ToolPart(
            id=PartId(f"prt_{number:03}"), call_id=CallId(f"call_{number:03}"), name=name, **fields
        )
        self._part(part)
        return part

    def ask(self, part: ToolPart, subject: Subject | None = None) -> ApprovalId:
        about = subject or Subject(tool=part.name)
        approval = Approval(
            id=ApprovalId(f"apr_{next(self._names):03}"),
            session_id=self.session.id,
            run_id=self.fence().run_id,
            call_id=part.call_id,
            tool=part.name,
            input={},
            subject=about,
            suggestions=suggestions(about),
        )
        stand = self.stand(part)
        self.commit(
            lambda desk: consent.request(desk, self.fence(), approval, stand, self.moment())
        )
        return approval.id

    def ask_in_words(self, part: ToolPart, *questions: str, **fields: Any) -> QuestionId:
        """Questions of the active run to its person."""
        question = Question(
            id=QuestionId(f"qst_{next(self._names):03}"),
            session_id=self.session.id,
            root_session_id=self.session.id,
            run_id=self.fence().run_id,
            call_id=part.call_id,
            part_id=part.id,
            questions=tuple(Inquiry(question=one, **fields) for one in questions or ("Well?",)),
        )
        stand = self.stand(part)
        self.commit(
            lambda desk: questioning.ask(desk, self.fence(), question, stand, self.moment())
        )
        return question.id

    def stand(self, part: ToolPart) -> Stand:
        message = self.open_message()
        assert message is not None
        return Stand(part=part, message_id=message.id)

    def _part(self, part: Part) -> None:
        self.append(self.fence(), PartStarted(**self._common(), part=part))

    def _common(self) -> dict[str, Any]:
        return {
            "session_id": self.session.id,
            "run_id": self.session.active_run,
            "at": self.moment().now,
            "message_id": self.control.open_message,
        }

    def _store(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.log.append(store_as(event, len(self.log) + 1))
            self.session = replace(session_after(self.session, event), head=len(self.log))
            self._rows(event)

    def _rows(self, event: Event) -> None:
        match event:
            case RunAccepted() | RunStarted() | RunUpdated() | RunFinished():
                self.runs[event.run.id] = event.run
            case ApprovalRequested() | ApprovalResolved():
                self.approvals[event.approval.id] = event.approval
            case QuestionAsked() | QuestionAnswered():
                self.questions[event.question.id] = event.question
            case JobEvent(job=job):
                self.jobs[job.id] = job
            case MessageStarted(message=message):
                self.messages[message.id] = message
                if message.finish_reason is None:
                    self._open[message.id] = OpenMessage(message)
            case PartStarted() | PartDelta() | PartUpdated():
                grow(self._open[event.message_id], event)
            case MessageFinished():
                del self._open[event.message_id]
            case SessionRewound():
                for message_id in event.removed:
                    del self.messages[message_id]
            case _:
                pass


def plain(values: Iterable[msgspec.Struct]) -> list[Json]:
    """As a reader would have them."""
    return [msgspec.json.decode(msgspec.json.encode(value)) for value in values]
