"""Deciding: the desk in one statement, the change in another that holds only if nothing moved."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from tenuto.core.comparison import Comparison
from tenuto.core.desk import Desk, Sight
from tenuto.core.error import Conflict, Fenced, InDoubt
from tenuto.core.event import Stored
from tenuto.core.run import Run
from tenuto.core.value import ComparisonId, NodeId, SessionId, StreamId
from tenuto.ports.points import NOWHERE, Points, Step
from tenuto.ports.query import Once
from tenuto.storage.assemble import FOR_EVER, decode, held_of, laid, things_of, with_sight
from tenuto.storage.missing import no_file, no_such
from tenuto.storage.once import Answer
from tenuto.storage.plan import Plan
from tenuto.storage.postgres.connections import storable
from tenuto.storage.postgres.lanes import Lanes
from tenuto.storage.postgres.sequencer import Sequencer
from tenuto.storage.postgres.telling import Telling
from tenuto.storage.postgres.writes import Writes
from tenuto.storage.postgres.writing import Guard, Judged, Remembered, values_of
from tenuto.storage.statements import Rows, numbered

T = TypeVar("T")

log = logging.getLogger(__name__)

NEWEST_RUNS = 50
"""Among which the newest that counts nearly always is."""


class Laid(NamedTuple):
    """What one statement found for a decision."""

    desks: Mapping[SessionId, Desk]
    revs: Mapping[SessionId, int]
    known: Answer | None
    judged: Judged | None


class Changes(NamedTuple):
    """What a write's plans were, so that they can be told."""

    changes: Sequence[tuple[Rows, Guard]]
    plans: Sequence[Plan]


class Deciding:
    def __init__(
        self,
        writes: Writes,
        sql: Mapping[str, str],
        lanes: Lanes,
        telling: Telling,
        sequencer: Sequencer,
        points: Points = NOWHERE,
    ) -> None:
        self.writes = writes
        self.sql = sql
        self.lanes = lanes
        self._telling = telling
        self._sequencer = sequencer
        self._points = points
        self._under_way: set[asyncio.Task[Any]] = set()

    async def shielded(self, work: Awaitable[T]) -> T:
        """Done to its end, also if whoever asked no longer waits: it must be told."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def stop(self) -> None:
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def lay(
        self,
        session_ids: Sequence[SessionId],
        sight: Sight,
        once: Once | None,
        *,
        comparison_id: ComparisonId | None = None,
        connection: Any = None,
    ) -> Laid:
        """The desks of those of these sessions that are there."""
        most = FOR_EVER if sight is Sight.RUNS else NEWEST_RUNS
        found = await self._lay(session_ids, sight, once, comparison_id, most, connection)
        short = [
            desk
            for desk in found.desks.values()
            if desk.last_run is None and desk.control.accept_count > NEWEST_RUNS
        ]
        if sight is Sight.HISTORY and short:
            found = await self._lay(session_ids, sight, once, comparison_id, FOR_EVER, connection)
        return found

    async def write(
        self,
        written: Changes,
        *,
        remembered: Remembered | None = None,
        judged: Judged | None = None,
        dead: NodeId | None = None,
        send: Callable[[list[Any]], Awaitable[Any]] | None = None,
    ) -> str:
        """Store and tell it; ok, or why it was not stored: miss or answered."""
        token = self.writes.token()
        values = values_of(token, written.changes, remembered=remembered, judged=judged, dead=dead)
        workspace = _shared_with(written.plans)
        number = 0 if workspace is None else self._telling.begin(workspace)
        shared: tuple[int, Sequence[Stored]] = (0, ())
        try:
            self._reach(Step.COMMITTING, written)
            row = await (send(values) if send else self.writes.write("write", values))
            self._reach(Step.COMMITTED, written)
            said = _ok_or_why(row, dead)
            if said == "ok":
                for plan in written.plans:
                    self._telling.tell(StreamId(plan.session.id), plan.stored)
                if workspace is not None:
                    shared = await self._numbered(workspace, row, written.plans)
        except InDoubt:
            # What may be there must be looked for, by those who watch.
            for plan in written.plans:
                self._telling.rung(StreamId(plan.session.id))
            raise
        finally:
            if workspace is not None:
                self._telling.end(workspace, number, *shared)
        self._reach(Step.TOLD, written)
        return said

    def _reach(self, step: Step, written: Changes) -> None:
        if self._points.armed:
            kinds = (stored.type for plan in written.plans for stored in plan.stored)
            self._points.reach(step, "+".join(dict.fromkeys(kinds)) or "control")

    def tell_changed(self, session_ids: Sequence[SessionId]) -> None:
        self._telling.tell_changed(session_ids)

    async def _numbered(
        self, workspace: StreamId, row: Any, plans: Sequence[Plan]
    ) -> tuple[int, Sequence[Stored]]:
        """What the workspace's log has got by this write, and where it begins."""
        events = tuple(event for plan in plans for event in plan.shared)
        base, n = row["base"], row["n"]
        if row["said"] == "done":
            # It was done before, and where they are was in the answer that was lost.
            self._telling.rung(workspace)
            self._sequencer.soon(workspace)
            return 0, ()
        if base is None:
            self._sequencer.soon(workspace)
            return 0, ()
        if n == len(events):
            return base, numbered(events, after=base)
        try:
            return base, await self._sequencer.between(workspace, base, n)
        except Exception as error:  # noqa: BLE001  it is stored: nothing may say otherwise now
            log.warning("what was numbered could not be read: %s", error)
            self._telling.rung(workspace)
            return 0, ()

    async def _lay(
        self,
        session_ids: Sequence[SessionId],
        sight: Sight,
        once: Once | None,
        comparison_id: ComparisonId | None,
        most: int,
        connection: Any,
    ) -> Laid:
        parts = ["desk"]
        # Every statement takes the same arguments; those that it has no use for are not sent.
        values: list[Any] = [[storable(s) for s in session_ids], *_key(once)]
        if sight is not Sight.CONTROL or comparison_id is not None:
            parts.append("desk_runs")
            values.append(most)
        if sight is Sight.HISTORY:
            parts.append("desk_outline")
        if comparison_id is not None:
            parts.append("desk_comparison")
            values.append(comparison_id)
        sql = " ".join(self.sql[part] for part in parts)
        if connection is not None:
            rows = await connection.fetch(sql, *values)
        else:
            rows = await self.writes.connections.fetch(sql, *values)
        return _laid(rows, sight, once)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()


