"""The life of a run as pure decisions: accept, start, steer, cancel, settle."""

from typing import TypeVar

from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import NotFound, QueueFull, SessionBusy
from tenuto.core.event import (
    ApprovalResolved,
    Event,
    MessageFinished,
    MessageStarted,
    PartUpdated,
    RunAccepted,
    RunFinished,
    RunStarted,
    SessionUpdated,
)
from tenuto.core.message import (
    Message,
    ToolState,
    assistant_message,
    close_tools,
    user_message,
)
from tenuto.core.run import (
    Ending,
    Input,
    InputText,
    Mode,
    OnDisconnect,
    Reason,
    Run,
    RunStatus,
    WhenBusy,
)
from tenuto.core.session import Control, Fence, Session, TitleSource
from tenuto.core.value import RunId, Value

T = TypeVar("T")

QUEUE_LIMIT = 100
TITLE_LENGTH = 60


class Prompt(Value):
    """What someone asks for, valid but not yet accepted."""

    run_id: RunId
    input: Input
    model: str
    mode: Mode = Mode.AGENT
    when_busy: WhenBusy = WhenBusy.QUEUE
    on_disconnect: OnDisconnect = OnDisconnect.CONTINUE
    continues: RunId | None = None


class Started(Value):
    """A run that was just given to this node, with its right to write."""

    run: Run
    session: Session
    fence: Fence
    model: str
    """What to ask, also where the run may not say so."""
    message: Message | None
    """The open assistant message; None for a run that writes none (compaction)."""


class Cancelled(Value):
    """What a cancel covers: runs that had not ended when it was made."""

    runs: tuple[RunId, ...]
    active: RunId | None
    """The covered run that is still being worked on; its driver will settle it."""


class Steered(Value):
    """Prompts that the active run took, and the message in which it goes on."""

    messages: tuple[Message, ...]
    answer: Message


def accept(desk: Desk, prompt: Prompt, moment: Moment) -> Change[Run]:
    """Take a prompt into the session's order."""
    busy = desk.active is not None or bool(desk.queue)
    if busy and prompt.when_busy is WhenBusy.REJECT:
        raise SessionBusy(f"session {desk.session.id} is working on another prompt")
    events: tuple[Event, ...] = ()
    control = desk.control
    finished: tuple[Message, ...] = ()
    if busy and prompt.when_busy is WhenBusy.INTERRUPT:
        replaced = cancel_session(desk, Reason.REPLACED, moment)
        events, control, finished = replaced.events, replaced.control, replaced.finished
    elif len(desk.queue) >= QUEUE_LIMIT:
        raise QueueFull(f"session {desk.session.id} has {QUEUE_LIMIT} prompts waiting")
    run = Run(
        id=prompt.run_id,
        session_id=desk.session.id,
        status=RunStatus.QUEUED,
        model=None if control.veil else prompt.model,
        mode=prompt.mode,
        when_busy=prompt.when_busy,
        on_disconnect=prompt.on_disconnect,
        accept_number=control.accept_count + 1,
        accepted_at=moment.now,
        input=prompt.input,
        continues=prompt.continues,
    )
    control = replace(control, accept_count=run.accept_number, queue=(*control.queue, run.id))
    events += (RunAccepted(session_id=run.session_id, run_id=run.id, at=moment.now, run=run),)
    return Change(
        events=events + _provisional_title(desk, run, moment),
        control=control,
        result=run,
        finished=finished,
    )


def start_next(desk: Desk, moment: Moment) -> Change[Started | None]:
    """Give the next queued run to this node; nothing if one is active or none waits."""
    if desk.active is not None or not desk.queue:
        return Change(events=(), control=desk.control, result=None)
    run = desk.queue[0]
    if reason := desk.control.cancels.reason_for(run):
        # Cancels end queued runs in their own transaction; this is the second lock on the door.
        return _with_result(cancel_queued(desk, run, reason, moment), None)
    run = run.start(moment.now)
    events: list[Event] = [
        RunStarted(session_id=run.session_id, run_id=run.id, at=moment.now, run=run)
    ]
    answer: Message | None = None
    if run.mode is not Mode.COMPACT:
        if run.continues is None:
            events.append(_message_started(user_message(run, of=run.id), run, moment))
        answer = assistant_message(run, of=run.id, now=moment.now)
        events.append(_message_started(answer, run, moment))
    control = replace(
        desk.control,
        epoch=desk.control.epoch + 1,
        owner=moment.node,
        open_message=answer.id if answer else None,
        queue=_without(desk.control, run),
    )
    started = Started(
        run=run,
        session=desk.session,
        fence=Fence(run_id=run.id, epoch=control.epoch),
        model=_model(run, control),
        message=answer,
    )
    return Change(events=tuple(events), control=control, result=started)


