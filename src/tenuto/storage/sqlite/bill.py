"""What was spent, by day, workspace and model."""

from collections.abc import Sequence

from tenuto.core.spending import Spending
from tenuto.core.value import WorkspaceId
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction

HIDDEN = ""


class SqliteBill:
    _db: Database

    async def spending(
        self, *, since: str, workspace_id: WorkspaceId | None = None
    ) -> Sequence[Spending]:
        rows = await self._db.read(
            lambda tx: tx.rows("usage_since", since=since, workspace_id=workspace_id)
        )
        return tuple(_spending(row) for row in rows)


def add_spending(tx: Transaction, workspace_id: WorkspaceId, spending: Spending) -> None:
    row = {
        "day": spending.day,
        "workspace_id": workspace_id,
        "model": spending.model or HIDDEN,
    }
    tx.run(
        "add_usage",
        **row,
        runs=spending.runs,
        input_tokens=spending.input_tokens,
        output_tokens=spending.output_tokens,
        reasoning_tokens=spending.reasoning_tokens,
        exact=spending.exact,
        cost_usd=spending.cost_usd,
    )
    if spending.runs < 0:
        tx.run("drop_used_up", **row)


def _spending(row: Row) -> Spending:
    day, model, runs, input_tokens, output_tokens, reasoning_tokens, exact, cost_usd = row
    return Spending(
        day=day,
        model=model or None,
        runs=runs,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        reasoning_tokens=reasoning_tokens,
        exact=bool(exact),
        cost_usd=None if cost_usd is None else round(cost_usd, 9),
    )
