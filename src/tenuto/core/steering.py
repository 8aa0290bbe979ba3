"""Steering: prompts that join a run that is already at work."""

from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import Event, MessageFinished
from tenuto.core.message import Message, assistant_message, user_message
from tenuto.core.run import Ending, Reason, RunStatus, WhenBusy
from tenuto.core.session import Fence
from tenuto.core.told import message_started, run_finished, without
from tenuto.core.value import Value


class Steered(Value):
    """Prompts that the active run took, and the message in which it goes on."""

    messages: tuple[Message, ...]
    answer: Message


def take_steers(
    desk: Desk, fence: Fence, open_message: Message, moment: Moment
) -> Change[Steered | None]:
    """At a step boundary: give the waiting steers to the active run, unless a cancel covers it."""
    run = desk.held_by(fence)
    cancels = desk.control.cancels
    waiting = (run for run in desk.queue if run.when_busy is WhenBusy.STEER and not run.held)
    steers = [steer for steer in waiting if not cancels.reason_for(steer)]
    if not steers or cancels.reason_for(run):
        return Change(events=(), control=desk.control, result=None)
    events: list[Event] = [
        MessageFinished(
            session_id=run.session_id,
            run_id=run.id,
            at=moment.now,
            by=moment.by,
            message_id=open_message.id,
            finish_reason="steered",
        )
    ]
    control = desk.control
    messages: list[Message] = []
    for steer in steers:
        meaning = control.expanded.get(steer.id)
        message = user_message(steer, of=run.id, expanded=meaning)
        messages.append(message)
        events.append(message_started(message, run, moment))
        ending = Ending(status=RunStatus.COMPLETED, reason=Reason.END_TURN)
        taken = replace(steer.end(ending, moment.now), steered_into=run.id)
        events.append(run_finished(taken, moment))
        control = replace(control, queue=without(control, steer))
    answer = assistant_message(steers[-1], of=run.id, now=moment.now)
    events.append(message_started(answer, run, moment))
    return Change(
        events=tuple(events),
        control=replace(control, open_message=answer.id),
        result=Steered(messages=tuple(messages), answer=answer),
        finished=(replace(open_message, finish_reason="steered"),),
    )
