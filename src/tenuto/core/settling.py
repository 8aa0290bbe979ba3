"""Settling: the one ending of a run that was at work. A tie goes to the cancel."""

from msgspec.structs import replace

from tenuto.core.asking import withdrawn
from tenuto.core.continuing import continued
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import Event, PartUpdated
from tenuto.core.message import Message, ToolState, change_of, close_tools, left_open
from tenuto.core.run import Ending, Run, RunStatus
from tenuto.core.session import Control, Fence
from tenuto.core.tending import stopped_with
from tenuto.core.told import message_finished, run_finished


def settle(
    desk: Desk, fence: Fence, ending: Ending, open_message: Message | None, moment: Moment
) -> Change[Run]:
    """End the active run, once. `open_message` is its unfinished answer as the log has it.

    A cancel that covers the run wins over any other ending.
    """
    run = desk.held_by(fence)
    if reason := desk.control.cancels.reason_for(run):
        moment = replace(moment, by=desk.control.cancels.by_whom(run))
        ending = Ending(status=RunStatus.CANCELLED, reason=reason, usage=ending.usage)
    events: list[Event] = []
    finished: tuple[Message, ...] = ()
    if open_message is not None:
        state = (
            ToolState.INTERRUPTED if ending.status is RunStatus.INTERRUPTED else ToolState.CANCELLED
        )
        whole = close_tools(open_message, state)
        events += [
            PartUpdated(
                session_id=run.session_id,
                run_id=run.id,
                at=moment.now,
                by=moment.by,
                message_id=whole.id,
                part=change_of(part, replace(part, state=state)),
            )
            for part in left_open(open_message)
        ]
        events.append(message_finished(whole, run, ending, moment))
        finished = (replace(whole, finish_reason=ending.finish_reason),)
    events += withdrawn(desk, run, moment)
    if ending.status is RunStatus.CANCELLED:
        events += stopped_with(desk, run, moment)
    control = _released(desk.control, run)
    if control.veil is not None:
        ending, veil = control.veil.over(run, ending)
        control = replace(control, veil=veil)
    ended = run.end(ending, moment.now)
    events.append(run_finished(ended, moment))
    settled = Change(events=tuple(events), control=control, result=ended, finished=finished)
    return continued(desk, settled, moment)


def _released(control: Control, run: Run) -> Control:
    return replace(
        control,
        epoch=control.epoch + 1,
        owner=None,
        parked=None,
        pause=None,
        children=(),
        open_message=None,
        cancels=control.cancels.forget(run),
    )
