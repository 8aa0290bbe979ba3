"""Comparisons, and the sessions of their panes."""

from collections.abc import Sequence
from typing import Any, TypeVar

from tenuto.core.comparison import Comparison, pane_session
from tenuto.core.desk import Sight
from tenuto.core.error import SessionBusy
from tenuto.core.value import ComparisonId, SessionId, StreamId
from tenuto.ports.query import Compared, ComparedPage, ComparisonQuery, Once
from tenuto.ports.store import Judge
from tenuto.storage.assemble import NEWEST, decode, decode_all, session_of
from tenuto.storage.cursor import comparison_cursor, place
from tenuto.storage.missing import no_such
from tenuto.storage.plan import created, plan, planned_for
from tenuto.storage.postgres.deciding import Changes
from tenuto.storage.postgres.families import ALL_TRIES
from tenuto.storage.postgres.parts import StoreParts
from tenuto.storage.postgres.trouble import explained
from tenuto.storage.postgres.writing import NEW, Guard, Judged, remember
from tenuto.storage.statements import rows_of

T = TypeVar("T")


class PostgresComparisons:
    _parts: StoreParts

    async def create_comparison(
        self, comparison: Comparison, *, once: Once | None = None
    ) -> Comparison:
        known = await self._parts.known(once)
        if once is not None and known is not None:
            again: Comparison = known.again(once, Comparison)
            return again
        panes = [pane_session(comparison, index) for index in range(len(comparison.panes))]
        plans = [created(plan(session, control, (), ())) for session, control in panes]
        changes = [(rows_of(one, before=None), Guard(NEW, None)) for one in plans]
        said = await self._parts.deciding.shielded(
            self._parts.deciding.write(
                Changes(changes, plans),
                remembered=remember(once, comparison.id, comparison),
                judged=Judged(comparison, NEW),
            )
        )
        return comparison if said == "ok" else await self._parts.first(once, Comparison)

    async def comparison(self, comparison_id: ComparisonId) -> Compared:
        found = await self._comparison(comparison_id)
        return (await self._compared([found]))[0]

    async def comparisons(self, query: ComparisonQuery) -> ComparedPage:
        at, id = NEWEST if query.cursor is None else place(query.cursor)
        rows = await self._parts.fetch(
            "comparisons_page", at, id, query.workspace_id, query.limit + 1
        )
        page = decode_all(rows[: query.limit], Comparison)
        more = len(rows) > len(page) > 0
        return ComparedPage(
            comparisons=tuple(await self._compared(page)),
            next=comparison_cursor(page[-1]) if more else None,
        )

    async def voted(self) -> Sequence[Comparison]:
        return decode_all(await self._parts.fetch("comparisons_voted"), Comparison)

    async def judge(
        self,
        comparison_id: ComparisonId,
        decide: Judge[T],
        *,
        sight: Sight = Sight.RUNS,
        once: Once | None = None,
        answer: type[T] | None = None,
    ) -> T:
        work = self._judge(comparison_id, decide, sight, once, answer)
        return await self._parts.deciding.shielded(work)

    async def forget_comparison(self, comparison_id: ComparisonId) -> None:
        found = await self._comparison(comparison_id)
        panes = [pane.session_id for pane in found.panes]
        values = [self._parts.writes.token(), comparison_id, panes]
        said = (await self._parts.writes.write("forget_comparison", values))["said"]
        if said == "busy":
            raise SessionBusy(f"comparison {comparison_id} still has panes")
        if said == "no_comparison":
            raise no_such("comparison", comparison_id)

    async def _judge(
        self,
        comparison_id: ComparisonId,
        decide: Judge[Any],
        sight: Sight,
        once: Once | None,
        answer: type | None,
    ) -> Any:
        known = await self._parts.known(once)
        if once is not None and known is not None:
            return known.again(once, answer)
        panes = [pane.session_id for pane in (await self._comparison(comparison_id)).panes]
        async with self._parts.lanes.turn(*map(StreamId, panes)):
            for _ in range(ALL_TRIES):
                stored, result = await self._attempt(
                    comparison_id, panes, decide, sight, once, answer
                )
                if stored:
                    return result
        raise explained(TimeoutError())

    async def _attempt(
        self,
        comparison_id: ComparisonId,
        panes: Sequence[SessionId],
        decide: Judge[Any],
        sight: Sight,
        once: Once | None,
        answer: type | None,
    ) -> tuple[bool, Any]:
        """Decide on what is there now; whether it was stored, and the result."""
        found = await self._parts.deciding.lay(panes, sight, once, comparison_id=comparison_id)
        if once is not None and found.known is not None:
            return True, found.known.again(once, answer)
        if found.judged is None:
            raise no_such("comparison", comparison_id)
        desks = {pane: found.desks[pane] for pane in panes if pane in found.desks}
        verdict = decide(found.judged.comparison, desks)
        plans = {id: planned_for(desks[id], change) for id, change in verdict.changes.items()}
        changes = [
            (
                rows_of(planned, before=desks[id].session),
                Guard(found.revs[id], desks[id].session.head if planned.stored else None),
            )
            for id, planned in plans.items()
        ]
        said = await self._parts.deciding.write(
            Changes(changes, list(plans.values())),
            remembered=remember(once, comparison_id, verdict.result),
            judged=Judged(verdict.comparison, found.judged.rev),
        )
        if said == "ok":
            self._parts.deciding.tell_changed(list(verdict.changes))
        return said == "ok", verdict.result

    async def _comparison(self, comparison_id: ComparisonId) -> Comparison:
        row = await self._parts.row("comparison", comparison_id)
        if row is None:
            raise no_such("comparison", comparison_id)
        return decode(row["body"], Comparison)

    async def _compared(self, comparisons: Sequence[Comparison]) -> list[Compared]:
        wanted = [pane.session_id for one in comparisons for pane in one.panes]
        rows = await self._parts.fetch("sessions_by_id", wanted)
        there = {row["id"]: session_of((row["body"], row["head"])) for row in rows}
        return [
            Compared(
                comparison=one,
                sessions=tuple(
                    there[pane.session_id] for pane in one.panes if pane.session_id in there
                ),
            )
            for one in comparisons
        ]