def take_steers(
    desk: Desk, fence: Fence, open_message: Message, moment: Moment
) -> Change[Steered | None]:
    """At a step boundary: give the waiting steers to the active run, unless a cancel covers it."""
    run = desk.held_by(fence)
    cancels = desk.control.cancels
    steers = [r for r in desk.queue if r.when_busy is WhenBusy.STEER and not cancels.reason_for(r)]
    if not steers or cancels.reason_for(run):
        return Change(events=(), control=desk.control, result=None)
    events: list[Event] = [
        MessageFinished(
            session_id=run.session_id,
            run_id=run.id,
            at=moment.now,
            message_id=open_message.id,
            finish_reason="steered",
        )
    ]
    control = desk.control
    messages: list[Message] = []
    for steer in steers:
        message = user_message(steer, of=run.id)
        messages.append(message)
        events.append(_message_started(message, run, moment))
        ending = Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)
        taken = replace(steer.end(ending, moment.now), steered_into=run.id)
        events.append(_run_finished(taken, moment))
        control = replace(control, queue=_without(control, steer))
    answer = assistant_message(steers[-1], of=run.id, now=moment.now)
    events.append(_message_started(answer, run, moment))
    return Change(
        events=tuple(events),
        control=replace(control, open_message=answer.id),
        result=Steered(messages=tuple(messages), answer=answer),
        finished=(replace(open_message, finish_reason="steered"),),
    )


def settle(
    desk: Desk, fence: Fence, ending: Ending, open_message: Message | None, moment: Moment
) -> Change[Run]:
    """End the active run, once. `open_message` is its unfinished answer as the log has it.

    A cancel that covers the run wins over any other ending.
    """
    run = desk.held_by(fence)
    if reason := desk.control.cancels.reason_for(run):
        ending = Ending(status=RunStatus.CANCELLED, reason=reason, usage=ending.usage)
    events: list[Event] = []
    finished: tuple[Message, ...] = ()
    if open_message is not None:
        state = (
            ToolState.INTERRUPTED if ending.status is RunStatus.INTERRUPTED else ToolState.CANCELLED
        )
        whole, closed = close_tools(open_message, state)
        events += [
            PartUpdated(
                session_id=run.session_id,
                run_id=run.id,
                at=moment.now,
                message_id=whole.id,
                part=part,
            )
            for part in closed
        ]
        events.append(_message_finished(whole, run, ending, moment))
        finished = (replace(whole, finish_reason=ending.finish_reason),)
    events += _withdraw_approvals(desk, run, moment)
    control = _released(desk.control, run)
    if control.veil is not None:
        ending, veil = control.veil.over(run, ending)
        control = replace(control, veil=veil)
    ended = run.end(ending, moment.now)
    events.append(_run_finished(ended, moment))
    return Change(events=tuple(events), control=control, result=ended, finished=finished)


def cancel_session(
    desk: Desk, reason: Reason, moment: Moment, *, up_to: int | None = None
) -> Change[Cancelled]:
    """Cover what runs and waits, if accepted by `up_to`. What waits ends here, in order."""
    mark = desk.control.accept_count if up_to is None else up_to
    active = tuple(run for run in (desk.active,) if run and run.accept_number <= mark)
    queue = tuple(run for run in desk.queue if run.accept_number <= mark)
    cancels = desk.control.cancels.cover_all(mark, active, reason)
    covered = replace(desk, control=replace(desk.control, cancels=cancels))
    runs = tuple(run.id for run in (*active, *queue))
    cancelled = Cancelled(runs=runs, active=active[0].id if active else None)
    return _with_result(_cancel_queued_all(covered, queue, reason, moment), cancelled)


def drop_attached(desk: Desk, moment: Moment) -> Change[None]:
    """End the queued runs that belonged to a connection which is gone."""
    attached = tuple(run for run in desk.queue if run.on_disconnect is OnDisconnect.CANCEL)
    return _cancel_queued_all(desk, attached, Reason.DISCONNECT, moment)


def cancel_run(desk: Desk, run_id: RunId, reason: Reason, moment: Moment) -> Change[Cancelled]:
    """Cover one run only; nothing if it has ended."""
    if desk.active is not None and desk.active.id == run_id:
        control = replace(desk.control, cancels=desk.control.cancels.cover(desk.active, reason))
        return Change(events=(), control=control, result=Cancelled(runs=(run_id,), active=run_id))
    for run in desk.queue:
        if run.id == run_id:
            change = cancel_queued(desk, run, reason, moment)
            return _with_result(change, Cancelled(runs=(run_id,), active=None))
    return Change(events=(), control=desk.control, result=Cancelled(runs=(), active=None))


