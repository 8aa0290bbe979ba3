"""Mentions: what the model is told beside what people and tools say: that a job has ended."""

from collections.abc import Sequence
from functools import partial

from tenuto.core import tending
from tenuto.core.job import Job, JobTold
from tenuto.core.message import user_message
from tenuto.core.starting import Started
from tenuto.core.value import MessageId
from tenuto.engine.insist import insist
from tenuto.engine.node import Node
from tenuto.engine.recorder import Recorder
from tenuto.ports.store import Store


class Mentions:
    """Each ending is told once, and stays where it was told: what a model has read does not change."""

    def __init__(self, store: Store, node: Node, started: Started, recorder: Recorder) -> None:
        self._store = store
        self._node = node
        self._fence = started.fence
        self._session_id = started.session.id
        self._recorder = recorder
        self._is_news = started.has_jobs
        self._has_jobs = started.has_jobs
        self._jobs: tuple[Job, ...] | None = None
        prompt = user_message(started.run, of=started.run.id).id
        self._said: MessageId | None = None if started.run.continues else prompt
        """What a person said last."""

    def poke(self) -> None:
        """Something about the session changed: a job may have ended."""
        self._is_news = True

    def heard(self, message_id: MessageId) -> None:
        """Somebody said something more."""
        self._said = message_id

    async def take(self) -> None:
        """Before the model is asked: tell it of the jobs that have ended since."""
        if not self._is_news:
            return
        self._is_news = False
        control = await insist(
            lambda: self._store.control(self._session_id), clock=self._node.clock
        )
        if not control.untold_jobs:
            return
        await self._recorder.flush()
        jobs = [await self._store.thing(Job, job_id) for job_id in control.untold_jobs]
        mention = partial(
            tending.mention,
            fence=self._fence,
            jobs=jobs,
            told=self._place(),
            moment=self._node.moment(),
        )
        await insist(lambda: self._store.commit(self._session_id, mention), clock=self._node.clock)
        self._jobs, self._has_jobs = None, True

    async def told(self) -> Sequence[Job]:
        """The jobs of which the model was told, each with its place."""
        if not self._has_jobs:
            return ()
        if self._jobs is None:
            jobs = await insist(
                lambda: self._store.things(self._session_id, Job), clock=self._node.clock
            )
            self._jobs = tuple(job for job in jobs if job.told is not None)
        return self._jobs

    def _place(self) -> JobTold:
        message = self._recorder.message()
        if message.parts:
            return JobTold(message_id=message.id, part_id=message.parts[-1].id)
        return JobTold(message_id=self._said or message.id, part_id=None)
