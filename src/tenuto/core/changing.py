"""Changing files, as pure decisions: each is in the log before it is done, and again when it is."""

from collections.abc import Sequence

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import SessionBusy
from tenuto.core.event import FileChanged, FileChanging
from tenuto.core.file_change import FileChange
from tenuto.core.session import Fence
from tenuto.core.value import RunId


def changing(desk: Desk, fence: Fence, change: FileChange, moment: Moment) -> Change[None]:
    """The active run is about to change a file, whose bytes are kept."""
    run = desk.held_by(fence)
    event = FileChanging(
        session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, change=change
    )
    return Change(events=(event,), control=desk.control, result=None)


def changed(
    desk: Desk, fence: Fence, changes: Sequence[FileChange], moment: Moment
) -> Change[None]:
    """The active run has changed these files."""
    run = desk.held_by(fence)
    events = tuple(
        FileChanged(
            session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, change=change
        )
        for change in changes
    )
    return Change(events=events, control=desk.control, result=None)


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
