"""The recorder writes an answer down as it comes: everything, in order, before anyone sees it.

Deltas that arrive while a commit is under way are merged per part, so load makes batches larger,
not queues longer.
"""

import asyncio
import logging
from collections.abc import Awaitable

import msgspec
from msgspec import UNSET, UnsetType

from tenuto.core.error import InDoubt, StorageTrouble, TenutoError, Unstorable
from tenuto.core.event import Event, PartDelta, PartField, PartStarted, PartUpdated
from tenuto.core.message import Message, Part, ToolChange, ToolPart, change_of
from tenuto.core.projection import OpenMessage
from tenuto.core.session import Fence
from tenuto.core.value import MessageId, PartId, SessionId
from tenuto.ports.clock import Clock
from tenuto.ports.store import Log

log = logging.getLogger(__name__)

# Full: whoever produces waits in `_catch_up()` until the store has caught up.
PENDING_CHARACTERS = 256 * 1024
STORE_PATIENCE_SECONDS = 30.0
"""Less than others wait (`heart.py`): who gave up is still the owner, and can say why."""
RETRY_SECONDS = 0.25


class _Growth(msgspec.Struct):
    """A delta that is not yet on its way to the store."""

    part_id: PartId
    field: PartField | UnsetType
    offset: int
    texts: list[str]


