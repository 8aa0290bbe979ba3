"""The heart: this node's lease, and what happens to its runs when it could not be kept."""

import asyncio
import logging
from collections.abc import Callable

import anyio

from tenuto.core.error import StorageTrouble
from tenuto.core.value import NodeId
from tenuto.engine.agreed_clock import AgreedClock
from tenuto.engine.coordinator import Coordinator
from tenuto.engine.node import Node
from tenuto.ports.query import NodeCard
from tenuto.ports.store import Store

log = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
BEAT_SECONDS = 1.0
ALONE_BEAT_SECONDS = 5.0
"""Where only one node can be: a look whether the store is still the one that was opened."""
AGAIN_SECONDS = 1.0
"""After a beat that the store refused: two of those in a row must not cost the lease."""
GRACE_SECONDS = 2.0
"""So long after its lease a node stops what it runs: who waited for the store can still say why."""
MARGIN_SECONDS = 3.0
"""So long after that others may take it over: it must have stopped by then."""


class Heart:
    def __init__(
        self,
        store: Store,
        coordinator: Coordinator,
        node: Node,
        *,
        lease_seconds: float,
    ) -> None:
        self._store = store
        self._coordinator = coordinator
        self._node = node
        self._lease_seconds = lease_seconds
        self._started_at = node.clock.now()
        self._fuse: asyncio.TimerHandle | None = None
        self.on_kept: list[Callable[[], None]] = []
        """Told when a value that all nodes share may have changed."""
        self._kept: int | None = None
        self.draining = False
        self.on_fence: list[Callable[[], None]] = []
        """Who else must stop what works here."""
        self.living: frozenset[NodeId] = frozenset()
        """Who was alive at the last beat."""

    async def beat(self) -> None:
        """Keep the lease from the moment at which this is sent."""
        sent = self._node.clock.seconds()
        until = taken_after_seconds(self._lease_seconds)
        pulse = await self._store.heartbeat(self._card(), seconds=until)
        self.living = pulse.living
        if pulse.kept != self._kept:
            # Somebody has kept something; that it was rung for may have been lost.
            self._kept = pulse.kept
            for tell in self.on_kept:
                tell()
        clock = self._node.clock
        if pulse.now is not None and isinstance(clock, AgreedClock):
            clock.set_by(pulse.now, asked=sent)
        if self._store.shared:
            self._arm(sent)
        self._coordinator.unfence()

    async def tell(self) -> None:
        """Say now how it stands, if there are others: they begin what waits here."""
        try:
            if self._store.shared:
                await self.beat()
        except StorageTrouble as trouble:
            log.warning("the others cannot be told that this node drains: %s", trouble)

    async def watch(self) -> None:
        """Beat for ever."""
        usual = BEAT_SECONDS if self._store.shared else ALONE_BEAT_SECONDS
        pause = usual
        while True:
            await anyio.sleep(pause)
            pause = AGAIN_SECONDS
            try:
                await self.beat()
                pause = usual
            except StorageTrouble as trouble:
                log.warning("the lease cannot be kept, trying again: %s", trouble)
            except Exception:
                # Whatever it is, the lease must be kept: others would end what runs here.
                log.exception("a beat failed")

    async def stop(self) -> None:
        """Beat no more: the others need not wait for the lease to run out."""
        if self._fuse is not None:
            self._fuse.cancel()
        try:
            await self._store.farewell(self._node.id)
        except StorageTrouble as trouble:
            log.warning("the store could not be told that this node stops: %s", trouble)

    def _arm(self, sent: float) -> None:
        """Without another beat, stop what runs here before others may think it is gone."""
        if self._fuse is not None:
            self._fuse.cancel()
        left = sent + safe_seconds(self._lease_seconds) - self._node.clock.seconds()
        self._fuse = asyncio.get_running_loop().call_later(max(0.0, left), self._fence)

    def _fence(self) -> None:
        log.warning("the lease could not be kept: what runs here is stopped")
        self._coordinator.fence()
        for stop in self.on_fence:
            stop()

    def _card(self) -> NodeCard:
        return NodeCard(
            id=self._node.id,
            name=self._node.name,
            version=self._node.version,
            draining=self.draining,
            active_runs=len(self._coordinator.active_runs()),
            started_at=self._started_at,
        )


def safe_seconds(lease_seconds: float) -> float:
    """How long after a beat what works here may go on without another."""
    return lease_seconds + min(GRACE_SECONDS, lease_seconds / 5)


def taken_after_seconds(lease_seconds: float) -> float:
    """How long after a beat the others wait."""
    return safe_seconds(lease_seconds) + min(MARGIN_SECONDS, lease_seconds / 3)
