"""Cancelling: what a mark covers, and what becomes of runs that never started."""

from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import NotFound, SessionBusy
from tenuto.core.event import Event, RunUpdated
from tenuto.core.message import Message, assistant_message, user_message
from tenuto.core.parking import roused
from tenuto.core.questioning import steered
from tenuto.core.run import Ending, Mode, OnDisconnect, Reason, Run, RunStatus
from tenuto.core.session import Control
from tenuto.core.told import message_finished, message_started, run_finished, with_result, without
from tenuto.core.value import NodeId, RunId, Value

T = TypeVar("T")


class Covered(Value):
    """What a cancel covers: runs that had not ended when it was made."""

    runs: tuple[RunId, ...]
    active: RunId | None
    """The covered run that is still being worked on; its driver will settle it."""
    parked: RunId | None = None
    """The same, if nobody works on it: whoever covered it settles it."""
    held: tuple[RunId, ...] = ()
    """What waits, and is held from now on."""


class Waiters(StrEnum):
    """What a cancel of a session does to the runs that wait."""

    CANCEL = "cancel"
    HOLD = "hold"


def cancel_session(
    desk: Desk, reason: Reason, moment: Moment, *, up_to: int | None = None
) -> Change[Covered]:
    """Cover what runs and waits, if accepted by `up_to`. What waits ends here, in order."""
    mark = desk.control.accept_count if up_to is None else up_to
    active = tuple(run for run in (desk.active,) if run and run.accept_number <= mark)
    queue = tuple(run for run in desk.queue if run.accept_number <= mark)
    cancels = desk.control.cancels.cover_all(mark, active, reason, by=moment.by)
    return _cancel(replace(desk.control, cancels=cancels), desk, active, queue, reason, moment)


def cancel_unheld(desk: Desk, reason: Reason, moment: Moment) -> Change[Covered]:
    """Cover what runs and waits, but for what is held: that is somebody's to let go."""
    active = tuple(run for run in (desk.active,) if run)
    queue = tuple(run for run in desk.queue if not run.held)
    cancels = desk.control.cancels
    for run in active:
        cancels = cancels.cover(run, reason, by=moment.by)
    return _cancel(replace(desk.control, cancels=cancels), desk, active, queue, reason, moment)


def _cancel(
    control: Control,
    desk: Desk,
    active: tuple[Run, ...],
    queue: tuple[Run, ...],
    reason: Reason,
    moment: Moment,
) -> Change[Covered]:
    covered = replace(desk, control=roused(control) if active else control)
    runs = tuple(run.id for run in (*active, *queue))
    cancelled = _covered(desk, runs, active[0] if active else None)
    return with_result(_cancel_queued_all(covered, queue, reason, moment), cancelled)


def hold_session(
    desk: Desk, reason: Reason, moment: Moment, *, up_to: int | None = None
) -> Change[Covered]:
    """Cover what runs; what waits is held, in its place. Of both, what was accepted by `up_to`."""
    mark = desk.control.accept_count if up_to is None else up_to
    active = desk.active if desk.active and desk.active.accept_number <= mark else None
    waiting = tuple(run for run in desk.queue if run.accept_number <= mark and not run.held)
    control = desk.control
    if active is not None:
        cancels = control.cancels.cover(active, reason, by=moment.by)
        control = roused(replace(control, cancels=cancels))
    runs = () if active is None else (active.id,)
    return Change(
        events=tuple(_told(replace(run, held=True), moment) for run in waiting),
        control=control,
        result=replace(_covered(desk, runs, active), held=tuple(run.id for run in waiting)),
    )


def release(desk: Desk, moment: Moment) -> Change[tuple[RunId, ...]]:
    """Let all go on that is held."""
    held = tuple(replace(run, held=False) for run in desk.queue if run.held)
    answered = steered(desk, held, moment)
    return Change(
        events=(*(_told(run, moment) for run in held), *answered),
        control=roused(desk.control) if answered else desk.control,
        result=tuple(run.id for run in held),
    )


def _covered(desk: Desk, runs: tuple[RunId, ...], active: Run | None) -> Covered:
    active_id = None if active is None else active.id
    is_parked = desk.control.parked is not None
    return Covered(runs=runs, active=active_id, parked=active_id if is_parked else None)


