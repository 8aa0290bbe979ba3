"""Leases in a memory store, by its own clock."""

from collections.abc import Collection, Sequence

from tenuto.core.error import Fenced
from tenuto.core.value import NodeId
from tenuto.ports.query import NodeCard, NodeStanding, NodeState, Orphan, Pulse
from tenuto.storage.memory.session_rows import Lease, State
from tenuto.storage.store_clock import LeaseClock


class MemoryNodes:
    _state: State
    _clock: LeaseClock

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        now = self._clock.now()
        until = self._clock.seconds() + seconds
        self._state.leases[card.id] = Lease(card=card, seen_at=now, until=until)
        return Pulse(now=now, living=self._living())

    async def farewell(self, node: NodeId) -> None:
        if lease := self._state.leases.get(node):
            lease.until = self._clock.seconds()

    async def living(self) -> Collection[NodeId]:
        return self._living()

    async def nodes(self) -> Sequence[NodeStanding]:
        living = self._living()
        return tuple(_standing(lease, living) for lease in self._state.leases.values())

    async def orphans(self, node: NodeId) -> Sequence[Orphan]:
        alive = {node, *self._living()}
        return tuple(run for run in self._running() if run.owner not in alive)

    async def owned(self, node: NodeId) -> Sequence[Orphan]:
        return tuple(run for run in self._running() if run.owner == node)

    async def lead(self, task: str, node: NodeId, *, seconds: float) -> bool:
        now = self._clock.seconds()
        leader, until = self._state.leaders.get(task, (node, now))
        if leader != node and until > now:
            return False
        self._state.leaders[task] = (node, now + seconds)
        return True

    def _living(self) -> frozenset[NodeId]:
        now = self._clock.seconds()
        leases = self._state.leases.items()
        return frozenset(node for node, lease in leases if lease.until > now)

    def _must_be_dead(self, node: NodeId | None) -> None:
        if node is not None and node in self._living():
            raise Fenced(f"node {node} is alive")

    def _running(self) -> Sequence[Orphan]:
        return [
            Orphan(
                session_id=rows.session.id,
                run_id=rows.session.active_run,
                owner=rows.control.owner,
            )
            for rows in self._state.by_session.values()
            if rows.session.active_run is not None and rows.control.parked is None
        ]


def _standing(lease: Lease, living: Collection[NodeId]) -> NodeStanding:
    card = lease.card
    state = NodeState.DRAINING if card.draining else NodeState.ALIVE
    return NodeStanding(
        id=card.id,
        name=card.name,
        version=card.version,
        state=state if card.id in living else NodeState.GONE,
        started_at=card.started_at,
        seen_at=lease.seen_at,
        active_runs=card.active_runs,
    )
