"""Jobs: those of this node are run, watched and stopped here; those of others by a word in the log.

A stop is a mark on the job, as a cancel is one on the session: whoever runs it hears of it.
"""

import asyncio
import logging
from collections.abc import Collection
from functools import partial

import anyio

from tenuto.core import tending
from tenuto.core.desk import Change, Desk
from tenuto.core.error import Fenced, NotFound, StorageTrouble
from tenuto.core.job import Job, JobEnding, JobState
from tenuto.core.output import OutputPiece, joined
from tenuto.core.principal import Principal
from tenuto.core.run import Run, RunStatus
from tenuto.core.session import Fence
from tenuto.core.tending import INTERRUPTED, STOPPED, Which
from tenuto.core.thing import is_open
from tenuto.core.value import JobId, SessionId
from tenuto.engine.node import Node
from tenuto.engine.running_job import RunningJob
from tenuto.ports.job import JobOrder, JobReading, JobRunner
from tenuto.ports.points import Step
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
LOOK_SECONDS = 0.25
"""For what other nodes do."""
RETRY_SECONDS = 0.5


class JobKeeper:
    def __init__(self, store: Store, node: Node, runner: JobRunner) -> None:
        self._store = store
        self._node = node
        self._runner = runner
        self._running: dict[JobId, RunningJob] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: set[SessionId] = set()
        self._closed = False

    async def start(self, job: Job, order: JobOrder, fence: Fence) -> Job:
        """Store it, then run it. Raises Conflict, and Fenced for a past owner of the run."""
        moment = self._node.moment()
        keep = partial(self._keep, job)
        running = self._running[job.id] = RunningJob(job, keep)
        try:
            await self._store.commit(
                job.session_id, lambda desk: tending.start(desk, fence, job, moment)
            )
        except BaseException:
            # What may have been stored nobody runs: the next round says that it is over.
            del self._running[job.id]
            raise
        self._node.points.reach(Step.JOB_STARTING)
        self._begin(self._run(running, order), name=f"job {job.id}")
        return job

    async def read(self, job: Job, *, after: int, seconds: float) -> JobReading:
        """As soon as there is more, it has ended, or the time is over."""
        until = self._node.clock.seconds() + seconds
        while True:
            reading = await self._read(job, after)
            left = until - self._node.clock.seconds()
            if reading.text or not is_open(reading.job) or left <= 0:
                return reading
            running = self._running.get(job.id)
            with anyio.move_on_after(min(left, left if running else LOOK_SECONDS)):
                await (running.news() if running else anyio.sleep_forever())

    async def _read(self, job: Job, after: int) -> JobReading:
        running = self._running.get(job.id)
        if running is not None:
            at, text = running.since(after)
            return JobReading(job=running.job, text=text, at=at)
        job = await self._store.thing(Job, job.id)
        whole = joined(await self._pieces(job))
        return JobReading(job=job, text=whole[after:], at=min(after, len(whole)))

    async def output(self, job: Job) -> str:
        """All that is kept of what it printed."""
        return joined(await self._pieces(job))

    async def _pieces(self, job: Job) -> Collection[OutputPiece]:
        try:
            return await self._store.output(job.session_id, job.id)
        except NotFound:
            return ()

    async def stop(self, job_id: JobId, *, by: Principal | None = None) -> Job:
        """The job as it ended; as it is if that takes too long."""
        sees = self._store if by is None else self._store.seen_by(by)
        job = await sees.thing(Job, job_id)
        if is_open(job):
            await self.stop_those(job.session_id, lambda one: one.id == job_id, by=by)
        return await self._store.thing(Job, job_id)

    async def stop_those(
        self, session_id: SessionId, which: Which, *, by: Principal | None = None
    ) -> bool:
        """Stop these, wherever they run; whether they have ended."""

        def mark(desk: Desk) -> Change[tuple[JobId, ...]]:
            return tending.stop(desk, which, self._node.moment(by=by))

        jobs, _ = await self._store.commit(session_id, mark)
        return await self._until_over(jobs)

    async def over_with(self, run: Run) -> bool:
        """A cancelled run takes the jobs along that it started; whether they have ended."""
        if run.status is not RunStatus.CANCELLED:
            return True
        try:
            jobs = await self._store.things(run.session_id, Job)
        except NotFound:
            return True
        return await self._until_over([job.id for job in jobs if job.run_id == run.id])

    async def _until_over(self, jobs: Collection[JobId]) -> bool:
        for job_id in jobs:
            if job_id in self._running:
                self._running[job_id].stop(STOPPED)
        with anyio.move_on_after(STOP_SECONDS):
            for job_id in jobs:
                await self._over(job_id)
            return True
        return False

    async def _over(self, job_id: JobId) -> None:
        running = self._running.get(job_id)
        if running is not None:
            await running.gone.wait()
        while True:
            try:
                if not is_open(await self._store.thing(Job, job_id)):
                    return
            except NotFound:
                return
            await anyio.sleep(LOOK_SECONDS)

    def changed(self, session_id: SessionId) -> None:
        """Something was asked of this session: perhaps that a job of it stops."""
        here = [one for one in self._running.values() if one.job.session_id == session_id]
        if here and session_id not in self._looking and not self._closed:
            self._looking.add(session_id)
            self._begin(self._look(session_id), name=f"jobs of {session_id}")

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        for session_id in session_ids:
            self.changed(session_id)

    def look_everywhere(self) -> None:
        """A slow look at everything under way, in case a word went unheard."""
        self.rang_changed({one.job.session_id for one in self._running.values()})

    def fence(self) -> None:
        """The lease is lost: others say that the jobs of this node are over."""
        self._end_all(INTERRUPTED)

    async def close(self) -> None:
        """The server stops, and everything that it runs."""
        self._closed = True
        self._end_all(INTERRUPTED)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def rescue(self) -> None:
        """Say of each job that runs nowhere that it is over."""
        left = [job for job in await self._store.open_things(Job) if job.id not in self._running]
        if not left:
            return
        # Asked after the jobs are known: a node that comes now runs none of them.
        living = {*await self._store.living()} if self._store.shared else set()
        for job in left:
            if job.node in living and job.node != self._node.id:
                continue
            await self._rescue(job)

    async def _rescue(self, job: Job) -> None:
        is_mine = job.node == self._node.id
        if job.id in self._running:
            return
        try:
            await self._store.commit(
                job.session_id,
                lambda desk: tending.end(desk, job.id, INTERRUPTED, None, self._node.moment()),
                dead=None if is_mine or not self._store.shared else job.node,
            )
        except (Fenced, NotFound, StorageTrouble) as error:
            log.info("a job is left as it is: %s", error, extra={"job_id": job.id})

    async def _look(self, session_id: SessionId) -> None:
        self._looking.discard(session_id)
        for running in list(self._running.values()):
            if running.job.session_id != session_id:
                continue
            try:
                job = await self._store.thing(Job, running.job.id)
            except NotFound:
                # Its session is gone; before its start is stored, it may not be there yet.
                if running.job.id in self._running and await self._is_gone(session_id):
                    running.stop(STOPPED)
                continue
            except StorageTrouble as trouble:
                log.warning("cannot look at a job: %s", trouble)
                continue
            if job.stopping:
                running.stop(STOPPED)
            elif not is_open(job):
                running.stop(INTERRUPTED)

    async def _is_gone(self, session_id: SessionId) -> bool:
        try:
            await self._store.session(session_id)
        except NotFound:
            return True
        except StorageTrouble:
            return False
        return False

    async def _run(self, running: RunningJob, order: JobOrder) -> None:
        telling = asyncio.create_task(self._tell(running))
        ending = JobEnding(state=JobState.ENDED)
        try:
            with running.scope:
                code = await self._runner.run(order, running.hear)
                ending = JobEnding(state=JobState.ENDED, exit_code=code)
        except Exception as error:  # noqa: BLE001  whatever it is, the job must end
            log.warning("a job failed: %s", error, extra={"job_id": running.job.id})
            running.hear(f"[it could not be run: {error}]\n")
        finally:
            telling.cancel()
        if running.scope.cancelled_caught:
            ending = running.cause or INTERRUPTED
        self._node.points.reach(Step.JOB_ENDED)
        with anyio.move_on_after(STOP_SECONDS):
            await running.spool.close()
        running.spool.abandon()
        await self._end(running, ending)

    async def _end(self, running: RunningJob, ending: JobEnding) -> None:
        job, printed = running.job, running.printed()
        try:
            while True:
                try:
                    ended, _ = await self._store.commit(
                        job.session_id,
                        lambda desk: tending.end(
                            desk, job.id, ending, printed, self._node.moment()
                        ),
                    )
                    running.job = ended or job
                    return
                except NotFound:
                    return
                except StorageTrouble as trouble:
                    if self._closed:
                        # The next start says it.
                        return
                    log.warning("cannot say that a job has ended, trying again: %s", trouble)
                    await anyio.sleep(RETRY_SECONDS)
        finally:
            del self._running[job.id]
            running.gone.set()
            running.wake()

    async def _tell(self, running: RunningJob) -> None:
        """Its last lines, now and then, as long as it says something new."""
        told = running.printed()
        while True:
            while running.printed() == told:
                await running.news()
            await anyio.sleep(running.pause())
            told = running.printed()
            job_id = running.job.id
            try:
                job, _ = await self._store.commit(
                    running.job.session_id,
                    lambda desk, job_id=job_id, told=told: tending.tell(  # type: ignore[misc]
                        desk, job_id, told, self._node.moment()
                    ),
                )
            except StorageTrouble as trouble:
                log.warning("cannot say what a job prints: %s", trouble)
                continue
            except NotFound:
                return
            if job is not None:
                running.job = job

    async def _keep(self, job: Job, piece: OutputPiece, forget: tuple[int, int]) -> None:
        await self._store.keep_output(job.session_id, job.id, piece, forget=forget)

    def _end_all(self, cause: JobEnding) -> None:
        for running in list(self._running.values()):
            running.stop(cause)

    def _begin(self, work: "asyncio._CoroutineLike[None]", *, name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
