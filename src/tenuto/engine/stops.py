"""Stops: a cancel is a mark in the store; what runs here stops at once, stored or not."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TypeVar, cast

import anyio
from msgspec.structs import replace

from tenuto.core import cancelling
from tenuto.core.cancelling import Covered, Waiters
from tenuto.core.desk import Change, Desk
from tenuto.core.error import ShuttingDown, StorageTrouble
from tenuto.core.principal import Principal
from tenuto.core.run import Reason, Run
from tenuto.core.value import RunId, SessionId, Value
from tenuto.engine import families
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.endings import Endings
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.parked import Parked
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

LEFT_SECONDS = 0.5

T = TypeVar("T")

SETTLE_SECONDS = 5.0
RETRY_SECONDS = 0.5

COVERS = {Waiters.CANCEL: cancelling.cancel_session, Waiters.HOLD: cancelling.hold_session}


class WhichJobs(StrEnum):
    """Which jobs a cancel of a session stops."""

    OWN = "own"
    """Those of the run that it ends."""
    ALL = "all"


class CancelReceipt(Value):
    cancelled: tuple[RunId, ...]
    held: tuple[RunId, ...] = ()
    """Those that wait, and are passed over until they are let go."""
    head: int
    settled: bool
    """False: something has not ended yet, or the cancel could not be stored yet."""


class Stops:
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
        self._parked = Parked(store, node)
        self._pending: dict[tuple[str, Waiters], asyncio.Task[object]] = {}
        """Marks that the store would not take yet, by the session or run that they cover, and by
        what they do to what waits."""
        self._closed = False

    async def cancel_session(
        self,
        session_id: SessionId,
        reason: Reason = Reason.USER,
        *,
        waiters: Waiters = Waiters.CANCEL,
        jobs: WhichJobs = WhichJobs.OWN,
        by: Principal,
    ) -> CancelReceipt:
        """Cover everything accepted so far, or hold what waits; answer when it has ended."""
        sees = self._store.seen_by(by)
        # Whoever sees everything need not look: a stop waits for no read. And where nothing can
        # be read, the safe side is to stop.
        if sees is not self._store:
            with contextlib.suppress(StorageTrouble):
                await sees.session(session_id)
        # Before the mark is stored, but not before it is on its way: no ending comes before it.
        self._coordinator.stop_now(session_id, reason)
        try:
            cancelled, head = await self._cover_session(session_id, reason, waiters, by)
        except StorageTrouble as trouble:
            log.warning("a cancel cannot be stored yet: %s", trouble)
            return await self._cancel_session_unstored(session_id, reason, waiters, by)
        receipt = await self._receipt(session_id, cancelled, head)
        if jobs is WhichJobs.ALL:
            over = await self._jobs.stop_those(session_id, lambda job: True, by=by)
            head = (await self._store.session(session_id)).head
            receipt = replace(receipt, head=head, settled=receipt.settled and over)
        return receipt

    async def cancel_run(
        self, run_id: RunId, reason: Reason = Reason.USER, *, by: Principal
    ) -> Run:
        """Cover one run; answer with it as it ended."""
        run = await self._store.seen_by(by).run(run_id)
        if run.ended:
            return run

        def decide(desk: Desk) -> Change[Covered]:
            return cancelling.cancel_run(desk, run_id, reason, self._node.moment(by=by))

        async def cover() -> Covered:
            moment = self._node.moment(by=by)
            return (await families.cover(self._store, run.session_id, decide, reason, moment))[0]

        self._coordinator.stop_now(run.session_id, reason, run_id=run_id)
        try:
            covered: Covered | None = await cover()
        except StorageTrouble as trouble:
            log.warning("a cancel cannot be stored yet: %s", trouble)
            covered = await self._stored(run_id, cover)
        if covered is not None and covered.parked is not None:
            await self._parked.end(run.session_id, run_id)
        ended = await self._ended(run.session_id, run_id)
        await self._jobs.over_with(ended)
        return ended

    async def cancel_left(self, run: Run, *, by: Principal) -> None:
        """Cancel a run whose connection has closed, as soon as the store can be reached."""
        while not self._closed:
            try:
                await self.cancel_run(run.id, Reason.DISCONNECT, by=by)
                return
            except StorageTrouble as trouble:
                log.warning("what was left cannot be cancelled yet: %s", trouble)
            await anyio.sleep(LEFT_SECONDS)

    async def close(self) -> None:
        """Give up what could not be stored: the server is stopping."""
        self._closed = True
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _cover_session(
        self,
        session_id: SessionId,
        reason: Reason,
        waiters: Waiters,
        by: Principal,
        *,
        up_to: int | None = None,
    ) -> tuple[Covered, int]:
        cover = COVERS[waiters]

        def decide(desk: Desk) -> Change[Covered]:
            return cover(desk, reason, self._node.moment(by=by), up_to=up_to)

        moment = self._node.moment(by=by)
        return await families.cover(self._store, session_id, decide, reason, moment)

    async def _receipt(self, session_id: SessionId, cancelled: Covered, head: int) -> CancelReceipt:
        settled = True
        if cancelled.parked is not None:
            await self._parked.end(session_id, cancelled.parked)
        if cancelled.active is not None:
            run = await self._ended(session_id, cancelled.active)
            settled = run.ended and not self._coordinator.works_for(session_id, run.id)
            settled = await self._jobs.over_with(run) and settled
            head = (await self._store.session(session_id)).head
        return CancelReceipt(
            cancelled=cancelled.runs, held=cancelled.held, head=head, settled=settled
        )

    async def _ended(self, session_id: SessionId, run_id: RunId) -> Run:
        """The run once it has ended and nothing here works for it, or as it is when time is up.

        A session that is being deleted ends its run before the work has stopped.
        """
        began = self._node.clock.seconds()
        run = await self._endings.of(run_id, seconds=SETTLE_SECONDS)
        with anyio.move_on_after(began + SETTLE_SECONDS - self._node.clock.seconds()):
            await self._coordinator.until_left(session_id, run_id)
        return run

    async def _cancel_session_unstored(
        self, session_id: SessionId, reason: Reason, waiters: Waiters, by: Principal
    ) -> CancelReceipt:
        """The work has stopped; the mark follows as soon as the store takes it."""
        session = await self._store.session(session_id)
        control = await self._store.control(session_id)
        # What is accepted once there is room again came after this cancel.
        up_to = control.accept_count
        stored = await self._stored(
            session_id,
            lambda: self._cover_session(session_id, reason, waiters, by, up_to=up_to),
            waiters,
        )
        if stored is not None:
            return await self._receipt(session_id, *stored)
        active = () if session.active_run is None else (session.active_run,)
        if waiters is Waiters.HOLD:
            return CancelReceipt(
                cancelled=active, held=control.queue, head=session.head, settled=False
            )
        return CancelReceipt(cancelled=(*active, *control.queue), head=session.head, settled=False)

    async def _stored(
        self, what: str, cover: Callable[[], Awaitable[T]], waiters: Waiters = Waiters.CANCEL
    ) -> T | None:
        """What `cover` gave once it was stored; None if that takes long: then it goes on."""
        task = self._pending.get((what, waiters))
        if task is None:
            if self._closed:
                raise ShuttingDown("the server is stopping; send the cancel again in a moment")
            task = asyncio.create_task(
                self._until_stored(what, cover, waiters), name=f"stop {what}"
            )
            self._pending[what, waiters] = task
            # Whoever asked may have been answered: a session that is gone meanwhile is no mistake.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait({task}, timeout=SETTLE_SECONDS)
        return cast("T", task.result()) if done else None

    async def _until_stored(
        self, what: str, cover: Callable[[], Awaitable[T]], waiters: Waiters
    ) -> T:
        self._coordinator.hold(what)
        try:
            while True:
                try:
                    return await cover()
                except StorageTrouble:
                    await anyio.sleep(RETRY_SECONDS)
        finally:
            del self._pending[what, waiters]
            if not any(other == what for other, _ in self._pending):
                self._coordinator.let_go(what)
