"""A store whose answers are lost where a test says so."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from anyio.lowlevel import checkpoint

from tenuto.core.desk import Change, Decide, Desk
from tenuto.core.error import InDoubt
from tenuto.core.event import Event
from tenuto.core.message import Message
from tenuto.core.session import Fence
from tenuto.core.value import SessionId
from tenuto.storage.memory import MemoryStore

LOST = InDoubt("the connection to the store broke")


class Undone(Exception):
    """Keeps a change from being stored."""


class DoubtfulStore(MemoryStore):
    """Others may be on it, and its answers may be lost."""

    shared = True
    doubts: Callable[[Change[Any]], object] | None = None
    """Whose answer is lost, once."""
    doubts_append = False
    is_stored = True
    """Whether it was stored all the same."""
    lost = 0
    late: tuple[SessionId, Fence, Sequence[Event]] | None = None
    """An append in doubt that is stored only when someone has just looked at the message."""

    async def commit(self, session_id: SessionId, decide: Decide[Any], **options: Any) -> Any:
        doubted = False

        def decided(desk: Desk) -> Change[Any]:
            nonlocal doubted
            change = decide(desk)
            doubted = self.doubts is not None and bool(self.doubts(change))
            if doubted and not self.is_stored:
                raise Undone
            return change

        try:
            answer = await super().commit(session_id, decided, **options)
        except Undone:
            pass
        if doubted:
            self.doubts = None
            self.lost += 1
            raise LOST
        return answer

    def append(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> asyncio.Future[int]:
        if not self.doubts_append:
            return super().append(session_id, fence, events)
        self.doubts_append = False
        self.lost += 1
        return asyncio.ensure_future(self._append_in_doubt(session_id, fence, events))

    async def _append_in_doubt(
        self, session_id: SessionId, fence: Fence, events: Sequence[Event]
    ) -> int:
        if self.is_stored:
            await super().append(session_id, fence, events)
        else:
            self.late = (session_id, fence, events)
        raise LOST

    async def open_message(self, session_id: SessionId) -> Message | None:
        message = await super().open_message(session_id)
        if self.late is not None:
            late, self.late = self.late, None
            await super().append(*late)
        await checkpoint()
        return message
