"""What was spent, in a memory store."""

from collections.abc import Sequence

from tenuto.core.spending import Spending
from tenuto.core.value import WorkspaceId
from tenuto.storage.memory.shelf import State


class MemoryBill:
    _state: State

    async def spending(
        self, *, since: str, workspace_id: WorkspaceId | None = None
    ) -> Sequence[Spending]:
        found: dict[tuple[str, str], Spending] = {}
        for (workspace, day, model), spending in self._state.bill.items():
            if day >= since and workspace_id in (None, workspace):
                known = found.get((day, model))
                found[day, model] = spending if known is None else known + spending
        return tuple(found[key] for key in sorted(found))

    def _spend(self, workspace_id: WorkspaceId, spending: Spending) -> None:
        key = (workspace_id, spending.day, spending.model or "")
        known = self._state.bill.get(key)
        after = spending if known is None else known + spending
        if after.runs > 0:
            self._state.bill[key] = after
        else:
            self._state.bill.pop(key, None)
