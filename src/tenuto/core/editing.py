"""Changes to what was said, as pure decisions: undo, retry, edit, continue, compact, delete, settings.

Nothing is rewritten: each is an event, and removed messages stay removed by the fold.
"""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.accepting import Prompt, accept, with_meaning
from tenuto.core.cancelling import cancel_session, queued_run
from tenuto.core.day_usage import Booking
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import (
    InvalidInput,
    NotFound,
    NothingToUndo,
    NotLast,
    Outdated,
    SessionBusy,
)
from tenuto.core.event import (
    Event,
    RunUpdated,
    SessionCompacted,
    SessionDeleted,
    SessionRewound,
    SessionUpdated,
)
from tenuto.core.message import Message
from tenuto.core.parking import roused
from tenuto.core.questioning import steered
from tenuto.core.run import Ending, Reason, Run, RunStatus, Usage, WhenBusy
from tenuto.core.session import Fence, SessionChanges, TitleSource
from tenuto.core.settling import settle
from tenuto.core.value import MessageId, PartId, RunId, Value

KEEPS_ITS_MODEL = "a pane of a comparison keeps its model until it is kept as a session"


class QueueEdit(Value):
    """A change to a queued run; a field that is None stays as it is."""

    input: Any = None
    position: int | None = None
    steer: bool = False
    held: bool | None = None
    expanded: str | None = None
    """What the command of `input` means; None: it is none."""


def undo(desk: Desk, moment: Moment) -> Change[tuple[MessageId, ...]]:
    """Remove the last user message and all after it."""
    _must_be_idle(desk)
    users = [message.id for message in desk.outline if message.role == "user"]
    if not users:
        raise NothingToUndo(f"session {desk.session.id} has no message to undo")
    return _rewind(desk, users[-1], moment)


def ask_again(desk: Desk, message_id: MessageId, prompt: Prompt, moment: Moment) -> Change[Run]:
    """Ask the last user message again, if `message_id` still is the last."""
    _must_be_idle(desk)
    users = [message.id for message in desk.outline if message.role == "user"]
    if not users:
        raise NothingToUndo(f"session {desk.session.id} has no message to ask again")
    if users[-1] != message_id:
        raise Outdated(f"message {message_id} is no longer the last")
    return run_again(desk, message_id, prompt, moment)


def run_again(desk: Desk, message_id: MessageId, prompt: Prompt, moment: Moment) -> Change[Run]:
    """Remove a user message and all after it, and accept a prompt in its place, at once."""
    _must_be_idle(desk)
    if not any(m.id == message_id and m.role == "user" for m in desk.outline):
        raise NotFound(f"session {desk.session.id} has no user message {message_id}")
    rewound = _rewind(desk, message_id, moment)
    accepted = accept(desk, prompt, moment)
    return replace(accepted, events=rewound.events + accepted.events)


def go_on(desk: Desk, run_id: RunId, prompt: Prompt, moment: Moment) -> Change[Run]:
    """Accept a run that goes on from the kept partial of the session's last run."""
    _must_be_idle(desk)
    if desk.last_run is None or desk.last_run.id != run_id:
        raise NotLast(f"run {run_id} is not the last of its session")
    if not any(message.run_id == run_id for message in desk.outline):
        raise NotLast(f"nothing is left of run {run_id} to go on from")
    return accept(desk, replace(prompt, continues=run_id), moment)


def compact(desk: Desk, prompt: Prompt, moment: Moment) -> Change[Run]:
    _must_be_idle(desk)
    return accept(desk, prompt, moment)


def update(desk: Desk, changes: SessionChanges, moment: Moment) -> Change[None]:
    """Change settings that the user named. A title given here is the user's for good."""
    if changes.model is not UNSET and desk.session.comparison is not None:
        raise InvalidInput(KEEPS_ITS_MODEL)
    if changes.title is not UNSET:
        changes = replace(changes, title_source=TitleSource.USER)
    event = SessionUpdated(session_id=desk.session.id, at=moment.now, by=moment.by, changes=changes)
    return Change(events=(event,) if changes.fields() else (), control=desk.control, result=None)


def name(
    desk: Desk, title: str | None, moment: Moment, *, booked: tuple[Booking, ...] = ()
) -> Change[None]:
    """Give a generated title, unless the user named the session meanwhile; it is paid for anyway."""
    named = desk.session.title_source is not TitleSource.PROVISIONAL
    events: tuple[Event, ...] = ()
    if title is not None and not named and not desk.session.comparison:
        changes = SessionChanges(title=title, title_source=TitleSource.AUTO)
        events = (
            SessionUpdated(
                session_id=desk.session.id, at=moment.now, by=moment.by, changes=changes
            ),
        )
    return Change(events=events, control=desk.control, result=None, booked=booked)


