"""What was used, in a memory store."""

from collections.abc import Sequence

from tenuto.core.day_usage import DayUsage
from tenuto.core.value import WorkspaceId
from tenuto.storage.memory.session_rows import State


class MemoryUsage:
    _state: State

    async def usage(
        self, *, since: str, workspace_id: WorkspaceId | None = None
    ) -> Sequence[DayUsage]:
        found: dict[tuple[str, str], DayUsage] = {}
        for (workspace, day, model), usage in self._state.usage.items():
            if day >= since and workspace_id in (None, workspace):
                known = found.get((day, model))
                found[day, model] = usage if known is None else known + usage
        return tuple(found[key] for key in sorted(found))

    def _book(self, workspace_id: WorkspaceId, usage: DayUsage) -> None:
        key = (workspace_id, usage.day, usage.model or "")
        known = self._state.usage.get(key)
        after = usage if known is None else known + usage
        if after.runs > 0:
            self._state.usage[key] = after
        else:
            self._state.usage.pop(key, None)
