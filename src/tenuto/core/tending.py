"""Tending jobs: started by a run, left to the session, stopped with a run that is cancelled."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import Conflict
from tenuto.core.event import Event, JobEnded, JobStarted, JobUpdated
from tenuto.core.job import Job, JobEnding, JobPrint, JobState, JobTold
from tenuto.core.run import Run
from tenuto.core.session import Control, Fence
from tenuto.core.value import JobId

MOST = 20
"""Jobs of one session that run at once."""

Which = Callable[[Job], bool]


def start(desk: Desk, fence: Fence, job: Job, moment: Moment) -> Change[Job]:
    """Its process begins after this, and never without. Raises Conflict."""
    run = desk.held_by(fence)
    if desk.control.cancels.reason_for(run):
        raise Conflict("the run is being stopped")
    if len(desk.open(Job)) >= MOST:
        raise Conflict(f"{MOST} jobs of this conversation are running: stop one of them first")
    told = JobStarted(
        session_id=job.session_id, run_id=run.id, at=moment.now, by=moment.by, job=job
    )
    return Change(events=(told,), control=replace(desk.control, has_jobs=True), result=job)


def tell(desk: Desk, job_id: JobId, printed: JobPrint, moment: Moment) -> Change[Job | None]:
    """What it printed last; None if it runs no more."""
    job = _open(desk, job_id)
    if job is None:
        return Change(events=(), control=desk.control, result=None)
    now = replace(job, printed=printed)
    return Change(events=(_updated(now, moment),), control=desk.control, result=now)


def stop(desk: Desk, which: Which, moment: Moment) -> Change[tuple[JobId, ...]]:
    """Tell whoever runs these to stop them; those that have not ended."""
    jobs = [job for job in desk.open(Job) if which(job)]
    return Change(
        events=tuple(stopping(jobs, moment)),
        control=desk.control,
        result=tuple(job.id for job in jobs),
    )


def stopped_with(desk: Desk, run: Run, moment: Moment) -> list[Event]:
    """A run that was cancelled takes the jobs along that it started."""
    return stopping([job for job in desk.open(Job) if job.run_id == run.id], moment)


def stopping(jobs: Sequence[Job], moment: Moment) -> list[Event]:
    return [_updated(replace(job, stopping=True), moment) for job in jobs if not job.stopping]


def end(
    desk: Desk, job_id: JobId, ending: JobEnding, printed: JobPrint | None, moment: Moment
) -> Change[Job | None]:
    """Nothing of it runs any more: said by the node that ran it, or once that is gone. None if it
    has been said before."""
    job = _open(desk, job_id)
    if job is None:
        return Change(events=(), control=desk.control, result=None)
    ended = job.end(ending, printed, moment.now)
    told = JobEnded(session_id=job.session_id, at=moment.now, by=moment.by, job=ended)
    control = replace(desk.control, untold_jobs=(*desk.control.untold_jobs, job_id))
    return Change(events=(told,), control=control, result=ended)


def heard(desk: Desk, job_id: JobId) -> Change[None]:
    """The model knows that it has ended: it asked."""
    return Change(events=(), control=_told(desk.control, {job_id}), result=None)


def mention(
    desk: Desk, fence: Fence, jobs: Sequence[Job], told: JobTold, moment: Moment
) -> Change[tuple[Job, ...]]:
    """The model is told there that these have ended; those that it had not been told of."""
    desk.held_by(fence)
    new = tuple(replace(job, told=told) for job in jobs if job.id in desk.control.untold_jobs)
    return Change(
        events=tuple(_updated(job, moment) for job in new),
        control=_told(desk.control, {job.id for job in new}),
        result=new,
    )


INTERRUPTED = JobEnding(state=JobState.INTERRUPTED)
STOPPED = JobEnding(state=JobState.STOPPED)


def _open(desk: Desk, job_id: JobId) -> Job | None:
    return next((job for job in desk.open(Job) if job.id == job_id), None)


def _told(control: Control, jobs: Collection[JobId]) -> Control:
    left = tuple(job_id for job_id in control.untold_jobs if job_id not in jobs)
    return replace(control, untold_jobs=left)


def _updated(job: Job, moment: Moment) -> Event:
    # Of no run: what a job does after its run has ended is no longer that run's.
    return JobUpdated(session_id=job.session_id, at=moment.now, by=moment.by, job=job)
