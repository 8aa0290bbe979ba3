"""Who is alive, by PostgreSQL's clock, and who leads."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from tenuto.core.value import Instant, NodeId, RunId, SessionId
from tenuto.ports.points import Points, Step
from tenuto.ports.query import NodeCard, NodeStanding, NodeState, Orphan, Pulse
from tenuto.storage.postgres.lifeline import Lifeline
from tenuto.storage.postgres.parts import StoreParts


class PostgresNodes:
    _parts: StoreParts
    _lifeline: Lifeline
    _points: Points

    @property
    def shared(self) -> bool:
        return True

    async def heartbeat(self, card: NodeCard, *, seconds: float) -> Pulse:
        self._points.reach(Step.LEASING)
        rows = await self._parts.writes.connections.fetch(
            self._parts.sql["beat"],
            card.id,
            card.name,
            card.version,
            self._lifeline.knows,
            card.draining,
            card.active_runs,
            card.started_at,
            seconds,
        )
        self._points.reach(Step.LEASED)
        (no, now, kept) = rows[0]
        self._parts.writes.set_clock(now.timestamp())
        await self._lifeline.beat(card.id, no)
        living = await self._living()
        self._parts.ringer.nodes = len(living)
        return Pulse(now=_instant(now), living=living, kept=kept)

    async def farewell(self, node: NodeId) -> None:
        await self._lifeline.stop(node)
        await self._parts.writes.connections.fetch(self._parts.sql["farewell"], node)

    async def living(self) -> Collection[NodeId]:
        return await self._living()

    async def nodes(self) -> Sequence[NodeStanding]:
        return tuple(_standing(row) for row in await self._parts.fetch("nodes"))

    async def orphans(self, node: NodeId) -> Sequence[Orphan]:
        return _orphans(await self._parts.fetch("orphans", node))

    async def owned(self, node: NodeId) -> Sequence[Orphan]:
        return _orphans(await self._parts.fetch("owned", node))

    async def lead(self, task: str, node: NodeId, *, seconds: float) -> bool:
        sql = self._parts.sql["lead"]
        return bool(await self._parts.writes.connections.fetch(sql, task, node, seconds))

    async def _living(self) -> frozenset[NodeId]:
        return frozenset(NodeId(row["id"]) for row in await self._parts.fetch("living"))


def _instant(moment: datetime) -> Instant:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return Instant(text.removesuffix("+00:00") + "Z")


def _orphans(rows: Sequence[Any]) -> tuple[Orphan, ...]:
    return tuple(
        Orphan(
            session_id=SessionId(row["stream"]),
            run_id=RunId(row["active_run"]),
            owner=row["owner"] and NodeId(row["owner"]),
        )
        for row in rows
    )


def _standing(row: Any) -> NodeStanding:
    state = NodeState.DRAINING if row["draining"] else NodeState.ALIVE
    return NodeStanding(
        id=NodeId(row["id"]),
        name=row["name"],
        version=row["version"],
        state=state if row["alive"] else NodeState.GONE,
        started_at=Instant(row["started_at"]),
        seen_at=_instant(row["seen_at"]),
        active_runs=row["active_runs"],
    )
