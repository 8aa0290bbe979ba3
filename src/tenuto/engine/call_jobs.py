"""The jobs of a conversation, as one call of a tool may use them."""

from collections.abc import Callable
from functools import partial

from tenuto.core import tending
from tenuto.core.error import Conflict, NotFound
from tenuto.core.job import Job
from tenuto.core.run import Run
from tenuto.core.session import Fence
from tenuto.core.thing import is_open
from tenuto.core.value import CallId, JobId
from tenuto.engine.insist import insist
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.ports.changes import FileChanges
from tenuto.ports.job import JobOrder, JobReading, JobWish
from tenuto.ports.store import Store
from tenuto.ports.tool import ToolFailed

MOST_NAMED = 10


class CallJobs:
    """Implements `Jobs`."""

    def __init__(
        self,
        store: Store,
        node: Node,
        keeper: JobKeeper,
        *,
        run: Run,
        fence: Fence,
        changes: Callable[[CallId], FileChanges],
    ) -> None:
        self._changes = changes
        self._store = store
        self._node = node
        self._keeper = keeper
        self._run = run
        self._fence = fence

    async def start(self, wish: JobWish) -> Job:
        job = Job(
            id=JobId(self._node.ids.new("job")),
            session_id=self._run.session_id,
            run_id=self._run.id,
            call_id=wish.call_id,
            name=wish.name,
            command=wish.command,
            cwd=wish.cwd,
            node=self._node.id,
            started_at=self._node.clock.now(),
        )
        order = JobOrder(
            session_id=job.session_id,
            workspace=wish.workspace,
            command=wish.command,
            cwd=wish.cwd,
            changes=self._changes(wish.call_id),
        )
        try:
            return await self._keeper.start(job, order, self._fence)
        except Conflict as refusal:
            raise ToolFailed(f"It was not started: {refusal}.") from refusal

    async def read(self, job_id: JobId, *, after: int, seconds: float) -> JobReading:
        return await self._keeper.read(await self._find(job_id), after=after, seconds=seconds)

    async def stop(self, job_id: JobId) -> Job:
        await self._find(job_id)
        job = await self._keeper.stop(job_id)
        if is_open(job):
            raise ToolFailed(f"The job {job_id} was told to stop, and has not ended yet.")
        return job

    async def know(self, job: Job) -> None:
        if is_open(job):
            return
        heard = partial(tending.heard, job_id=job.id)
        await insist(
            lambda: self._store.commit(self._run.session_id, heard), clock=self._node.clock
        )

    async def _find(self, job_id: JobId) -> Job:
        """Of this conversation only: ids are no secrets."""
        try:
            job = await insist(lambda: self._store.thing(Job, job_id), clock=self._node.clock)
            if job.session_id == self._run.session_id:
                return job
        except NotFound:
            pass
        jobs = await insist(
            lambda: self._store.things(self._run.session_id, Job), clock=self._node.clock
        )
        named = ", ".join(f"{one.id} ({one.name}, {one.state})" for one in jobs[-MOST_NAMED:])
        raise ToolFailed(f"There is no job {job_id} here. The jobs are: {named or 'none'}.")
