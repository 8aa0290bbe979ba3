"""Comparisons in a memory store."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from tenuto.core.comparison import Comparison, pane_session
from tenuto.core.desk import Sight
from tenuto.core.error import SessionBusy
from tenuto.core.session import Session
from tenuto.core.value import ComparisonId, SessionId
from tenuto.ports.query import Compared, ComparedPage, ComparisonQuery, Once
from tenuto.ports.store import Judge
from tenuto.storage.cursor import comparison_cursor, place
from tenuto.storage.memory.session_rows import State
from tenuto.storage.once import Answer
from tenuto.storage.plan import Plan, plan

T = TypeVar("T")


class MemoryComparisons:
    _state: State
    _known: Callable[[Once | None], Answer | None]
    _remember: Callable[[Once | None, str | None, Any], None]
    _create: Callable[[Session, Plan], Session]
    _apply: Callable[[Plan], None]
    _changed: Callable[[SessionId], None]

    async def create_comparison(
        self, comparison: Comparison, *, once: Once | None = None
    ) -> Comparison:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            return _again(known, once)
        self._state.workspace(comparison.workspace_id)
        for pane in comparison.panes:
            self._state.must_be_new(pane.session_id)
        self._state.comparisons[comparison.id] = comparison
        for index in range(len(comparison.panes)):
            session, control = pane_session(comparison, index)
            self._create(session, plan(session, control, (), ()))
        self._remember(once, comparison.id, comparison)
        await checkpoint()
        return comparison

    async def comparison(self, comparison_id: ComparisonId) -> Compared:
        return self._compared(self._state.comparison(comparison_id))

    async def comparisons(self, query: ComparisonQuery) -> ComparedPage:
        start = None if query.cursor is None else place(query.cursor)
        found = sorted(
            (
                comparison
                for comparison in self._state.comparisons.values()
                if query.workspace_id in (None, comparison.workspace_id)
                and (start is None or (comparison.created_at, comparison.id) < start)
            ),
            key=lambda comparison: (comparison.created_at, comparison.id),
            reverse=True,
        )
        page = found[: query.limit]
        more = len(found) > len(page) > 0
        return ComparedPage(
            comparisons=tuple(self._compared(comparison) for comparison in page),
            next=comparison_cursor(page[-1]) if more else None,
        )

    async def voted(self) -> Sequence[Comparison]:
        found = [(c.vote.at, c.id, c) for c in self._state.comparisons.values() if c.vote]
        return tuple(comparison for _, _, comparison in sorted(found, key=lambda one: one[:2]))

    async def judge(
        self,
        comparison_id: ComparisonId,
        decide: Judge[T],
        *,
        sight: Sight = Sight.RUNS,
        once: Once | None = None,
        answer: type[T] | None = None,
    ) -> T:
        await checkpoint()
        known = self._known(once)
        if once is not None and known is not None:
            again: T = known.again(once, answer)
            return again
        comparison = self._state.comparison(comparison_id)
        desks = {
            session.id: self._state.rows(session.id).desk(sight, head=session.head)
            for session in self._compared(comparison).sessions
        }
        verdict = decide(comparison, desks)
        plans = [
            plan(desks[id].session, c.control, c.events, c.finished, c.revealed)
            for id, c in verdict.changes.items()
        ]
        for planned in plans:
            self._state.must_hold(planned.claimed)
        self._state.comparisons[comparison_id] = verdict.comparison
        self._remember(once, comparison_id, verdict.result)
        for planned in plans:
            self._apply(planned)
        for session_id in verdict.changes:
            self._changed(session_id)
        await checkpoint()
        return verdict.result

    async def forget_comparison(self, comparison_id: ComparisonId) -> None:
        await checkpoint()
        comparison = self._state.comparison(comparison_id)
        if any(session.comparison for session in self._compared(comparison).sessions):
            raise SessionBusy(f"comparison {comparison_id} still has panes")
        del self._state.comparisons[comparison_id]
        self._state.forget_answers(comparison_id)

    def _compared(self, comparison: Comparison) -> Compared:
        found = (self._state.by_session.get(pane.session_id) for pane in comparison.panes)
        sessions = tuple(self._state.session(rows) for rows in found if rows is not None)
        return Compared(comparison=comparison, sessions=sessions)


def _again(known: Answer, once: Once) -> Comparison:
    result: Comparison = known.again(once, Comparison)
    return result
