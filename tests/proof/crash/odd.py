"""Stores that refuse the usage of some runs, so that their endings need the last resort; and a line
to PostgreSQL that now and then breaks between a commit and its answer."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from tenuto.storage.plan import Plan
from tenuto.storage.postgres import desks as postgres_desks
from tenuto.storage.sqlite import desks
from tenuto.storage.sqlite.projecting import write_plan
from tenuto.storage.statements import rows_of

ODD = "odd"
"""Runs whose prompt begins with it."""
WRITES, APPENDS = 23, 41
"""The answer to every so-manieth of them is lost."""

Fetch = Callable[..., Awaitable[Any]]


def be_odd() -> None:
    """From now on the ending of such a run is refused as long as it says what was used."""
    vars(desks)["write_plan"] = _picky
    vars(postgres_desks)["rows_of"] = _picky_rows


def lose_answers() -> None:
    """From now on lines to PostgreSQL break after some commits."""
    connection: Any = asyncpg.Connection
    connection.fetchrow = _losing(connection.fetchrow, "tenuto_write_1", WRITES)
    connection.fetch = _losing(connection.fetch, "UPDATE logs l SET head", APPENDS)


def _losing(fetch: Fetch, mark: str, every: int) -> Fetch:
    sent = 0

    async def losing(self: Any, sql: str, *values: Any, **options: Any) -> Any:
        nonlocal sent
        answer = await fetch(self, sql, *values, **options)
        if mark in sql:
            sent += 1
            if sent % every == 0:
                self.terminate()
                raise ConnectionResetError("the line broke before the answer came")
        return answer

    return losing


def _picky(transaction: Any, plan: Plan, **options: Any) -> Any:
    _must_be_plain(plan)
    return write_plan(transaction, plan, **options)


def _picky_rows(plan: Plan, **options: Any) -> Any:
    _must_be_plain(plan)
    return rows_of(plan, **options)


def _must_be_plain(plan: Plan) -> None:
    for row in plan.runs:
        if str(row.run.input).startswith(ODD) and row.run.ended and row.run.usage.input_tokens:
            raise ValueError("an ending that nobody can store")
