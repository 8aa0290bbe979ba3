"""What was used, in a memory store."""

from collections.abc import Sequence

from tenuto.core.day_usage import Booking, DayUsage
from tenuto.core.value import PrincipalId, WorkspaceId
from tenuto.storage.memory.session_rows import State


class MemoryUsage:
    _state: State

    async def usage(
        self,
        *,
        since: str,
        workspace_id: WorkspaceId | None = None,
        by: PrincipalId | None = None,
    ) -> Sequence[DayUsage]:
        found: dict[tuple[str, str, str], DayUsage] = {}
        for (workspace, who, day, model, kind), usage in self._state.usage.items():
            if day >= since and workspace_id in (None, workspace) and by in (None, who):
                known = found.get((day, model, kind))
                found[day, model, kind] = usage if known is None else known + usage
        return tuple(found[key] for key in sorted(found))

    def _book(self, workspace_id: WorkspaceId, booking: Booking) -> None:
        usage = booking.usage
        key = (workspace_id, booking.by, usage.day, usage.model or "", usage.kind)
        known = self._state.usage.get(key)
        after = usage if known is None else known + usage
        if after.runs > 0:
            self._state.usage[key] = after
        else:
            self._state.usage.pop(key, None)
