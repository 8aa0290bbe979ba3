"""The driver does one run from its start to its ending, and writes the ending whatever happens."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

import anyio
from msgspec.structs import replace

from tenuto.core import parking, settling
from tenuto.core.desk import Change, Desk, Moment
from tenuto.core.error import Fenced, InDoubt, ModelNotFound, NotFound, StorageTrouble
from tenuto.core.message import Message
from tenuto.core.run import Ending, Reason, Run, RunStatus
from tenuto.core.session import Fence, Session
from tenuto.core.starting import Started
from tenuto.core.told import with_result
from tenuto.core.value import RunId
from tenuto.engine.jobs import JobKeeper
from tenuto.engine.node import Node
from tenuto.engine.protect import finish
from tenuto.engine.resort import LADDER, MISTAKE, Resort, complain, emptied, is_gone, lessened
from tenuto.engine.work import Delegating, Work, Worker
from tenuto.ports.model import ProviderError
from tenuto.ports.points import Step
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

SETTLE_RETRY_SECONDS = 1.0
OUT_OF_REACH = "The store could not be reached for too long."
LAST_WRITE_SECONDS = 5.0
"""What a driver that is told to go still gets to write its run's ending; then the next start does."""


class Active:
    """A run under way, and the one way to stop it."""

    def __init__(self, started: Started) -> None:
        self.started = started
        self.scope = anyio.CancelScope()
        self.work: Work | None = None
        self.stopped: tuple[RunStatus, Reason] | None = None
        self.leaving = False
        """It is to be parked: it only waits for a person."""
        self.lost = False
        """Another owner has the run, or its session is gone: write nothing more."""
        self.worked = False
        """The worker came to its end by itself, so nothing that it asked of the store is open."""
        self.settling = False
        """The ending is being written: whether a cancel came before it is decided there."""
        self.heard = 0
        """How often the session changed since then; the ending itself is one."""
        self.was_last = False
        """No other run waited when this one ended."""
        self.left = asyncio.Event()
        """Nothing works for it any more."""

    def is_of(self, run_id: RunId) -> bool:
        return self.started.run.id == run_id

    def cancel(self, reason: Reason) -> None:
        self._stop(RunStatus.CANCELLED, reason)

    def interrupt(self) -> None:
        """The server stops; a run that only waits for a person is left as it is."""
        if not self.leave_if_it_only_waits():
            self._stop(RunStatus.INTERRUPTED, Reason.SERVER_STOPPED)

    def fence(self) -> None:
        """Stop: the lease is lost. The ending is written only if nobody else has written one."""
        if not self.settling and not self.leave_if_it_only_waits():
            self._stop(RunStatus.FAILED, Reason.STORAGE)

    def leave_if_it_only_waits(self) -> bool:
        """Work on it no more, if all that it does is wait for a person; whether that is so."""
        if self.leaving:
            return True
        if self.work is None or not self.work.only_waits or self.started.run.ends_with_another:
            return False
        self.leaving = True
        self.scope.cancel()
        return True

    @property
    def is_left(self) -> bool:
        return self.leaving and self.stopped is None

    @property
    def is_interrupted(self) -> bool:
        return self.stopped is not None and self.stopped[0] is RunStatus.INTERRUPTED

    def lose(self) -> None:
        self.lost = True
        self.scope.cancel()

    def _stop(self, status: RunStatus, reason: Reason) -> None:
        # The first cause is the truth: a shutdown must not turn a user's cancel into its own.
        if self.stopped is None:
            self.stopped = (status, reason)
        self.scope.cancel()


