"""The janitor tidies what nobody needs any more. It never changes what anyone sees."""

import logging

import anyio

from tenuto.core.error import StorageTrouble
from tenuto.engine.node import Node
from tenuto.ports.points import Step
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

ROUND_SECONDS = 60.0
LEAD_SECONDS = 2.5 * ROUND_SECONDS
FOLD_EVERY_ROUNDS = 60
FOLD_LIMIT = 500
# Long enough for every viewer of a deleted session to read that it was deleted.
PURGE_AFTER_SECONDS = 30.0


class Janitor:
    def __init__(self, store: Store, node: Node, *, fold_after_seconds: float) -> None:
        self._points = node.points
        self._store = store
        self._node = node
        self._clock = node.clock
        self._fold_after_seconds = fold_after_seconds

    async def sweep(self) -> None:
        """Go round for ever."""
        rounds = 0
        while True:
            try:
                if await self._leads():
                    await self.purge(older_than=PURGE_AFTER_SECONDS)
                    if rounds % FOLD_EVERY_ROUNDS == 0:
                        await self.fold()
            except StorageTrouble as trouble:
                log.warning("the janitor cannot tidy, trying again later: %s", trouble)
            except Exception:
                log.exception("a round of the janitor failed")
            rounds += 1
            await anyio.sleep(ROUND_SECONDS)

    async def begin(self) -> None:
        """At start nobody watches what was deleted: unless there are other nodes."""
        if not self._store.shared:
            await self.purge(older_than=0)

    async def _leads(self) -> bool:
        """One node tidies; when it is gone, another."""
        return await self._store.lead("janitor", self._node.id, seconds=LEAD_SECONDS)

    async def purge(self, *, older_than: float) -> None:
        self._points.reach(Step.PURGING)
        await self._store.purge(before=self._clock.later(-older_than))
        self._points.reach(Step.PURGED)

    async def fold(self) -> None:
        before = self._clock.later(-self._fold_after_seconds)
        self._points.reach(Step.FOLDING)
        while removed := await self._store.fold_deltas(before=before, limit=FOLD_LIMIT):
            log.info("folded %d deltas away", removed)
        self._points.reach(Step.FOLDED)
