"""What was used, by day, workspace and model."""

from collections.abc import Sequence

from tenuto.core.day_usage import DayUsage
from tenuto.core.value import PrincipalId, WorkspaceId
from tenuto.storage.assemble import day_usage
from tenuto.storage.sqlite.file.db import Database
from tenuto.storage.sqlite.file.transaction import Transaction
from tenuto.storage.statements import UsageRow


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
        return tuple(day_usage(row) for row in rows)


def add_usage(tx: Transaction, row: UsageRow) -> None:
    tx.run("add_usage", **row._asdict())
    if row.runs < 0:
        tx.run(
            "drop_used_up",
            by=row.by,
            day=row.day,
            workspace_id=row.workspace_id,
            model=row.model,
            kind=row.kind,
        )
