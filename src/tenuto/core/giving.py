"""A tool gives files along with its result: from then on the session speaks of them."""

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import PartUpdated
from tenuto.core.message import ToolChange
from tenuto.core.session import Fence
from tenuto.core.value import MessageId


def give(
    desk: Desk, fence: Fence, message_id: MessageId, ended: ToolChange, moment: Moment
) -> Change[None]:
    """A decision, not an append: only so do the files belong to the session at once."""
    run = desk.held_by(fence)
    updated = PartUpdated(
        session_id=run.session_id,
        run_id=run.id,
        at=moment.now,
        by=moment.by,
        message_id=message_id,
        part=ended,
    )
    return Change(events=(updated,), control=desk.control, result=None)
