"""A run says that it waits, for its provider or its node, that it goes on, and without what."""

from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import RunUpdated
from tenuto.core.home import needs_folder
from tenuto.core.run import Run, Waiting
from tenuto.core.session import Fence
from tenuto.core.value import Instant
from tenuto.core.veil import IN_PLACE_OF_A_REASON

MOST_NOTICES = 20
AWAY = Waiting(reason="node_away")


def wait(desk: Desk, fence: Fence, waiting: Waiting | None, moment: Moment) -> Change[None]:
    """None: it goes on. A blind run does not say why: the reason names its provider."""
    if waiting is not None and desk.control.veil is not None:
        waiting = replace(waiting, reason=IN_PLACE_OF_A_REASON)
    return _say(desk, replace(desk.held_by(fence), waiting=waiting), moment)


def for_home(desk: Desk, moment: Moment, *, since: Instant | None = None) -> Change[None]:
    """The next run, if it was accepted before then, says that the node of its folder is away."""
    nothing: Change[None] = Change(events=(), control=desk.control, result=None)
    run = desk.next
    if desk.active is not None or run is None:
        return nothing
    if not needs_folder(run) or run.waiting == AWAY:
        return nothing
    if since is not None and run.accepted_at > since:
        return nothing
    return _say(desk, replace(run, waiting=AWAY), moment)


def notice(desk: Desk, fence: Fence, words: tuple[str, ...], moment: Moment) -> Change[None]:
    run = desk.held_by(fence)
    new = tuple(word for word in words if word not in run.notices)
    return _say(desk, replace(run, notices=(*run.notices, *new)[:MOST_NOTICES]), moment)


def _say(desk: Desk, run: Run, moment: Moment) -> Change[None]:
    """A run that is being stopped says no more."""
    if run == desk.active or desk.control.cancels.reason_for(run):
        return Change(events=(), control=desk.control, result=None)
    event = RunUpdated(
        session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run
    )
    return Change(events=(event,), control=desk.control, result=None)