def change_queued(desk: Desk, run_id: RunId, edit: QueueEdit, moment: Moment) -> Change[Run]:
    """Change what a waiting run asks, or when its turn is."""
    run = queued_run(desk, run_id)
    if edit.input is not None:
        run = replace(run, input=edit.input)
    if edit.steer:
        run = replace(run, when_busy=WhenBusy.STEER)
    if edit.held is not None:
        run = replace(run, held=edit.held)
    events: list[Event] = [
        RunUpdated(session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run)
    ]
    control = desk.control
    if edit.input is not None:
        control = replace(control, expanded=with_meaning(control, run_id, edit.expanded))
    if edit.position is not None:
        order = [other for other in control.queue if other != run_id]
        order.insert(min(edit.position, len(order)), run_id)
        control = replace(control, queue=tuple(order))
        told = SessionChanges(queue=control.queue)
        events.append(
            SessionUpdated(session_id=run.session_id, at=moment.now, by=moment.by, changes=told)
        )
    answered = steered(desk, (run,), moment)
    control = roused(control) if answered else control
    return Change(events=(*events, *answered), control=control, result=run)


def compacted(
    desk: Desk,
    fence: Fence,
    through: MessageId,
    summary: str,
    moment: Moment,
    *,
    part: PartId | None = None,
) -> Change[None]:
    """Put a summary in place of all up to `through`, for the model only; of that message, only
    what comes up to `part`, if one is given."""
    run = desk.held_by(fence)
    if desk.control.cancels.reason_for(run):
        return Change(events=(), control=desk.control, result=None)
    event = SessionCompacted(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        through_message_id=through,
        through_part_id=part,
        summary=summary,
    )
    return Change(events=(event,), control=desk.control, result=None)


def shut(desk: Desk, moment: Moment) -> Change[int]:
    """Before a delete: stop the active run and fence its driver, so that what is open stays as it
    is until it is read; the epoch says whether it did."""
    if desk.active is None:
        return Change(events=(), control=desk.control, result=desk.control.epoch)
    cancels = desk.control.cancels.cover(desk.active, Reason.DELETED, by=moment.by)
    # Without an owner the rescuer ends the run, should the delete never come.
    control = replace(
        desk.control, epoch=desk.control.epoch + 1, owner=None, parked=None, cancels=cancels
    )
    return Change(events=(), control=control, result=control.epoch)


def delete(
    desk: Desk,
    open_message: Message | None,
    moment: Moment,
    *,
    used: tuple[RunId, Usage] | None = None,
) -> Change[None]:
    """End everything as `deleted` and close the log. The driver finds itself fenced.

    `used` is what a run under way has used: nobody else will say, and it must be paid for.
    """
    change = cancel_session(desk, Reason.DELETED, moment)
    events, finished, control = change.events, change.finished, change.control
    if desk.active is not None:
        fence = Fence(run_id=desk.active.id, epoch=desk.control.epoch)
        usage = _used(desk, desk.active) if used is None or used[0] != desk.active.id else used[1]
        ending = Ending(status=RunStatus.CANCELLED, reason=Reason.DELETED, usage=usage)
        ended = settle(replace(desk, control=control), fence, ending, open_message, moment)
        events, finished = ended.events + events, ended.finished + finished
        control = ended.control
    last = SessionDeleted(session_id=desk.session.id, at=moment.now, by=moment.by)
    return Change(
        events=(*events, last),
        control=replace(control, epoch=control.epoch + 1, owner=None),
        result=None,
        finished=finished,
    )


def _used(desk: Desk, run: Run) -> Usage:
    """What the run says itself, or what it had used when it was parked."""
    return run.usage if desk.control.pause is None else desk.control.pause.usage


def _rewind(desk: Desk, from_id: MessageId, moment: Moment) -> Change[tuple[MessageId, ...]]:
    ids = [message.id for message in desk.outline]
    removed = tuple(ids[ids.index(from_id) :])
    event = SessionRewound(session_id=desk.session.id, at=moment.now, by=moment.by, removed=removed)
    return Change(events=(event,), control=desk.control, result=removed)


def _must_be_idle(desk: Desk) -> None:
    if not desk.idle:
        raise SessionBusy(f"session {desk.session.id} is working")
