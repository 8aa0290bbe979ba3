"""The tailer gives every viewer the log from its cursor on, and then live.

Viewers of one stream share the encoded frames of its newest events; each has only a cursor. One
that falls behind the shared frames reads pages of the log at its own pace, so it costs bounded
memory, slows nobody and misses nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import anyio

from tenuto.core.error import NotFound, StorageTrouble
from tenuto.core.event import Stored
from tenuto.core.value import RunId, StreamId, Value
from tenuto.engine.bell import Bell
from tenuto.engine.follower import PAGE, LogFollower
from tenuto.ports.query import Page
from tenuto.ports.view import Logs

RECENT_FRAMES = 1_000
RECENT_BYTES = 512 * 1024
# The log is asked again after this long without a ring, in case one was missed.
POLL_SECONDS = 30.0
EXPECTED_SECONDS = 2.0
"""How long the newest frames wait for a viewer who was announced."""
# Comes before a proxy or a client takes a silent connection for a dead one.
HEARTBEAT_SECONDS = 10.0
AWAY_SECONDS = 1.0
"""Until a store that could not be read is asked again."""


class EncodedEvent(Value):
    """An event as bytes for the wire, encoded once for all who watch."""

    seq: int
    type: str
    run_id: RunId | None
    data: bytes


class Batch(Value):
    """All that a viewer had missed, at once. No frames: nothing happened for a while."""

    frames: tuple[bytes, ...]
    cursor: int


AWAY: Sequence[EncodedEvent] = []
"""Unlike an empty page: the log could not be read, and nothing says that there is no more."""
Encode = Callable[[Stored], bytes]
Push = Callable[[bytes], bool]
"""Sends without waiting. False: it was taken, but is not out yet; the next batch is to wait for
it."""
TakeSnapshot = Callable[[], Awaitable[tuple[bytes, int]]]
"""Gives a frame that stands for everything so far, and the cursor to go on from."""


class Recent:
    """The newest frames of one stream, without a gap. Older ones are in the log."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._frames: list[EncodedEvent] = []
        self._bytes = 0
        self._doubt_at = asyncio.get_running_loop().time() + POLL_SECONDS
        self.viewers = 0
        self.expected = 0
        self.head: int | None = None
        """The last seq known to be committed; None: only the log can say."""
        self.rings = 0
        """How often other nodes rang: what was read before a ring may be old."""

    def add(self, events: Sequence[Stored]) -> None:
        """Take in what was committed: what is known is dropped, wherever it came from first."""
        for stored in events:
            if self._frames:
                after = self._frames[-1].seq + 1
                if stored.seq < after:
                    continue
                if stored.seq > after:
                    # Another node's events are between: who needs them reads the log.
                    self._frames, self._bytes = [], 0
            data = self._encode(stored)
            self._bytes += len(data)
            self._frames.append(
                EncodedEvent(seq=stored.seq, type=stored.type, run_id=stored.run_id, data=data)
            )
        # Never lower: own commits and those of other nodes come in any order.
        self.head = max(self.head or 0, events[-1].seq)
        # Trimmed rarely and by half: a slice per event would cost as much as the event.
        while len(self._frames) > RECENT_FRAMES or (
            self._bytes > RECENT_BYTES and len(self._frames) > 1
        ):
            half = len(self._frames) // 2
            self._bytes -= sum(len(frame.data) for frame in self._frames[:half])
            del self._frames[:half]

    def forget(self) -> None:
        """Whoever watches reads the log."""
        self._frames, self._bytes, self.head = [], 0, None

    def accepted_at(self, run_id: RunId) -> int | None:
        """Where this run was accepted, if that was a moment ago."""
        for frame in reversed(self._frames):
            if frame.run_id == run_id and frame.type == "run.accepted":
                return frame.seq
        return None

    def doubt(self) -> None:
        """After a long silence, ask the log again: a ring may have been missed."""
        if asyncio.get_running_loop().time() >= self._doubt_at:
            self._doubt_at = asyncio.get_running_loop().time() + POLL_SECONDS
            self.head = None

    def since(self, cursor: int) -> Sequence[EncodedEvent] | None:
        """Frames after the cursor; None if they are not all here."""
        if self.head is not None and cursor >= self.head:
            return ()
        if not self._frames or cursor + 1 < self._frames[0].seq:
            return None
        return self._frames[cursor + 1 - self._frames[0].seq :] or None


