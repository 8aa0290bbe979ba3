"""Sub-agents: a call hands its work to a session of its own, waits for it, and ends it."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping

from msgspec.structs import replace

from tenuto.core import cancelling, delegating
from tenuto.core.accepting import Prompt
from tenuto.core.delegating import Assignment
from tenuto.core.desk import Desk, Joint
from tenuto.core.error import NotFound, SessionBusy, TenutoError
from tenuto.core.message import ToolPart
from tenuto.core.options import Wish
from tenuto.core.run import Reason, Run, RunStatus
from tenuto.core.session import ParentCall, Session, TitleSource
from tenuto.core.value import RunId, SessionId
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.endings import Endings
from tenuto.engine.insist import insist
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.protect import finish
from tenuto.engine.work import Work
from tenuto.ports.store import Store
from tenuto.ports.tool import Delegated, SubAgent, ToolFailed

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""What a sub-agent gets to end when its run is stopped; a look at it ends it later."""


class SubAgents:
    def __init__(
        self,
        store: Store,
        coordinator: Coordinator,
        endings: Endings,
        node: Node,
        jobs: JobKeeper,
    ) -> None:
        self._jobs = jobs
        self._store = store
        self._coordinator = coordinator
        self._endings = endings
        self._node = node

    async def begin(
        self, work: Work, part: ToolPart, assignment: Assignment
    ) -> tuple[ToolPart, SubAgent]:
        """The call as it runs, and who does it. Raises ToolFailed."""
        await work.recorder.flush()
        known = None if assignment.session is None else await self._known(work, assignment.session)
        child = known or self._new(work, part, assignment)
        prompt = self._prompt(work, child, assignment)
        parent_id, message_id = work.session.id, work.recorder.message_id

        def decide(desks: Mapping[SessionId, Desk]) -> Joint[tuple[Run, ToolPart] | None]:
            for wanted in (parent_id, child.id):
                if wanted not in desks:
                    raise NotFound(f"there is no session {wanted}")
            parent, moment = desks[parent_id], self._node.moment()
            return delegating.begin(
                parent, desks[child.id], work.fence, prompt, part, message_id, moment
            )

        ids = (parent_id, child.id) if known else (parent_id,)
        new = None if known else child
        try:
            begun = await insist(
                lambda: self._store.commit_together(ids, decide, new=new), clock=self._node.clock
            )
        except SessionBusy:
            raise ToolFailed(f"The sub-agent in session {child.id} is still working.") from None
        if begun is None:
            raise ToolFailed("The run is being stopped.")
        run, running = begun
        work.recorder.stored_elsewhere(running)
        self._coordinator.welcome(child.id)

        async def ended() -> Delegated:
            return await self._ended(work, run)

        return running, ended

    async def _known(self, work: Work, session_id: SessionId) -> Session:
        """Only its own: ids are no secrets."""
        try:
            session = await self._store.session(session_id)
        except NotFound:
            session = None
        if session is None or not session.parent or session.root_id != work.session.id:
            raise ToolFailed(f"There is no sub-agent with the session {session_id} here.")
        return session

    def _new(self, work: Work, part: ToolPart, assignment: Assignment) -> Session:
        now = self._node.clock.now()
        call = ParentCall(session_id=work.session.id, run_id=work.run.id, call_id=part.call_id)
        return Session(
            id=SessionId(self._node.ids.new("ses")),
            workspace_id=work.session.workspace_id,
            by=work.run.by,
            title=assignment.title,
            title_source=TitleSource.AUTO if assignment.title else TitleSource.PROVISIONAL,
            model=work.run.model,
            system=work.session.system,
            created_at=now,
            updated_at=now,
            parent=call,
        )

    def _prompt(self, work: Work, child: Session, assignment: Assignment) -> Prompt:
        return Prompt(
            run_id=RunId(self._node.ids.new("run")),
            by=work.run.by,
            input=assignment.prompt,
            model=child.model or work.model,
            wish=Wish(effort=work.run.effort, attended=work.run.attended),
            parent_run=work.run.id,
            tools=assignment.tools,
        )

    async def _ended(self, work: Work, run: Run) -> Delegated:
        """What came of it. Who stops waiting stops it, and waits until it has ended."""
        try:
            with work.requests.time_standing():
                ended = await self._until_ended(run)
        except asyncio.CancelledError:
            # What it used cannot be known if the store is away, or the session gone.
            with contextlib.suppress(TenutoError):
                stopped = await finish(self._stop(work, run), seconds=STOP_SECONDS)
                work.meter.below(stopped.usage)
            raise
        work.meter.below(ended.usage)
        text = await insist(lambda: self._said(ended), clock=self._node.clock)
        return Delegated(session_id=ended.session_id, run=ended, text=text)

    async def _until_ended(self, run: Run) -> Run:
        while True:
            try:
                return await self._endings.of(run.id, seconds=None)
            except NotFound:
                # Its session was deleted.
                return replace(run, status=RunStatus.CANCELLED, reason=Reason.DELETED)
            except TenutoError as trouble:
                log.warning("cannot look at a sub-agent, trying again: %s", trouble)
                await asyncio.sleep(1.0)

    async def _stop(self, work: Work, run: Run) -> Run:
        stopped = self._coordinator.stopped(work.session.id)
        if stopped is None or stopped[0] is RunStatus.CANCELLED:
            reason = Reason.DISCONNECT if stopped is None else stopped[1]
            await self._cover(run, reason)
            await self._endings.of(run.id, seconds=STOP_SECONDS)
        # Where the server stops, or has lost its lease, everything is told to end as it should; one
        # that has not begun is ended by whoever finds it.
        await self._coordinator.until_left(run.session_id, run.id)
        ended = await self._store.run(run.id)
        await self._jobs.over_with(ended)
        return ended

    async def _cover(self, run: Run, reason: Reason) -> None:
        self._coordinator.stop_now(run.session_id, reason, run_id=run.id)
        moment = self._node.moment()
        try:
            await self._store.commit(
                run.session_id, lambda desk: cancelling.cancel_run(desk, run.id, reason, moment)
            )
        except TenutoError as trouble:
            # It is for nobody once this run has ended, and is found to be.
            log.warning("a sub-agent could not be stopped at once: %s", trouble)

    async def _said(self, run: Run) -> str:
        """The last that it said; nothing, if its session was deleted."""
        try:
            page = await self._store.messages(run.session_id, limit=2, before=None)
        except NotFound:
            return ""
        answers = [m for m in page.messages if m.role == "assistant" and m.run_id == run.id]
        return answers[-1].text() if answers else ""
