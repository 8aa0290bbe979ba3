"""The coordinator gives each session with work one lane: one run at a time, in order.

It learns of prompts, cancels and answers only by looking at the store when the store says that
something changed, so it does not matter which client, or which node, they came through.
"""

import asyncio
import logging

import anyio

from tenuto.core import starting
from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.run import Reason, Usage
from tenuto.core.value import RunId, SessionId
from tenuto.engine.driver import Active, Driver
from tenuto.engine.node import Node
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0


class Lane:
    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.active: Active | None = None
        self.changes = 0
        """How often it was told that something had changed."""
        self.expected = 0
        """Of these, those that are no news: the prompt that the lane was opened for."""
        self.look_again = False
        self.looking: asyncio.Task[None] | None = None
        self.gone = asyncio.Event()


class Coordinator:
    def __init__(self, store: Store, driver: Driver, node: Node) -> None:
        self._store = store
        self._driver = driver
        self._node = node
        self._lanes: dict[SessionId, Lane] = {}
        self._stopping: set[str] = set()
        """Sessions whose cancel is not stored yet: none of their runs may start before it is."""
        self._draining = False
        self._interrupting = False

    def changed(self, session_id: SessionId) -> None:
        """Something was asked of this session: look at it."""
        lane = self._lanes.get(session_id)
        if lane is not None:
            lane.changes += 1
            if lane.active is not None and lane.active.settling:
                lane.active.heard += 1
            self._look(session_id, lane)
            return
        if not self._draining:
            self._open(session_id)

    def expect(self, session_id: SessionId) -> None:
        """A prompt is on its way to the store: ask for the next run right behind it.

        The store writes both at once, and the run begins a write sooner. If the prompt is not
        accepted after all, there is nothing to start.
        """
        if session_id not in self._lanes and not self._draining:
            self._open(session_id).expected = 1

    def expect_no_more(self, session_id: SessionId) -> None:
        """The prompt was not accepted: what changed was something else."""
        lane = self._lanes.get(session_id)
        if lane is not None and lane.expected:
            lane.expected = 0
            self._look(session_id, lane)

    def _open(self, session_id: SessionId) -> Lane:
        lane = self._lanes[session_id] = Lane()
        lane.task = asyncio.create_task(self._work(session_id, lane), name=f"lane {session_id}")
        return lane

    def works_on(self, session_id: SessionId) -> bool:
        """Whether the session has a lane here: from before a run starts until it has ended."""
        return session_id in self._lanes

    def active_runs(self) -> set[RunId]:
        return {lane.active.started.run.id for lane in self._lanes.values() if lane.active}

    def usage(self, session_id: SessionId) -> tuple[RunId, Usage] | None:
        """The run under way here and what it has used so far."""
        lane = self._lanes.get(session_id)
        if lane is None or lane.active is None or lane.active.work is None:
            return None
        return lane.active.started.run.id, lane.active.work.usage()

    def stop_now(
        self, session_id: SessionId, reason: Reason, *, run_id: RunId | None = None
    ) -> None:
        """Stop what runs here, without a look at the store: its cancel is there, or will be."""
        lane = self._lanes.get(session_id)
        active = lane.active if lane else None
        if active is not None and run_id in (None, active.started.run.id):
            active.cancel(reason)

    def hold(self, session_id: str) -> None:
        """Start nothing of this session: a cancel that covers it waits to be stored."""
        self._stopping.add(session_id)

    def let_go(self, session_id: str) -> None:
        self._stopping.discard(session_id)

    def look_everywhere(self) -> None:
        """A slow look at everything under way, in case a change went unheard."""
        for session_id, lane in self._lanes.items():
            self._look(session_id, lane)

    async def until_gone(self, session_id: SessionId) -> None:
        """Wait until nothing of the session is worked on here."""
        lane = self._lanes.get(session_id)
        if lane is not None:
            await lane.gone.wait()

    async def drain(self, seconds: float) -> None:
        """Start nothing more; give what runs this long to end, then interrupt it."""
        self._draining = True
        tasks = {lane.task for lane in self._lanes.values() if lane.task}
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        self._interrupting = True
        for lane in self._lanes.values():
            if lane.active is not None:
                lane.active.interrupt()

    async def stop(self, seconds: float) -> None:
        """Wait for the last endings to be written, then let go of everything."""
        tasks = {lane.task for lane in self._lanes.values() if lane.task}
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        self._driver.abandon()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self, session_id: SessionId, lane: Lane) -> None:
        try:
            while not self._draining and await self._next(session_id, lane):
                lane.expected = 0
        finally:
            # No await between the last look and this: whoever comes after opens a new lane.
            del self._lanes[session_id]
            lane.gone.set()

    async def _next(self, session_id: SessionId, lane: Lane) -> bool:
        """Do the next run, if there is one; whether to ask for another.

        Trouble is waited out, never passed on.
        """
        if session_id in self._stopping:
            await anyio.sleep(RETRY_SECONDS)
            return True
        try:
            moment = self._node.moment()
            before = lane.changes
            started, _ = await self._store.commit(
                session_id, lambda desk: starting.start_next(desk, moment)
            )
            if started is None:
                return lane.changes > before
            lane.active = Active(started)
            if self._interrupting:
                # It was on its way to the store when the time for endings was over.
                lane.active.interrupt()
            # The start is a change itself, and so is the prompt right before it. One more may be
            # a cancel, of which we were told before we had anything to cancel.
            if lane.changes > before + 1 + lane.expected:
                self._look(session_id, lane)
            await self._driver.drive(lane.active)
            if lane.active.was_last and lane.active.heard <= 1:
                # Nothing waited when it ended, and nothing was asked since.
                return False
        except NotFound:
            return lane.active is not None
        except StorageTrouble as trouble:
            log.warning("cannot start the next run, trying again: %s", trouble)
            await anyio.sleep(RETRY_SECONDS)
        except Exception:
            # A lane that dies would leave its session without anyone to work on it.
            log.exception("a lane stumbled", extra={"session_id": session_id})
            await anyio.sleep(RETRY_SECONDS)
        finally:
            lane.active = None
            if lane.looking is not None:
                # It looks for the run that was: left alone, it would look in the next one's stead.
                lane.looking.cancel()
                lane.looking = None
        return True

    def _look(self, session_id: SessionId, lane: Lane) -> None:
        if lane.active is None or lane.active.lost or lane.active.settling:
            return
        if lane.active.work is not None:
            lane.active.work.poke()
        lane.look_again = True
        if lane.looking is None or lane.looking.done():
            lane.looking = asyncio.create_task(self._check(session_id, lane, lane.active))

    async def _check(self, session_id: SessionId, lane: Lane, active: Active) -> None:
        """Stop the run if a cancel covers it, or if it is no longer ours."""
        while lane.look_again and active.stopped is None:
            lane.look_again = False
            try:
                control = await self._store.control(session_id)
            except NotFound:
                active.lose()
                return
            except Exception as trouble:  # noqa: BLE001  a cancel must be seen, whatever keeps us from it
                log.warning("cannot look at %s, trying again: %s", session_id, trouble)
                await anyio.sleep(RETRY_SECONDS)
                lane.look_again = True
                continue
            if control.epoch != active.started.fence.epoch:
                active.lose()
                return
            if reason := control.cancels.reason_for(active.started.run):
                active.cancel(reason)
                return
