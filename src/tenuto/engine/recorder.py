"""The recorder writes an answer down as it comes: everything, in order, before anyone sees it.

Deltas that arrive while a commit is under way are merged per part, so load makes batches larger,
not queues longer.
"""

import asyncio
import logging

import msgspec

from tenuto.core.error import StorageTrouble, TenutoError
from tenuto.core.event import Event, PartDelta, PartStarted, PartUpdated
from tenuto.core.message import Message, Part
from tenuto.core.projection import OpenMessage
from tenuto.core.session import Fence
from tenuto.core.value import MessageId, PartId, SessionId
from tenuto.ports.clock import Clock
from tenuto.ports.store import Log

log = logging.getLogger(__name__)

# Full: whoever produces waits in `room()` until the store has caught up.
PENDING_CHARACTERS = 256 * 1024
STORE_PATIENCE_SECONDS = 30.0
RETRY_SECONDS = 0.25


class _Growth(msgspec.Struct):
    """A delta that is not yet on its way to the store."""

    part_id: PartId
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
        self._store = store
        self._clock = clock
        self._session_id = session_id
        self._fence = fence
        self._message = message
        self._open = OpenMessage(message) if message else None
        self._lengths: dict[PartId, int] = {}
        self._pending: list[PartStarted | PartUpdated | _Growth] = []
        self._growing: dict[PartId, _Growth] = {}
        self._pending_characters = 0
        self._pump: asyncio.Task[None] | None = None
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

    def part(self, part_id: PartId) -> Part:
        assert self._open is not None, "this run writes no message"
        return self._open.part(part_id)

    def start(self, part: Part) -> None:
        assert self._open is not None, "this run writes no message"
        self._open.start(part)
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

    def grow(self, part_id: PartId, text: str) -> None:
        assert self._open is not None, "this run writes no message"
        self._open.grow(part_id, text)
        offset = self._lengths[part_id]
        self._lengths[part_id] = offset + len(text)
        self._pending_characters += len(text)
        growth = self._growing.get(part_id)
        if growth is not None:
            growth.texts.append(text)
        else:
            growth = _Growth(part_id=part_id, offset=offset, texts=[text])
            self._growing[part_id] = growth
            self._pending.append(growth)
        self._go()

    def update(self, part: Part) -> None:
        assert self._open is not None, "this run writes no message"
        self._open.update(part)
        # What grows after an update must not be merged into what grew before it.
        self._growing.pop(part.id, None)
        self._pending.append(
            PartUpdated(
                session_id=self._session_id,
                run_id=self._fence.run_id,
                at=self._clock.now(),
                message_id=self.message_id,
                part=part,
            )
        )
        self._go()

    def stored_elsewhere(self, part: Part) -> None:
        """The part was changed in a transaction of its own; everything before was flushed."""
        assert self._open is not None, "this run writes no message"
        self._open.update(part)

    def go_on_in(self, message: Message) -> None:
        """Write into another message from here on; everything before must be flushed."""
        assert not self._pending, "flush before changing the message"
        self._message = message
        self._open = OpenMessage(message)

    async def room(self) -> None:
        """Wait while the store is far behind; raises what keeps it from storing."""
        while self._pending_characters > PENDING_CHARACTERS and self._trouble is None:
            self._progress.clear()
            await self._progress.wait()
        if self._trouble is not None:
            raise self._trouble

    async def flush(self) -> None:
        """Everything recorded so far is stored, or this raises why it is not."""
        while self._pump is not None and not self._pump.done():
            await asyncio.shield(self._pump)
        if self._trouble is not None:
            raise self._trouble

    def _go(self) -> None:
        if self._trouble is None and (self._pump is None or self._pump.done()):
            self._pump = asyncio.create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._pending:
                events = self._take()
                await self._append(events)
                self._progress.set()
        except TenutoError as trouble:
            self._trouble = trouble
        except Exception as trouble:
            log.exception("recording failed", extra={"run_id": self._fence.run_id})
            self._trouble = StorageTrouble(str(trouble))
        finally:
            self._progress.set()

    def _take(self) -> list[Event]:
        now = self._clock.now()
        events: list[Event] = [
            PartDelta(
                session_id=self._session_id,
                run_id=self._fence.run_id,
                at=now,
                message_id=self.message_id,
                part_id=item.part_id,
                offset=item.offset,
                text="".join(item.texts),
            )
            if isinstance(item, _Growth)
            else item
            for item in self._pending
        ]
        self._pending, self._growing, self._pending_characters = [], {}, 0
        return events

    async def _append(self, events: list[Event]) -> None:
        """Store, trying again for a while: a full disk may be emptied."""
        give_up_at = self._clock.seconds() + STORE_PATIENCE_SECONDS
        while True:
            try:
                await self._store.append(self._session_id, self._fence, events)
                return
            except StorageTrouble as trouble:
                if self._clock.seconds() >= give_up_at:
                    raise
                log.warning("cannot record, trying again: %s", trouble)
                await asyncio.sleep(RETRY_SECONDS)
