"""Comparisons, and the sessions of their panes."""

from collections.abc import Sequence
from typing import TypeVar

from tenuto.core.comparison import Comparison, pane_session
from tenuto.core.desk import Sight
from tenuto.core.error import SessionBusy
from tenuto.core.value import ComparisonId
from tenuto.ports.query import Compared, ComparedPage, ComparisonQuery, Once
from tenuto.ports.store import Judge
from tenuto.storage.assemble import NEWEST, decode, session_of
from tenuto.storage.cursor import comparison_cursor, place
from tenuto.storage.missing import no_such
from tenuto.storage.plan import plan, planned_for
from tenuto.storage.sqlite.desks import (
    at_most_once,
    insert_session,
    must_have_workspace,
    remember,
)
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction
from tenuto.storage.sqlite.file.writer import Written
from tenuto.storage.sqlite.projecting import Told, write_plan
from tenuto.storage.sqlite.rows import desk
from tenuto.storage.statements import encode

T = TypeVar("T")


class SqliteComparisons:
    _db: Database

    async def create_comparison(
        self, comparison: Comparison, *, once: Once | None = None
    ) -> Comparison:
        return await self._db.write(
            lambda tx: at_most_once(tx, once, Comparison, lambda: _create(tx, comparison, once))
        )

    async def comparison(self, comparison_id: ComparisonId) -> Compared:
        return await self._db.read(lambda tx: _compared(tx, _comparison(tx, comparison_id)))

    async def comparisons(self, query: ComparisonQuery) -> ComparedPage:
        return await self._db.read(lambda tx: _page(tx, query))

    async def voted(self) -> Sequence[Comparison]:
        rows = await self._db.read(lambda tx: tx.rows("comparisons_voted"))
        return tuple(decode(body, Comparison) for (body,) in rows)

    async def judge(
        self,
        comparison_id: ComparisonId,
        decide: Judge[T],
        *,
        sight: Sight = Sight.RUNS,
        once: Once | None = None,
        answer: type[T] | None = None,
    ) -> T:
        return await self._db.write(
            lambda tx: at_most_once(
                tx, once, answer, lambda: _judge(tx, comparison_id, decide, sight, once)
            )
        )

    async def forget_comparison(self, comparison_id: ComparisonId) -> None:
        await self._db.write(lambda tx: _forget(tx, comparison_id))


def _create(tx: Transaction, comparison: Comparison, once: Once | None) -> Written[Comparison]:
    must_have_workspace(tx, comparison.workspace_id)
    tx.run(
        "put_comparison",
        id=comparison.id,
        workspace_id=comparison.workspace_id,
        created_at=comparison.created_at,
        voted_at=None,
        body=encode(comparison),
    )
    for index in range(len(comparison.panes)):
        session, control = pane_session(comparison, index)
        insert_session(tx, plan(session, control, (), ()))
    remember(tx, once, comparison.id, comparison)
    return Written(result=comparison)


def _judge(
    tx: Transaction,
    comparison_id: ComparisonId,
    decide: Judge[T],
    sight: Sight,
    once: Once | None,
) -> Written[T]:
    before = _compared(tx, _comparison(tx, comparison_id))
    desks = {session.id: desk(tx, session.id, sight) for session in before.sessions}
    verdict = decide(before.comparison, desks)
    after = verdict.comparison
    voted_at = after.vote.at if after.vote else None
    tx.run("update_comparison", id=after.id, voted_at=voted_at, body=encode(after))
    logs: Told = ()
    for session_id, change in verdict.changes.items():
        laid = desks[session_id]
        logs += write_plan(tx, planned_for(laid, change), before=laid.session)
    remember(tx, once, after.id, verdict.result)
    return Written(result=verdict.result, logs=logs, changed=tuple(verdict.changes))


def _forget(tx: Transaction, comparison_id: ComparisonId) -> Written[None]:
    compared = _compared(tx, _comparison(tx, comparison_id))
    if any(session.comparison for session in compared.sessions):
        raise SessionBusy(f"comparison {comparison_id} still has panes")
    tx.run("delete_comparison", id=comparison_id)
    tx.run("delete_answers", owner=comparison_id)
    return Written(result=None)


def _page(tx: Transaction, query: ComparisonQuery) -> ComparedPage:
    at, id = NEWEST if query.cursor is None else place(query.cursor)
    common = {"at": at, "id": id, "limit": query.limit + 1}
    rows: list[Row]
    if query.workspace_id is None:
        rows = tx.rows("comparisons_page", **common)
    else:
        rows = tx.rows("comparisons_page_of_workspace", workspace_id=query.workspace_id, **common)
    page = [decode(body, Comparison) for (body,) in rows[: query.limit]]
    more = len(rows) > len(page) > 0
    return ComparedPage(
        comparisons=tuple(_compared(tx, comparison) for comparison in page),
        next=comparison_cursor(page[-1]) if more else None,
    )


def _comparison(tx: Transaction, comparison_id: ComparisonId) -> Comparison:
    row = tx.row("comparison", id=comparison_id)
    if row is None:
        raise no_such("comparison", comparison_id)
    return decode(row[0], Comparison)


def _compared(tx: Transaction, comparison: Comparison) -> Compared:
    rows = (tx.row("session", session_id=pane.session_id) for pane in comparison.panes)
    sessions = tuple(session_of((row[0], row[2])) for row in rows if row is not None)
    return Compared(comparison=comparison, sessions=sessions)
