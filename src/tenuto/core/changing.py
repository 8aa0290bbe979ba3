"""Changing files, as pure decisions: each is in the log before it is done, and again when it is."""

from collections.abc import Sequence

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import SessionBusy
from tenuto.core.event import FileChanged, FileChanging
from tenuto.core.file_change import FileChange
from tenuto.core.session import Fence
from tenuto.core.value import RunId


def changing(desk: Desk, fence: Fence | None, change: FileChange, moment: Moment) -> Change[None]:
    """A run is about to change a file, whose bytes are kept."""
    event = FileChanging(
        session_id=desk.session.id,
        run_id=_teller(desk, fence, change.run_id),
        at=moment.now,
        by=moment.by,
        change=change,
    )
    return Change(events=(event,), control=desk.control, result=None)


def changed(
    desk: Desk, fence: Fence | None, changes: Sequence[FileChange], moment: Moment
) -> Change[None]:
    """A run has changed these files."""
    events = tuple(
        FileChanged(
            session_id=desk.session.id,
            run_id=_teller(desk, fence, change.run_id),
            at=moment.now,
            by=moment.by,
            change=change,
        )
        for change in changes
    )
    return Change(events=events, control=desk.control, result=None)


def _teller(desk: Desk, fence: Fence | None, run_id: RunId) -> RunId | None:
    """The run that the events are of; None: none any more. What a sub-agent changes is its
    parent's, whether or not that waits for it still; a job, which has no fence, outlives its run."""
    if fence is not None and fence.run_id == run_id:
        return desk.held_by(fence).id
    return run_id if desk.active is not None and desk.active.id == run_id else None


def reverting(desk: Desk, change: FileChange, moment: Moment) -> Change[None]:
    """A person is about to take a change of an ended run back, or to put it there again."""
    must_have_ended(desk, change.run_id)
    # Of no run: the one that made the change has ended, and nothing of it follows that.
    event = FileChanging(session_id=desk.session.id, at=moment.now, by=moment.by, change=change)
    return Change(events=(event,), control=desk.control, result=None)


def reverted(desk: Desk, change: FileChange, moment: Moment) -> Change[None]:
    """What came of it."""
    event = FileChanged(session_id=desk.session.id, at=moment.now, by=moment.by, change=change)
    return Change(events=(event,), control=desk.control, result=None)


def must_have_ended(desk: Desk, run_id: RunId) -> None:
    if desk.active is not None and desk.active.id == run_id:
        raise SessionBusy(f"run {run_id} is still at work")
