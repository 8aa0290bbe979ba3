"""Asking a person, whatever about: one life for every request, from its first word to its last.

The first answer wins. A request ends with its run; a run that only waits for one can be parked.
"""

from msgspec.structs import replace

from tenuto.core.approval import Approval
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import AlreadyAnswered
from tenuto.core.event import (
    ApprovalRequested,
    ApprovalResolved,
    Event,
    PartUpdated,
    QuestionAnswered,
    QuestionAsked,
)
from tenuto.core.message import ToolPart, ToolState, change_of
from tenuto.core.question import Question
from tenuto.core.run import Run
from tenuto.core.session import Fence, Pause
from tenuto.core.thing import R, Request
from tenuto.core.value import MessageId, Value


class Stand(Value):
    """Where a call stands that asks before it begins: whoever goes on with it needs no more."""

    part: ToolPart
    message_id: MessageId
    pause: Pause | None = None


def ask(
    desk: Desk, fence: Fence, request: Request, stand: Stand, moment: Moment
) -> Change[ToolPart]:
    """Ask before a call begins: it waits from now on, and its run can be parked."""
    run = desk.held_by(fence)
    waiting = replace(stand.part, state=ToolState.WAITING_APPROVAL)
    is_waiting = waiting == stand.part
    updated = PartUpdated(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        message_id=stand.message_id,
        part=change_of(stand.part, waiting),
    )
    return Change(
        events=(*(() if is_waiting else (updated,)), asked(request, moment)),
        control=replace(desk.control, pause=stand.pause),
        result=waiting,
    )


def ask_meanwhile(desk: Desk, fence: Fence, request: Request, moment: Moment) -> Change[None]:
    """Ask while the call is under way: what it has begun ends with its owner, and so does this."""
    desk.held_by(fence)
    return Change(events=(asked(request, moment),), control=desk.control, result=None)


def pending(desk: Desk, kind: type[R], request_id: str) -> R:
    """Raises AlreadyAnswered if it is no longer open."""
    found = next((one for one in desk.open(kind) if one.id == request_id), None)
    if found is None:
        raise AlreadyAnswered(f"{kind.__name__.lower()} {request_id} is already answered")
    return found


def of_run(desk: Desk, run: Run) -> tuple[Request, ...]:
    """What the run asks now, oldest first."""
    return tuple(
        one for one in desk.things if isinstance(one, Approval | Question) and one.run_id == run.id
    )


def withdrawn(desk: Desk, run: Run, moment: Moment) -> list[Event]:
    """With the end of a run, all that it still asks."""
    return [answered(request.withdraw(), moment) for request in of_run(desk, run)]


def asked(request: Request, moment: Moment) -> Event:
    match request:
        case Approval():
            return ApprovalRequested(
                session_id=request.session_id,
                run_id=request.run_id,
                at=moment.now,
                by=moment.by,
                approval=request,
            )
        case Question():
            return QuestionAsked(
                session_id=request.session_id,
                run_id=request.run_id,
                at=moment.now,
                by=moment.by,
                question=request,
            )


def answered(request: Request, moment: Moment) -> Event:
    """It is no longer open."""
    match request:
        case Approval():
            return ApprovalResolved(
                session_id=request.session_id,
                run_id=request.run_id,
                at=moment.now,
                by=moment.by,
                approval=request,
            )
        case Question():
            return QuestionAnswered(
                session_id=request.session_id,
                run_id=request.run_id,
                at=moment.now,
                by=moment.by,
                question=request,
            )