class Tailer:
    def __init__(self, log: Logs, bell: Bell, encode: Encode) -> None:
        self._log = log
        self._bell = bell
        self._encode = encode
        self._recent: dict[StreamId, Recent] = {}
        self._follower = LogFollower(log, self._known, self._found)
        self._closed = False

    def committed(self, stream: StreamId, events: Sequence[Stored]) -> None:
        """New events are on disk: show them to whoever watches."""
        recent = self._recent.get(stream)
        if recent is not None:
            recent.add(events)
        self._bell.ring(stream)

    def expect(self, stream: StreamId) -> None:
        """Someone is about to ask and watch: what comes is kept, and need not be read again."""
        recent = self._recent.setdefault(stream, Recent(self._encode))
        recent.expected += 1
        asyncio.get_running_loop().call_later(EXPECTED_SECONDS, self._give_up, stream, recent)

    def accepted_at(self, stream: StreamId, run_id: RunId) -> int | None:
        """The seq of its acceptance; None: only the log can say."""
        recent = self._recent.get(stream)
        return None if recent is None else recent.accepted_at(run_id)

    def rang(self, streams: Collection[StreamId]) -> None:
        """Another node committed: what is watched here is read, once for all who watch."""
        for stream in streams:
            if stream in self._recent:
                self._recent[stream].rings += 1
            # Who waits for something else than frames looks by itself.
            self._bell.ring(stream)
        self._follower.look_at(stream for stream in streams if stream in self._recent)

    def resync(self) -> None:
        """Rings may have been lost: look at all that is watched."""
        self.rang(tuple(self._recent))
        self._bell.ring_all()

    async def close(self) -> None:
        """End every stream: the server is stopping."""
        self._closed = True
        self._bell.ring_all()
        await self._follower.close()

    def _known(self, stream: StreamId) -> int | None:
        recent = self._recent.get(stream)
        return None if recent is None or self._closed else recent.head

    def _found(self, stream: StreamId, page: Page | None) -> bool:
        recent = self._recent.get(stream)
        if recent is None:
            return False
        if page is None:
            # Whoever watches finds out that it is gone.
            recent.head = None
        elif recent.head is None or page.folded > recent.head:
            # Deltas that viewers have seen are folded into what was read: they need a snapshot.
            recent.forget()
        elif page.events:
            recent.add(page.events)
        self._bell.ring(stream)
        return page is not None and bool(page.events) and page.events[-1].seq < page.head

    @property
    def closed(self) -> bool:
        return self._closed

    def viewers(self) -> int:
        return sum(recent.viewers for recent in self._recent.values())

    async def follow(
        self,
        stream: StreamId,
        *,
        after: int | None,
        snapshot: TakeSnapshot | None,
        last: Callable[[EncodedEvent], bool],
        shown: Callable[[EncodedEvent], bool] | None = None,
        until: int | None = None,
        push: Push | None = None,
    ) -> AsyncGenerator[Batch, None]:
        """Batches of `shown` frames (None: all) from `after` on (None: from a snapshot on).

        Ends after the `last` frame, at `until`, with the log, or with the server. Without
        `snapshot`, folded deltas are given as they are. To a viewer who has seen everything,
        what is new is given by `push`, if there is one, as soon as it is committed.
        """
        cursor, blocked = after or 0, False

        def answer() -> bool:
            nonlocal cursor, blocked
            new = recent.since(cursor)
            if push is None or new is None or self._closed:
                return False
            wanted = []
            for frame in new:
                if last(frame):
                    return False
                if shown is None or shown(frame):
                    wanted.append(frame.data)
            cursor = new[-1].seq if new else cursor
            blocked = bool(wanted) and not push(b"".join(wanted))
            return not blocked

        # Listen before the first read: a commit between the two must still wake us.
        with self._watching(stream) as recent, self._bell.listen(stream) as ear:
            frames = await self._first(snapshot) if after is None else ()
            while frames is not None and not self._closed:
                if frames:
                    cursor = frames[-1].seq
                    wanted = frames if shown is None else [f for f in frames if shown(f)]
                    if wanted:
                        yield Batch(frames=tuple(f.data for f in wanted), cursor=cursor)
                    if any(last(frame) for frame in frames):
                        return
                if until is not None and cursor >= until:
                    return
                frames = recent.since(cursor)
                if frames is None:
                    frames = await self._page(stream, recent, cursor, snapshot)
                    if frames is AWAY:
                        yield Batch(frames=(), cursor=cursor)
                if frames == ():
                    ear.answer = answer
                    if not await ear.wait(HEARTBEAT_SECONDS):
                        recent.doubt()
                        yield Batch(frames=(), cursor=cursor)
                    elif blocked:
                        blocked = False
                        yield Batch(frames=(), cursor=cursor)

    @contextmanager
    def _watching(self, stream: StreamId) -> Iterator[Recent]:
        """The stream's newest frames, kept as long as anyone watches."""
        recent = self._recent.setdefault(stream, Recent(self._encode))
        recent.viewers += 1
        try:
            yield recent
        finally:
            recent.viewers -= 1
            self._drop_unwatched(stream, recent)

    def _give_up(self, stream: StreamId, recent: Recent) -> None:
        recent.expected -= 1
        self._drop_unwatched(stream, recent)

    def _drop_unwatched(self, stream: StreamId, recent: Recent) -> None:
        if recent.viewers == 0 and recent.expected == 0:
            del self._recent[stream]

    async def _first(self, snapshot: TakeSnapshot | None) -> Sequence[EncodedEvent] | None:
        """The frame that stands for everything so far; None if the log is gone meanwhile."""
        while not self._closed:
            try:
                return () if snapshot is None else (await _snapshot_frame(snapshot),)
            except NotFound:
                return None
            except StorageTrouble:
                await anyio.sleep(AWAY_SECONDS)
        return None

    async def _page(
        self, stream: StreamId, recent: Recent, cursor: int, snapshot: TakeSnapshot | None
    ) -> Sequence[EncodedEvent] | None:
        """The next events from the log; None if it is gone, AWAY if it is to be asked again."""
        rings = recent.rings
        try:
            page = await self._log.read(stream, after=cursor, limit=PAGE)
            if cursor < page.folded and snapshot is not None:
                return (await _snapshot_frame(snapshot),)
        except NotFound:
            return None
        except StorageTrouble:
            # The stream stays open and goes on when the store is back.
            await anyio.sleep(AWAY_SECONDS)
            return AWAY
        # A page may be short only because its events are large.
        whole = not page.events or page.events[-1].seq >= page.head
        if recent.head is None and whole and recent.rings == rings:
            recent.head = page.head
        return tuple(
            EncodedEvent(seq=e.seq, type=e.type, run_id=e.run_id, data=self._encode(e))
            for e in page.events
        )


async def _snapshot_frame(snapshot: TakeSnapshot) -> EncodedEvent:
    data, seq = await snapshot()
    return EncodedEvent(seq=seq, type="snapshot", run_id=None, data=data)