class Driver:
    def __init__(
        self,
        store: Store,
        worker: Worker,
        node: Node,
        *,
        run_seconds: float,
        jobs: JobKeeper | None = None,
    ) -> None:
        self._jobs = jobs
        self._points = node.points
        self._store = store
        self._worker = worker
        self._node = node
        self._run_seconds = run_seconds
        self._abandoned = False
        self.sub_agents: Delegating | None = None
        self.on_ended: list[Callable[[Session, Run], None]] = []
        """Called with each run that this node settled."""

    def abandon(self) -> None:
        """Stop trying to write endings that the store refuses; the next start settles them."""
        self._abandoned = True

    async def drive(self, active: Active) -> None:
        """Work and settle. Cancelling `active` is a stop; cancelling us is a crash."""
        work = Work(
            self._store,
            self._node,
            started=active.started,
            jobs=self._jobs,
            sub_agents=self.sub_agents,
        )
        active.work = work
        self._points.reach(Step.RUN_STARTED)
        ending = await self._work(active, work)
        self._points.reach(Step.RUN_WORKED)
        # It may have asked a person without knowing it yet: the store does.
        if active.is_left or active.is_interrupted:
            if await finish(self._park(active, work), seconds=LAST_WRITE_SECONDS):
                self._points.reach(Step.RUN_PARKED)
                return
            if active.is_left:
                ending = Ending(status=RunStatus.INTERRUPTED, reason=Reason.SERVER_STOPPED)
        last = self._settle(active, work, ending)
        run = await finish(last, seconds=LAST_WRITE_SECONDS)
        self._points.reach(Step.RUN_SETTLED)
        if run is not None:
            for tell in self.on_ended:
                tell(work.session, run)

    async def _work(self, active: Active, work: Work) -> Ending:
        ending = Ending.failed(Reason.INTERNAL, MISTAKE)
        try:
            with active.scope:
                seconds = self._run_seconds if work.pause is None else work.pause.seconds
                work.limit.deadline = anyio.current_time() + seconds
                with work.limit:
                    ending = await self._worker.work(work)
                active.worked = not work.limit.cancelled_caught
                if not active.worked:
                    ending = Ending(status=RunStatus.COMPLETED, reason=Reason.TIME_LIMIT)
        except ProviderError as error:
            ending = Ending.failed(error.reason, str(error))
        except ModelNotFound as error:
            ending = Ending.failed(Reason.MODEL_NOT_FOUND, str(error))
        except Fenced:
            active.lost = True
        except NotFound as error:
            # The session was deleted under us; if it was not, the run must still end.
            log.warning("something is gone: %s", error, extra={"run_id": work.run.id})
        except StorageTrouble as error:
            ending = Ending.failed(Reason.STORAGE, str(error))
        except Exception:
            log.exception("run failed", extra={"run_id": work.run.id})
        if active.scope.cancelled_caught and active.stopped is not None:
            status, reason = active.stopped
            if status is RunStatus.FAILED:
                return Ending.failed(reason, OUT_OF_REACH)
            ending = Ending(status=status, reason=reason)  # type: ignore[arg-type]
        return ending

    async def _park(self, active: Active, work: Work) -> bool:
        """Leave the run to whoever is answered; False: it cannot be left, and must end."""
        session_id, fence = work.session.id, active.started.fence
        active.settling = True
        while not active.lost and not self._abandoned:
            try:
                await work.recorder.flush()
                message = await self._store.open_message(session_id)
                park = partial(parking.park, fence=fence, message=message)
                parked, _ = await self._store.commit(session_id, park)
                return parked
            except (Fenced, NotFound):
                active.lost = True
            except InDoubt:
                return False
            except StorageTrouble as trouble:
                log.warning("cannot park, trying again: %s", trouble, extra=_of(work))
                await anyio.sleep(SETTLE_RETRY_SECONDS)
            except Exception as error:  # noqa: BLE001  whatever it is, the run must not be lost
                complain(error, work.run.id)
                return False
        return True

    async def _settle(self, active: Active, work: Work, ending: Ending) -> Run | None:
        """Write the ending: again while the store is in trouble, with less if it refuses it."""
        active.settling = True
        refused = 0
        while not active.lost and not self._abandoned:
            try:
                ending = await self._recorded(active, work, ending)
                return await self._write(active, work, ending, LADDER[refused])
            except _WentOn:
                active.worked = False
            except Fenced:
                return None
            except StorageTrouble as error:
                log.warning("cannot settle, trying again: %s", error, extra=_of(work))
                await anyio.sleep(SETTLE_RETRY_SECONDS)
            except Exception as error:  # noqa: BLE001  whatever it is, the run must end
                if isinstance(error, NotFound) and await is_gone(self._store, work.session.id):
                    return None
                complain(error, work.run.id)
                self._points.reach(Step.ENDING_REFUSED, LADDER[refused].name.lower())
                refused = min(refused + 1, len(LADDER) - 1)
                if LADDER[refused] is Resort.EMPTY:
                    await anyio.sleep(SETTLE_RETRY_SECONDS)
        return None

    async def _recorded(self, active: Active, work: Work, ending: Ending) -> Ending:
        """The ending once all that was recorded is stored, or can never be."""
        try:
            await work.recorder.flush()
        except Fenced:
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the run must end
            # What could not be stored is lost to everyone alike: the log is the truth. A stop
            # stays a stop all the same.
            if active.stopped is not None:
                return ending
            if isinstance(error, StorageTrouble):
                return Ending.failed(Reason.STORAGE, str(error))
            return Ending.failed(Reason.INTERNAL, MISTAKE)
        return ending

    async def _write(self, active: Active, work: Work, ending: Ending, resort: Resort) -> Run:
        session_id, fence = work.session.id, active.started.fence
        bare = resort is not Resort.WHOLE
        last = lessened(ending if bare else replace(ending, usage=work.usage()), resort)
        empty = resort is Resort.EMPTY
        head = await self._head(active, work)
        message = None if empty else await self._answer(active, work)

        def decide(desk: Desk) -> Change[tuple[Run, bool]]:
            if head is not None and desk.session.head != head:
                desk.held_by(fence)
                raise _WentOn
            answer = emptied(desk) if empty else message
            change = _settled(desk, fence, last, answer, self._node.moment())
            return with_result(change, (change.result, not change.control.queue))

        (run, active.was_last), _ = await self._store.commit(session_id, decide)
        log.info("run ended", extra={**_of(work), "status": run.status, "reason": run.reason})
        return run

    async def _head(self, active: Active, work: Work) -> int | None:
        """Where the log is before we look at what it has: a write in doubt may still arrive."""
        if not self._store.shared or _is_known(active, work):
            return None
        return (await self._store.session(work.session.id)).head

    async def _answer(self, active: Active, work: Work) -> Message | None:
        """The run's open message, as the log has it."""
        if _is_known(active, work):
            return work.recorder.message() if active.started.message else None
        return await self._store.open_message(work.session.id)


class _WentOn(Exception):
    """The log has gone on since we looked at it."""


def _is_known(active: Active, work: Work) -> bool:
    """Whether what was recorded is what the log has."""
    return active.worked and work.recorder.all_stored


def _settled(
    desk: Desk, fence: Fence, ending: Ending, message: Message | None, moment: Moment
) -> Change[Run]:
    # A steer may have been on its way to the store when the run was stopped.
    if desk.control.open_message != (message.id if message else None):
        desk.held_by(fence)
        raise _WentOn
    return settling.settle(desk, fence, ending, message, moment)


def _of(work: Work) -> dict[str, str]:
    return {"run_id": work.run.id}
