"""Sub-agents: a call that begins hands its work to a session of its own, and ends with it."""

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core.accepting import Prompt, accept
from tenuto.core.cancelling import Covered, cancel_run
from tenuto.core.desk import Change, Desk, Joint, Moment
from tenuto.core.error import SessionBusy
from tenuto.core.event import PartUpdated
from tenuto.core.message import ToolPart, ToolState, change_of
from tenuto.core.run import Reason, Run, ToolScope
from tenuto.core.session import Fence
from tenuto.core.value import MessageId, SessionId, Value


class Assignment(Value):
    """What a sub-agent is to do."""

    prompt: str
    title: str = ""
    tools: ToolScope = ToolScope.LOOK
    session: SessionId | None = None
    """The sub-agent that is to go on; None: a new one."""


def begin(
    parent: Desk,
    child: Desk,
    fence: Fence,
    prompt: Prompt,
    part: ToolPart,
    message_id: MessageId,
    moment: Moment,
) -> Joint[tuple[Run, ToolPart] | None]:
    """The call runs from now on, and the sub-agent's prompt is accepted: both or neither. None if
    the run is being stopped."""
    run = parent.held_by(fence)
    if parent.control.cancels.reason_for(run):
        return Joint(changes={}, result=None)
    if not child.idle:
        raise SessionBusy(f"session {child.session.id} is still working")
    details = {} if part.details is UNSET else part.details
    started = replace(
        part,
        state=ToolState.RUNNING,
        # Whatever becomes of the call, it says where its work is.
        output=f"[sub-agent: session {child.session.id}]",
        details={**details, "session_id": child.session.id},
    )
    updated = PartUpdated(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        message_id=message_id,
        part=change_of(part, started),
    )
    children = tuple(dict.fromkeys((*parent.control.children, child.session.id)))
    accepted = accept(child, prompt, moment)
    changes = {
        parent.session.id: Change(
            events=(updated,),
            control=replace(parent.control, children=children),
            result=started,
        ),
        child.session.id: accepted,
    }
    return Joint(changes=changes, result=(accepted.result, started))


def cover(
    desks: Mapping[SessionId, Desk], change: Change[Covered], reason: Reason, moment: Moment
) -> Joint[Covered]:
    """A cancel of a session, and with it of what its sub-agents do for the runs that it covers."""
    changes: dict[SessionId, Change[Covered]] = {}
    for session_id, desk in desks.items():
        unfinished = (run for run in (desk.active, *desk.queue) if run is not None)
        for run in unfinished:
            if run.parent_run in change.result.runs:
                changes[session_id] = cancel_run(desk, run.id, reason, moment)
    return Joint(changes=changes, result=change.result)