def _told(run: Run, moment: Moment) -> Event:
    return RunUpdated(
        session_id=run.session_id, run_id=run.id, at=moment.now, by=moment.by, run=run
    )


def cancel_run(desk: Desk, run_id: RunId, reason: Reason, moment: Moment) -> Change[Covered]:
    """Cover one run only; nothing if it has ended."""
    if desk.active is not None and desk.active.id == run_id:
        cancels = desk.control.cancels.cover(desk.active, reason, by=moment.by)
        control = roused(replace(desk.control, cancels=cancels))
        return Change(events=(), control=control, result=_covered(desk, (run_id,), desk.active))
    for run in desk.queue:
        if run.id == run_id:
            change = cancel_queued(desk, run, reason, moment)
            return with_result(change, Covered(runs=(run_id,), active=None))
    return Change(events=(), control=desk.control, result=Covered(runs=(), active=None))


def drop_attached(desk: Desk, gone: Collection[NodeId], moment: Moment) -> Change[None]:
    """End the queued runs whose connection was held by one of these nodes."""
    attached = (run for run in desk.queue if run.on_disconnect is OnDisconnect.CANCEL)
    # An older version did not say who held it; its process is gone.
    holders = ((run, desk.control.attached.get(run.id)) for run in attached)
    lost = tuple(run for run, holder in holders if holder is None or holder in gone)
    return _cancel_queued_all(desk, lost, Reason.DISCONNECT, moment)


def drop_attached_after(
    desk: Desk, change: Change[T], gone: Collection[NodeId], moment: Moment
) -> Change[T]:
    """The same change, and with it the end of what waited for a connection of these nodes."""
    after = replace(desk, active=None, control=change.control)
    dropped = drop_attached(after, gone, moment)
    return Change(
        events=change.events + dropped.events,
        control=dropped.control,
        result=change.result,
        finished=change.finished + dropped.finished,
    )


def cancel_queued(desk: Desk, run: Run, reason: Reason, moment: Moment) -> Change[Run]:
    """End a run that never started: its prompt and one empty cancelled answer are kept."""
    ending = Ending(status=RunStatus.CANCELLED, reason=reason)
    events: list[Event] = []
    finished: tuple[Message, ...] = ()
    if run.mode is not Mode.COMPACT:
        if run.continues is None:
            events.append(message_started(user_message(run, of=run.id), run, moment))
        answer = assistant_message(run, of=run.id, now=moment.now)
        events.append(message_started(answer, run, moment))
        events.append(message_finished(answer, run, ending, moment))
        finished = (replace(answer, finish_reason=ending.finish_reason),)
    ended = run.end(ending, moment.now)
    events.append(run_finished(ended, moment))
    control = replace(
        desk.control,
        queue=without(desk.control, run),
        cancels=desk.control.cancels.forget(run),
    )
    return Change(events=tuple(events), control=control, result=ended, finished=finished)


def withdraw(desk: Desk, run_id: RunId, moment: Moment) -> Change[Run]:
    """Take a queued run back: no message, only the run with its input."""
    run = queued_run(desk, run_id)
    ending = Ending(status=RunStatus.CANCELLED, reason=Reason.WITHDRAWN)
    ended = run.end(ending, moment.now)
    control = replace(desk.control, queue=without(desk.control, run))
    return Change(events=(run_finished(ended, moment),), control=control, result=ended)


def queued_run(desk: Desk, run_id: RunId) -> Run:
    for run in desk.queue:
        if run.id == run_id:
            return run
    if desk.active is not None and desk.active.id == run_id:
        raise SessionBusy(f"run {run_id} has started")
    raise NotFound(f"run {run_id} is not waiting")


def _cancel_queued_all(
    desk: Desk, runs: tuple[Run, ...], reason: Reason, moment: Moment
) -> Change[None]:
    change: Change[None] = Change(events=(), control=desk.control, result=None)
    for run in runs:
        part = cancel_queued(replace(desk, control=change.control), run, reason, moment)
        change = Change(
            events=change.events + part.events,
            control=part.control,
            result=None,
            finished=change.finished + part.finished,
        )
    return change
