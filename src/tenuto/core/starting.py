"""Starting: the next run in order is given to a node, with its right to write."""

from collections.abc import Callable

from msgspec.structs import replace

from tenuto.core.cancelling import cancel_queued
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.event import Event, RunStarted
from tenuto.core.message import Message, assistant_message, user_message
from tenuto.core.run import Mode, Reason, Run
from tenuto.core.session import Control, Fence, Parking, Pause, Session
from tenuto.core.told import message_started, with_result, without
from tenuto.core.value import NodeId, Value


class Started(Value):
    """A run that was just given to this node, with its right to write."""

    run: Run
    session: Session
    fence: Fence
    model: str
    """What to ask, also where the run may not say so."""
    message: Message | None
    """The open assistant message; None for a run that writes none (compaction). Of a run that goes
    on after a pause, only the log knows what it has."""
    holder: NodeId | None = None
    """The node that holds the connection with which it ends; None: it ends with none."""
    pause: Pause | None = None
    """Where it goes on; None: at its beginning."""
    has_jobs: bool = False
    """Whether the session ever had one."""
    covered: Reason | None = None
    """Why it is to end at once; None: it is not."""


def start_next(
    desk: Desk,
    moment: Moment,
    *,
    again: bool = False,
    may: Callable[[Run], bool] = lambda run: True,
) -> Change[Started | None]:
    """Give the next queued run to this node, or one that was parked and for which there is
    something to do; nothing if one is active, none waits, or this node may not start it.

    `again`: a start of this node is in doubt, so if the active run is this node's, that is it.
    """
    if again and desk.active is not None and desk.control.owner == moment.node:
        return Change(events=(), control=desk.control, result=_given(desk, desk.active))
    if desk.control.parked is Parking.DUE and desk.active is not None:
        return _take(desk, desk.active, moment, may)
    run = desk.next
    if desk.active is not None or run is None:
        return Change(events=(), control=desk.control, result=None)
    if reason := desk.control.cancels.reason_for(run):
        # Cancels end queued runs in their own transaction; this is the second lock on the door.
        moment = replace(moment, by=desk.control.cancels.by_whom(run))
        return with_result(cancel_queued(desk, run, reason, moment), None)
    if not may(run):
        return Change(events=(), control=desk.control, result=None)
    run = run.start(moment.now)
    events: list[Event] = [
        RunStarted(session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run)
    ]
    answer: Message | None = None
    if run.mode is not Mode.COMPACT:
        if run.continues is None:
            meaning = desk.control.expanded.get(run.id)
            prompt = user_message(run, of=run.id, expanded=meaning)
            events.append(message_started(prompt, run, moment))
        answer = assistant_message(run, of=run.id, now=moment.now)
        events.append(message_started(answer, run, moment))
    control = replace(
        desk.control,
        epoch=desk.control.epoch + 1,
        owner=moment.node,
        open_message=answer.id if answer else None,
        queue=without(desk.control, run),
    )
    started = Started(
        run=run,
        session=desk.session,
        fence=Fence(run_id=run.id, epoch=control.epoch),
        model=_model(run, control),
        message=answer,
        holder=control.attached.get(run.id),
        has_jobs=control.has_jobs,
    )
    return Change(events=tuple(events), control=control, result=started)


def _take(
    desk: Desk, run: Run, moment: Moment, may: Callable[[Run], bool]
) -> Change[Started | None]:
    """A parked run, given to this node. Whoever only ends it needs no folder."""
    if not desk.control.cancels.reason_for(run) and not may(run):
        return Change(events=(), control=desk.control, result=None)
    control = replace(desk.control, epoch=desk.control.epoch + 1, owner=moment.node, parked=None)
    given = _given(replace(desk, control=control), run)
    return Change(events=(), control=control, result=given)


def _given(desk: Desk, run: Run) -> Started:
    """The active run as it was given; nothing was done for it since."""
    control = desk.control
    answer: Message | None = None
    if control.open_message is not None:
        made = assistant_message(run, of=run.id, now=run.started_at or run.accepted_at)
        answer = replace(made, id=control.open_message)
    return Started(
        run=run,
        session=desk.session,
        fence=Fence(run_id=run.id, epoch=control.epoch),
        model=_model(run, control),
        message=answer,
        holder=control.attached.get(run.id),
        pause=control.pause,
        has_jobs=control.has_jobs,
        covered=control.cancels.reason_for(run),
    )


def _model(run: Run, control: Control) -> str:
    model = run.model if control.veil is None else control.veil.model
    if model is None:
        raise ValueError(f"nobody knows which model run {run.id} is for")
    return model
