"""Parking: a run that only waits for a person is nobody's, until it is answered.

Whoever worked on it may go, or die: nothing of it is under way, so nothing of it is lost.
"""

from msgspec.structs import replace

from tenuto.core.asking import of_run
from tenuto.core.desk import Change, Desk
from tenuto.core.message import Message, ToolPart, ToolState
from tenuto.core.session import Control, Fence, Parking


def park(desk: Desk, fence: Fence, message: Message | None) -> Change[bool]:
    """Take the run from its owner, if it only waits for a person; whether that is so. `message` is
    its unfinished answer as the log has it."""
    run = desk.held_by(fence)
    waits = () if message is None else waiting_calls(message)
    if (
        not waits
        or run.ends_with_another
        or desk.control.pause is None
        or desk.control.cancels.reason_for(run)
    ):
        return Change(events=(), control=desk.control, result=False)
    asked = {request.call_id for request in of_run(desk, run)}
    # An answer that nobody has acted upon yet must not be waited for again.
    is_due = any(call.call_id not in asked for call in waits)
    control = replace(
        desk.control,
        epoch=desk.control.epoch + 1,
        owner=None,
        parked=Parking.DUE if is_due else Parking.WAITING,
    )
    return Change(events=(), control=control, result=True)


def waiting_calls(message: Message) -> tuple[ToolPart, ...]:
    """The calls that wait for a person; none if another one is under way."""
    calls = [part for part in message.parts if isinstance(part, ToolPart)]
    if any(call.state is ToolState.RUNNING for call in calls):
        return ()
    return tuple(call for call in calls if call.state is ToolState.WAITING_APPROVAL)


def roused(control: Control) -> Control:
    """There is something to do for a run that is parked; any other is as it was."""
    return control if control.parked is None else replace(control, parked=Parking.DUE)