def _laid(rows: Sequence[Any], sight: Sight, once: Once | None) -> Laid:
    by_session: dict[SessionId, dict[str, list[Any]]] = {}
    known: Answer | None = None
    judged: Judged | None = None
    for row in sorted(rows, key=lambda row: (row["sid"], row["n"])):
        if row["k"] == "k" and once is not None:
            first = replace(once, digest=row["x"], at=row["y"])
            known = Answer(once=first, owner=None, body=row["body"])
        elif row["k"] == "c":
            judged = Judged(decode(row["body"], Comparison), row["m"])
        else:
            kinds = by_session.setdefault(SessionId(row["sid"]), {})
            kinds.setdefault(row["k"], []).append(row)
    there = {sid: kinds for sid, kinds in by_session.items() if "s" in kinds}
    return Laid(
        desks={sid: _desk(kinds, sight) for sid, kinds in there.items()},
        revs={sid: kinds["s"][0]["m"] for sid, kinds in there.items()},
        known=known,
        judged=judged,
    )


def _desk(kinds: Mapping[str, list[Any]], sight: Sight) -> Desk:
    (session,) = kinds["s"]
    found = held_of((session["body"], session["more"], session["n"]))
    runs = [decode(row["body"], Run) for row in kinds.get("r", ())]
    things = things_of((row["x"], row["body"]) for row in kinds.get("t", ()))
    every = [decode(row["body"], Run) for row in reversed(kinds.get("e", ()))]
    outline = [(row["body"].decode(), row["x"], row["y"]) for row in kinds.get("o", ())]
    return with_sight(laid(found, runs, things), sight, runs=every, outline=outline)


def _key(once: Once | None) -> tuple[str | None, str | None]:
    return (None, None) if once is None else (storable(once.by), storable(once.key))


def _shared_with(plans: Sequence[Plan]) -> StreamId | None:
    """The workspace whose log gets something."""
    return next((StreamId(p.session.workspace_id) for p in plans if p.shared), None)


def _ok_or_why(row: Any, dead: NodeId | None) -> str:
    match row["said"]:
        case "ok" | "done":
            return "ok"
        case "no_file":
            raise no_file(row["what"])
        case "no_workspace":
            raise no_such("workspace", row["what"] or "")
        case "exists":
            raise Conflict(f"there is a session {row['what']} already")
        case "alive":
            raise Fenced(f"node {dead} is alive")
        case said:
            return str(said)
