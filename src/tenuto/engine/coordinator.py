"""The coordinator gives each session with work one lane: one run at a time, in order.

It learns of prompts, cancels and answers only by looking at the store when the store says that
something changed, so it does not matter which client, or which node, they came through.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection

import anyio
from msgspec.structs import replace

from tenuto.core import starting
from tenuto.core.error import InDoubt, NotFound, StorageTrouble
from tenuto.core.run import Reason, RunStatus, Usage
from tenuto.core.starting import Started
from tenuto.core.value import NodeId, RunId, SessionId
from tenuto.engine.driver import Active, Driver
from tenuto.engine.families import is_for_nobody
from tenuto.engine.homes import Homes, Permit
from tenuto.engine.insist import insist
from tenuto.engine.lane import Lane
from tenuto.engine.node import Node
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
DRAIN_LOOK_SECONDS = 0.1


class Coordinator:
    def __init__(
        self, store: Store, driver: Driver, homes: Homes, node: Node, *, most_runs: int = 0
    ) -> None:
        self._store = store
        self._driver = driver
        self._homes = homes
        self._node = node
        self._most_runs = most_runs
        """0: as many as come."""
        self._lanes: dict[SessionId, Lane] = {}
        self._turned_away: dict[SessionId, None] = {}
        """Sessions that found no room here: the first of them come first when there is some."""
        self._unwanted: set[RunId] = set()
        """Runs whose connection was gone before anyone knew whether they were accepted."""
        self._fenced = False
        """Without a lease nothing may start: others would take it for an orphan."""
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
        if self._has_room():
            self._open(session_id)
        elif not self._draining:
            self._turned_away[session_id] = None

    def rang_changed(self, session_ids: Collection[SessionId]) -> None:
        """The same, asked through another node: what it accepted it also starts."""
        for session_id in session_ids:
            if session_id in self._lanes:
                self.changed(session_id)

    def expect(self, session_id: SessionId) -> None:
        """A prompt is on its way to the store: ask for the next run right behind it.

        The store writes both at once, and the run begins a write sooner. If the prompt is not
        accepted after all, there is nothing to start.
        """
        if session_id not in self._lanes and self._has_room():
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

    def _has_room(self) -> bool:
        is_full = 0 < self._most_runs <= len(self._lanes)
        return not is_full and not self._draining

    def welcome(self, session_id: SessionId) -> None:
        """Work on it though there may be no room: a run that has some waits for it."""
        self._turned_away.pop(session_id, None)
        if session_id not in self._lanes and not self._draining:
            self._open(session_id)

    def stopped(self, session_id: SessionId) -> tuple[RunStatus, Reason] | None:
        """How what runs here is being stopped; None: by nobody, or nothing runs."""
        lane = self._lanes.get(session_id)
        return None if lane is None or lane.active is None else lane.active.stopped

    def nobody_waits_for(self, run_id: RunId) -> None:
        """It may have been accepted, but the connection with which it ends is gone."""
        self._unwanted.add(run_id)

    def fence(self) -> None:
        """The lease is lost: stop all that works here, and start nothing without another."""
        self._fenced = True
        for lane in self._lanes.values():
            if lane.active is not None:
                lane.active.fence()

    def unfence(self) -> None:
        self._fenced = False

    def holders(self) -> set[NodeId]:
        """Other nodes that hold connections with which runs end that work here."""
        active = (lane.active for lane in self._lanes.values() if lane.active)
        return {one.started.holder for one in active if one.started.holder} - {self._node.id}

    def disconnect(self, gone: Collection[NodeId]) -> None:
        """These nodes are gone, and every connection that they held."""
        for lane in self._lanes.values():
            if lane.active is not None and lane.active.started.holder in gone:
                lane.active.cancel(Reason.DISCONNECT)

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

    def works_for(self, session_id: SessionId, run_id: RunId) -> bool:
        """Whether anything of this run is under way here, its ending included."""
        lane = self._lanes.get(session_id)
        return lane is not None and lane.active is not None and lane.active.is_of(run_id)

    async def until_left(self, session_id: SessionId, run_id: RunId) -> None:
        """Wait until nothing here works for this run."""
        lane = self._lanes.get(session_id)
        if lane is not None and lane.active is not None and lane.active.is_of(run_id):
            await lane.active.left.wait()

    async def drain(self, seconds: float) -> None:
        """Start nothing more; give what runs this long to end, then interrupt it. What only waits
        for a person, or comes to it, is not waited for."""
        self._draining = True
        give_up_at = self._node.clock.seconds() + seconds
        while tasks := {lane.task for lane in self._lanes.values() if lane.task}:
            for lane in self._lanes.values():
                if lane.active is not None:
                    lane.active.leave_if_it_only_waits()
            left = give_up_at - self._node.clock.seconds()
            if left <= 0:
                break
            await asyncio.wait(tasks, timeout=min(left, DRAIN_LOOK_SECONDS))
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
            self._let_in()

    def _let_in(self) -> None:
        while self._turned_away and self._has_room():
            session_id = next(iter(self._turned_away))
            del self._turned_away[session_id]
            if session_id not in self._lanes:
                self._open(session_id)

    async def _next(self, session_id: SessionId, lane: Lane) -> bool:
        """Do the next run, if there is one; whether to ask for another.

        Trouble is waited out, never passed on.
        """
        if session_id in self._stopping or self._fenced:
            await anyio.sleep(RETRY_SECONDS)
            return True
        try:
            before = lane.changes
            started = await self._start_next(session_id, lane)
            if started is None:
                return lane.changes > before
            if started.pause is not None:
                started = await self._as_it_stands(started)
            lane.active = Active(started)
            self._stop_if_late(lane.active)
            with contextlib.suppress(StorageTrouble):
                # If it cannot be known now, a later look finds out.
                if await is_for_nobody(self._store, started.run):
                    lane.active.interrupt()
            # The start is a change itself, and so is the prompt right before it, if we had not
            # been told of it before. One more may be a cancel, of which we were told before we had
            # anything to cancel.
            if lane.changes > before + 1 + max(0, lane.expected - before):
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
            if lane.active is not None:
                lane.active.left.set()
            lane.active = None
            if lane.looking is not None:
                # It looks for the run that was: left alone, it would look in the next one's stead.
                lane.looking.cancel()
                lane.looking = None
        return True

    async def _start_next(self, session_id: SessionId, lane: Lane) -> Started | None:
        moment, again, permit = self._node.moment(), lane.in_doubt, Permit(self._homes)
        try:
            started, _ = await self._store.commit(
                session_id,
                lambda desk: starting.start_next(desk, moment, again=again, may=permit.of(desk)),
            )
        except InDoubt:
            lane.in_doubt = True
            raise
        lane.in_doubt = False
        if permit.unknown is not None:
            await self._homes.look_for(permit.unknown)
            return await self._start_next(session_id, lane)
        return started

    async def _as_it_stands(self, started: Started) -> Started:
        """With the answer so far: of a run that goes on, only the log has it."""
        session_id = started.session.id
        message = await insist(lambda: self._store.open_message(session_id), clock=self._node.clock)
        return replace(started, message=message)

    def _stop_if_late(self, active: Active) -> None:
        """What was asked of it while it was on its way to the store."""
        if active.started.covered is not None:
            active.cancel(active.started.covered)
        if self._interrupting:
            active.interrupt()
        if self._fenced:
            active.fence()
        if active.started.run.id in self._unwanted:
            self._unwanted.discard(active.started.run.id)
            active.cancel(Reason.DISCONNECT)

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
                is_lost = await is_for_nobody(self._store, active.started.run)
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
            if is_lost:
                active.interrupt()
