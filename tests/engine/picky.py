"""A store that refuses what a test says, with whatever it says."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tenuto.core.desk import Change, Decide, Desk
from tenuto.core.event import Event, RunFinished
from tenuto.core.session import Fence
from tenuto.core.value import SessionId
from tenuto.storage.memory import MemoryStore

Refuses = Callable[[Change[Any]], bool]


class PickyStore(MemoryStore):
    """Everything goes well until a test says what does not."""

    refusal: Exception
    refuses: Refuses | None = None
    """Which changes are refused, always; None: none is."""
    refuse_appends = False
    refused: int = 0

    async def commit(self, session_id: SessionId, decide: Decide[Any], **options: Any) -> Any:
        return await super().commit(session_id, self._watched(decide), **options)

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        if self.refuse_appends:
            self.refused += 1
            raise self.refusal
        return super().append(session_id, fence, events)

    def _watched(self, decide: Decide[Any]) -> Decide[Any]:
        def watched(desk: Desk) -> Change[Any]:
            change = decide(desk)
            if self.refuses is not None and self.refuses(change):
                self.refused += 1
                raise self.refusal
            return change

        return watched


def ends(change: Change[Any]) -> list[RunFinished]:
    return [event for event in change.events if isinstance(event, RunFinished)]


def ends_with_usage(change: Change[Any]) -> bool:
    return any(event.run.usage.input_tokens for event in ends(change))


def ends_with_parts(change: Change[Any]) -> bool:
    return any(message.parts for message in change.finished)
