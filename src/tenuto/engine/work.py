"""Work is one run being done: what its worker may see and do, and nothing more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
from msgspec import UNSET
from msgspec.structs import replace

from tenuto.core import editing, giving, steering, waiting
from tenuto.core.delegating import Assignment
from tenuto.core.desk import Decide
from tenuto.core.file import FileInfo
from tenuto.core.message import Message, ToolFile, ToolPart, files_in
from tenuto.core.meter import Meter
from tenuto.core.output import OutputPiece, joined
from tenuto.core.run import Ending, Run, Usage, Waiting
from tenuto.core.starting import Started
from tenuto.core.value import CallId, FileId, MessageId, PartId
from tenuto.engine.call_changes import CallChanges, Owner
from tenuto.engine.call_jobs import CallJobs
from tenuto.engine.insist import insist
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.mentions import Mentions
from tenuto.engine.node import Node
from tenuto.engine.recorder import Recorder
from tenuto.engine.requests import Requests
from tenuto.ports.job import Jobs
from tenuto.ports.query import Background
from tenuto.ports.store import Store
from tenuto.ports.tool import GivenFile, NoJobs, Site, SubAgent, ToolFailed

T = TypeVar("T")

MOST_SUB_AGENTS = 4
"""Of one run, side by side."""


class Worker(Protocol):
    """Answers a prompt. The agent loop is one."""

    def work(self, work: "Work") -> Awaitable[Ending]:
        """Do the run and say how it ended. Cancelling it stops everything it started."""


class Delegating(Protocol):
    """Who lets sub-agents work for a run."""

    async def begin(
        self, work: "Work", part: ToolPart, assignment: Assignment
    ) -> tuple[ToolPart, SubAgent]:
        """The call as it runs, and who does it. Raises ToolFailed."""


class Work:
    def __init__(
        self,
        store: Store,
        node: Node,
        *,
        started: Started,
        jobs: JobKeeper | None = None,
        sub_agents: "Delegating | None" = None,
    ) -> None:
        self._store = store
        self._node = node
        self.fence = started.fence
        self._sub_agents = sub_agents
        self.delegating = asyncio.Semaphore(MOST_SUB_AGENTS)
        """Held while one of its sub-agents works."""
        self._calls = 0
        self.session = started.session
        self.run: Run = started.run
        self.model = started.model
        """What to ask: the run of a blind pane does not say it."""
        self.pause = started.pause
        """Where it goes on; None: at its beginning."""
        self.step = 0 if started.pause is None else started.pause.step
        self.meter = Meter(None if started.pause is None else started.pause.usage)
        self.limit = anyio.CancelScope()
        """Runs out when the run has taken too long; a person's thinking time does not count."""
        self.recorder = Recorder(
            store,
            node.clock,
            session_id=self.run.session_id,
            fence=started.fence,
            message=started.message,
        )
        self.requests = Requests(
            store,
            node,
            started,
            self.recorder,
            self.limit,
            so_far=lambda: (self.step, self.usage()),
        )

        self.mentions = Mentions(store, node, started, self.recorder)
        self.jobs: Jobs = NoJobs()
        """Of its conversation."""
        if jobs is not None:
            self.jobs = CallJobs(
                store,
                node,
                jobs,
                run=self.run,
                fence=started.fence,
                changes=self._job_changes,
            )

    def usage(self) -> Usage:
        """What was used so far, with its cost where the price is known."""
        return self.meter.total()

    def poke(self) -> None:
        """Something about the session changed: what it asks may have been answered."""
        self.requests.poke()
        self.mentions.poke()

    @property
    def only_waits(self) -> bool:
        """Whether all that is under way waits for a person."""
        return 0 < self.requests.waiting == self._calls

    @contextmanager
    def call(self) -> Iterator[None]:
        """While a call of a tool is under way."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    async def folder(self) -> Path:
        """Where its tools work."""
        return (await self.site()).folder

    async def site(self) -> Site:
        """Where its tools work now, and by which rules."""
        workspace = await self._insist(lambda: self._store.workspace(self.session.workspace_id))
        return Site(
            session=self.session,
            run=self.run,
            workspace=workspace,
            folder=self._node.folders.path(workspace),
        )

    def changes(self, part: ToolPart) -> CallChanges:
        """Told of the files that the call changes."""
        return CallChanges(
            self._store,
            self._node,
            run=self.run,
            owner=self._owner(),
            fence=self.fence,
            call_id=part.call_id,
            tool=part.name,
        )

    def _job_changes(self, call_id: CallId) -> CallChanges:
        """The same of a job that the call starts, also when the run has ended."""
        return CallChanges(
            self._store,
            self._node,
            run=self.run,
            owner=self._owner(),
            fence=None,
            call_id=call_id,
            tool="start_job",
        )

    def _owner(self) -> Owner:
        parent, parent_run = self.session.parent, self.run.parent_run
        if parent is UNSET or parent_run is UNSET:
            return Owner(session_id=self.session.id, run_id=self.run.id)
        return Owner(session_id=parent.session_id, run_id=parent_run)

    async def background(self) -> Background:
        await self.recorder.flush()
        return await self._insist(lambda: self._store.background(self.session.id))

    async def files(self) -> set[FileId]:
        """All that were attached to the conversation, as far as a model is told of it."""
        background = await self._insist(lambda: self._store.background(self.session.id))
        messages = background.messages
        return {file_id for message in messages for file_id in files_in(message)}

    async def give(self, part: ToolPart, given: Sequence[GivenFile]) -> ToolPart:
        """Record the call as it ended, with these files, which are kept from now on."""
        kept = tuple([await self._keep(file) for file in given])
        ended = replace(part, files=kept)
        change = self.recorder.grown_to(ended)
        await self.recorder.flush()
        message_id = self.recorder.message_id
        await self._commit(
            lambda desk: giving.give(desk, self.fence, message_id, change, self._node.moment())
        )
        self.recorder.stored_elsewhere(ended)
        return ended

    async def _keep(self, file: GivenFile) -> ToolFile:
        info = FileInfo(
            id=FileId(self._node.ids.new("fil")),
            name=file.name,
            media_type=file.media_type,
            size=len(file.content),
            by=self.run.by,
            created_at=self._node.clock.now(),
        )
        await self._insist(lambda: self._store.put_file(info, file.content))
        return ToolFile(file_id=info.id, name=info.name, media_type=info.media_type, size=info.size)

    async def file_content(self, file_id: FileId) -> bytes:
        return await self._insist(lambda: self._store.file_content(file_id))

    async def delegate(self, part: ToolPart, assignment: Assignment) -> tuple[ToolPart, SubAgent]:
        """Begin a call by handing its work to a sub-agent. Raises ToolFailed."""
        if self._sub_agents is None:
            raise ToolFailed("There are no sub-agents here.")
        return await self._sub_agents.begin(self, part, assignment)

    async def keep_output(self, name: str, piece: OutputPiece, forget: tuple[int, int]) -> None:
        """Keep a piece of what a call prints."""
        await self._store.keep_output(self.session.id, name, piece, forget=forget)

    async def output(self, name: str) -> str:
        """What is kept of an output of this conversation. NotFound if there is none."""
        return joined(await self._insist(lambda: self._store.output(self.session.id, name)))

    async def take_steers(self) -> tuple[Message, ...]:
        """At a step boundary: prompts that were sent to steer this run, now part of it."""
        await self.recorder.flush()
        open_message = self.recorder.message()
        steered = await self._commit(
            lambda desk: steering.take_steers(desk, self.fence, open_message, self._node.moment()),
        )
        if steered is None:
            return ()
        self.recorder.go_on_in(steered.answer)
        self.mentions.heard(steered.messages[-1].id)
        return steered.messages

    async def wait(self, wait: Waiting | None) -> None:
        """Say that the run waits for its provider; None: that it goes on."""
        await self.recorder.flush()
        await self._commit(
            lambda desk: waiting.wait(desk, self.fence, wait, self._node.moment()),
        )

    async def notice(self, words: tuple[str, ...]) -> None:
        """Say what the provider did not take and was asked without."""
        await self.recorder.flush()
        await self._commit(
            lambda desk: waiting.notice(desk, self.fence, words, self._node.moment()),
        )

    async def compact(
        self, through: MessageId, summary: str, *, part: PartId | None = None
    ) -> None:
        await self.recorder.flush()
        await self._commit(
            lambda desk: editing.compacted(
                desk, self.fence, through, summary, self._node.moment(), part=part
            ),
        )

    async def _commit(self, decide: Decide[T]) -> T:
        result, _ = await self._insist(lambda: self._store.commit(self.session.id, decide))
        return result

    async def _insist(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await insist(ask, clock=self._node.clock)
