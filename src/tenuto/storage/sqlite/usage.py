"""What was used, by day, workspace and model."""

from collections.abc import Sequence

from tenuto.core.day_usage import Booking, DayUsage, UsageKind
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
        "kind": usage.kind,
    }
    tx.run(
        "add_usage",
        **row,
        runs=usage.runs,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        exact=usage.exact,
        cost_usd=usage.cost_usd,
    )
    if usage.runs < 0:
        tx.run("drop_used_up", **row)


def _day_usage(row: Row) -> DayUsage:
    day, model, kind, runs, asked, said, thought, read, written, exact, cost_usd = row
    return DayUsage(
        day=day,
        model=model or None,
        kind=UsageKind(kind),
        runs=runs,
        input_tokens=asked,
        output_tokens=said,
        reasoning_tokens=thought,
        cache_read_tokens=read,
        cache_write_tokens=written,
        exact=bool(exact),
        cost_usd=None if cost_usd is None else round(cost_usd, 9),
    )
