"""What was used, by day, workspace and model."""

from collections.abc import Sequence

from tenuto.core.day_usage import Booking, DayUsage
from tenuto.core.value import PrincipalId, WorkspaceId
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Row, Transaction

HIDDEN = ""


class SqliteUsage:
    _db: Database

    async def usage(
        self,
        *,
        since: str,
        workspace_id: WorkspaceId | None = None,
        by: PrincipalId | None = None,
    ) -> Sequence[DayUsage]:
        rows = await self._db.read(
            lambda tx: tx.rows("usage_since", since=since, workspace_id=workspace_id, by=by)
        )
        return tuple(_day_usage(row) for row in rows)


def add_usage(tx: Transaction, workspace_id: WorkspaceId, booking: Booking) -> None:
    usage = booking.usage
    row = {
        "by": booking.by,
        "day": usage.day,
        "workspace_id": workspace_id,
        "model": usage.model or HIDDEN,
    }
    tx.run(
        "add_usage",
        **row,
        runs=usage.runs,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        exact=usage.exact,
        cost_usd=usage.cost_usd,
    )
    if usage.runs < 0:
        tx.run("drop_used_up", **row)


def _day_usage(row: Row) -> DayUsage:
    day, model, runs, input_tokens, output_tokens, reasoning_tokens, exact, cost_usd = row
    return DayUsage(
        day=day,
        model=model or None,
        runs=runs,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        reasoning_tokens=reasoning_tokens,
        exact=bool(exact),
        cost_usd=None if cost_usd is None else round(cost_usd, 9),
    )