def cancel_queued(desk: Desk, run: Run, reason: Reason, moment: Moment) -> Change[Run]:
    """End a run that never started: its prompt and one empty cancelled answer are kept."""
    ending = Ending(status=RunStatus.CANCELLED, reason=reason)
    events: list[Event] = []
    finished: tuple[Message, ...] = ()
    if run.mode is not Mode.COMPACT:
        if run.continues is None:
            events.append(_message_started(user_message(run, of=run.id), run, moment))
        answer = assistant_message(run, of=run.id, now=moment.now)
        events.append(_message_started(answer, run, moment))
        events.append(_message_finished(answer, run, ending, moment))
        finished = (replace(answer, finish_reason=ending.finish_reason),)
    ended = run.end(ending, moment.now)
    events.append(_run_finished(ended, moment))
    control = replace(
        desk.control,
        queue=_without(desk.control, run),
        cancels=desk.control.cancels.forget(run),
    )
    return Change(events=tuple(events), control=control, result=ended, finished=finished)


def _cancel_queued_all(
    desk: Desk, runs: tuple[Run, ...], reason: Reason, moment: Moment
) -> Change[None]:
    change: Change[None] = Change(events=(), control=desk.control, result=None)
    for run in runs:
        part = cancel_queued(replace(desk, control=change.control), run, reason, moment)
        change = Change(
            events=change.events + part.events,
            control=part.control,
            result=None,
            finished=change.finished + part.finished,
        )
    return change


def withdraw(desk: Desk, run_id: RunId, moment: Moment) -> Change[Run]:
    """Take a queued run back: no message, only the run with its input."""
    run = queued_run(desk, run_id)
    ending = Ending(status=RunStatus.CANCELLED, reason=Reason.WITHDRAWN)
    ended = run.end(ending, moment.now)
    control = replace(desk.control, queue=_without(desk.control, run))
    return Change(events=(_run_finished(ended, moment),), control=control, result=ended)


def queued_run(desk: Desk, run_id: RunId) -> Run:
    for run in desk.queue:
        if run.id == run_id:
            return run
    if desk.active is not None and desk.active.id == run_id:
        raise SessionBusy(f"run {run_id} has started")
    raise NotFound(f"run {run_id} is not waiting")


def _provisional_title(desk: Desk, run: Run, moment: Moment) -> tuple[Event, ...]:
    session = desk.session
    title = provisional_title(run.input)
    if session.title or session.title_source is not TitleSource.PROVISIONAL or not title:
        return ()
    changes = {"title": title, "title_source": TitleSource.PROVISIONAL}
    return (SessionUpdated(session_id=session.id, at=moment.now, changes=changes),)


def provisional_title(given: Input) -> str:
    """The first words of a prompt."""
    items = [InputText(text=given)] if isinstance(given, str) else given
    words = " ".join(item.text for item in items if isinstance(item, InputText)).split()
    title = ""
    for word in words:
        if len(title) + len(word) > TITLE_LENGTH:
            return (title or word[:TITLE_LENGTH]).strip() + "…"
        title = f"{title} {word}".strip()
    return title


def _model(run: Run, control: Control) -> str:
    model = run.model if control.veil is None else control.veil.model
    if model is None:
        raise ValueError(f"nobody knows which model run {run.id} is for")
    return model


def _released(control: Control, run: Run) -> Control:
    return replace(
        control,
        epoch=control.epoch + 1,
        owner=None,
        open_message=None,
        cancels=control.cancels.forget(run),
    )


def _without(control: Control, run: Run) -> tuple[RunId, ...]:
    return tuple(run_id for run_id in control.queue if run_id != run.id)


def _withdraw_approvals(desk: Desk, run: Run, moment: Moment) -> list[Event]:
    return [
        ApprovalResolved(
            session_id=run.session_id, run_id=run.id, at=moment.now, approval=approval.withdraw()
        )
        for approval in desk.pending
        if approval.run_id == run.id
    ]


def _message_started(message: Message, run: Run, moment: Moment) -> Event:
    return MessageStarted(
        session_id=run.session_id, run_id=message.run_id, at=moment.now, message=message
    )


def _message_finished(message: Message, run: Run, ending: Ending, moment: Moment) -> Event:
    return MessageFinished(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        message_id=message.id,
        finish_reason=ending.finish_reason,
    )


def _run_finished(run: Run, moment: Moment) -> Event:
    return RunFinished(session_id=run.session_id, run_id=run.id, at=moment.now, run=run)


def _with_result(change: Change[object], result: T) -> Change[T]:
    return Change(
        events=change.events, control=change.control, result=result, finished=change.finished
    )
