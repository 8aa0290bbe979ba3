"""Parked runs: whoever cancels one ends it, because nobody works on it."""

import logging

from tenuto.core import settling
from tenuto.core.desk import Change, Desk
from tenuto.core.message import Message
from tenuto.core.run import Ending, Reason, RunStatus, Usage
from tenuto.core.session import Fence
from tenuto.core.told import with_result
from tenuto.core.value import RunId, SessionId
from tenuto.engine.node import Node
from tenuto.ports.store import Store

log = logging.getLogger(__name__)


class Parked:
    def __init__(self, store: Store, node: Node) -> None:
        self._store = store
        self._node = node

    async def end(self, session_id: SessionId, run_id: RunId) -> None:
        """Write the ending of a run that a cancel covers, unless somebody has taken it since.

        Only for speed and for those who have no folder of it: a lane does the same.
        """
        try:
            while not await self._end(session_id, run_id):
                continue
        except Exception:
            # It is due: the next look of a node finds it, and knows what to leave out.
            log.exception("a parked run was not ended at once", extra={"run_id": run_id})

    async def _end(self, session_id: SessionId, run_id: RunId) -> bool:
        """Whether there is nothing more to do."""
        head = (await self._store.session(session_id)).head
        message = await self._store.open_message(session_id)

        def decide(desk: Desk) -> Change[bool]:
            run, control = desk.active, desk.control
            if run is None or run.id != run_id or control.parked is None:
                return Change(events=(), control=control, result=True)
            if desk.session.head != head:
                return Change(events=(), control=control, result=False)
            return self._settled(desk, run_id, message)

        done, _ = await self._store.commit(session_id, decide)
        return done

    def _settled(self, desk: Desk, run_id: RunId, message: Message | None) -> Change[bool]:
        fence = Fence(run_id=run_id, epoch=desk.control.epoch)
        used = Usage() if desk.control.pause is None else desk.control.pause.usage
        ending = Ending(status=RunStatus.CANCELLED, reason=Reason.USER, usage=used)
        settled = settling.settle(desk, fence, ending, message, self._node.moment())
        return with_result(settled, True)