class Recorder:
    def __init__(
        self,
        store: Log,
        clock: Clock,
        *,
        session_id: SessionId,
        fence: Fence,
        message: Message | None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._store = store
        self._clock = clock
        self._session_id = session_id
        self._fence = fence
        self._message = message
        self._open = OpenMessage(message) if message else None
        self._lengths: dict[PartId, int] = {}
        self._pending: list[PartStarted | PartUpdated | _Growth] = []
        self._growing: dict[tuple[PartId, PartField | UnsetType], _Growth] = {}
        self._pending_characters = 0
        self._sending: list[Event] = []
        """What the store is asked to store now; nothing else is sent before it has."""
        self._scheduled = False
        self._give_up_at = 0.0
        self._trouble: TenutoError | None = None
        self._progress = asyncio.Event()

    @property
    def message_id(self) -> MessageId:
        assert self._message is not None, "this run writes no message"
        return self._message.id

    def message(self) -> Message:
        """The open message with all that was recorded, stored or not yet."""
        assert self._open is not None, "this run writes no message"
        return self._open.now()

    @property
    def all_stored(self) -> bool:
        return not self._pending and not self._sending and self._trouble is None

    def part(self, part_id: PartId) -> Part:
        assert self._open is not None, "this run writes no message"
        return self._open.part(part_id)

    def start(self, part: Part) -> None:
        assert self._open is not None, "this run writes no message"
        self._open.put(part)
        self._lengths[part.id] = 0
        self._pending.append(
            PartStarted(
                session_id=self._session_id,
                run_id=self._fence.run_id,
                at=self._clock.now(),
                message_id=self.message_id,
                part=part,
            )
        )
        self._go()

    def grow(self, part_id: PartId, text: str, field: PartField | UnsetType = UNSET) -> None:
        """Add to its text; of a tool call, to its input."""
        offset = self._lengths[part_id]
        self._lengths[part_id] = offset + len(text)
        self._grow(part_id, text, field, offset)

    def update(self, part: ToolPart) -> None:
        """The call as it is from now on; the log grows by what is new of it."""
        assert self._open is not None, "this run writes no message"
        change = self.grown_to(part)
        if change.on(known := self._call(part.id)) == known:
            return
        self._open.update(change)
        # What grows after an update must not be merged into what grew before it.
        for field in (UNSET, *PartField):
            self._growing.pop((part.id, field), None)
        self._pending.append(
            PartUpdated(
                session_id=self._session_id,
                run_id=self._fence.run_id,
                at=self._clock.now(),
                message_id=self.message_id,
                part=change,
            )
        )
        self._go()

    def grown_to(self, part: ToolPart) -> ToolChange:
        """Record what its output has grown by; what else has changed is returned."""
        known = self._call(part.id)
        more = _growth(known.output, part.output)
        if more:
            self._grow(part.id, more, PartField.OUTPUT, len(known.output or ""))
            known = self._call(part.id)
        return change_of(known, part)

    def _call(self, part_id: PartId) -> ToolPart:
        part = self.part(part_id)
        assert isinstance(part, ToolPart), "only calls change"
        return part

    def _grow(self, part_id: PartId, text: str, field: PartField | UnsetType, offset: int) -> None:
        assert self._open is not None, "this run writes no message"
        self._open.grow(part_id, text, field)
        self._pending_characters += len(text)
        growth = self._growing.get((part_id, field))
        if growth is not None:
            growth.texts.append(text)
        else:
            growth = _Growth(part_id=part_id, field=field, offset=offset, texts=[text])
            self._growing[part_id, field] = growth
            self._pending.append(growth)
        self._go()

    def stored_elsewhere(self, part: ToolPart) -> None:
        """The call was changed in a transaction of its own; everything before was flushed."""
        assert self._open is not None, "this run writes no message"
        self._open.put(part)

    def go_on_in(self, message: Message) -> None:
        """Write into another message from here on; everything before must be flushed."""
        assert not self._pending, "flush before changing the message"
        self._message = message
        self._open = OpenMessage(message)

    def room(self) -> Awaitable[None] | None:
        """What to wait for before recording more; nearly always nothing."""
        if self._pending_characters <= PENDING_CHARACTERS and self._trouble is None:
            return None
        return self._catch_up()

    async def _catch_up(self) -> None:
        """Wait while the store is far behind; raises what keeps it from storing."""
        while self._pending_characters > PENDING_CHARACTERS and self._trouble is None:
            self._progress.clear()
            await self._progress.wait()
        if self._trouble is not None:
            raise self._trouble

    async def flush(self) -> None:
        """Everything recorded so far is stored, or this raises why it is not."""
        while (self._sending or self._pending) and self._trouble is None:
            self._progress.clear()
            await self._progress.wait()
        if self._trouble is not None:
            raise self._trouble

    def _go(self) -> None:
        # Not at once: what is recorded in the same turn of the loop goes together.
        if not self._sending and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._scheduled = False
        if self._pending and not self._sending and self._trouble is None:
            self._sending = self._take()
            self._give_up_at = self._clock.seconds() + STORE_PATIENCE_SECONDS
            self._send()

    def _send(self) -> None:
        try:
            storing = self._store.append(self._session_id, self._fence, self._sending)
        except Exception as trouble:  # noqa: BLE001  whatever it is, those who wait must hear of it
            self._failed(trouble)
        else:
            storing.add_done_callback(self._sent)

    def _sent(self, storing: asyncio.Future[int]) -> None:
        error = InDoubt("the server stopped") if storing.cancelled() else storing.exception()
        if error is not None:
            self._failed(error)
            return
        self._sending = []
        self._progress.set()
        self._next()

    def _failed(self, error: BaseException) -> None:
        """Try again for a while: a full disk may be emptied. Never what may have been stored."""
        again = isinstance(error, StorageTrouble) and not isinstance(error, InDoubt)
        if again and self._clock.seconds() < self._give_up_at:
            log.warning("cannot record, trying again: %s", error)
            self._loop.call_later(RETRY_SECONDS, self._send)
            return
        if not isinstance(error, TenutoError):
            log.error("recording failed", exc_info=error, extra={"run_id": self._fence.run_id})
            # What is no mere error ends the process, and says nothing of the events.
            mere = isinstance(error, Exception)
            error = (Unstorable if mere else StorageTrouble)("the events could not be stored")
        self._trouble = error
        self._progress.set()

    def _take(self) -> list[Event]:
        now, message_id = self._clock.now(), self.message_id
        events: list[Event] = [
            PartDelta(
                session_id=self._session_id,
                run_id=self._fence.run_id,
                at=now,
                message_id=message_id,
                part_id=item.part_id,
                field=item.field,
                offset=item.offset,
                text="".join(item.texts),
            )
            if isinstance(item, _Growth)
            else item
            for item in self._pending
        ]
        self._pending, self._growing, self._pending_characters = [], {}, 0
        return events


def _growth(known: str | None, now: str | None) -> str:
    """What was added at the end; nothing if it is not a longer one of the same beginning."""
    return now[len(known or "") :] if now is not None and now.startswith(known or "") else ""
